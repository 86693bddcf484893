"""Comparison: what several methods find on one model, and what each finds that the others miss."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
