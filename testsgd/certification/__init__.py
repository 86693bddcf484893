"""Certification: prove for which share of all inputs a network is individually fair."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
