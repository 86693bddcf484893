"""Mitigation: counter-labelled samples, retraining, and what became of the groups."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
