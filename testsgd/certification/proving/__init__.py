"""Proofs on boxes: bounds of a network's sums that hold for all people in a box."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
