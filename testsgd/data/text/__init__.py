"""Data sets of texts: how they are described, the texts themselves, and sensitive terms."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
