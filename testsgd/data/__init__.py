"""Data sets: how they are described, where their files are, and the rows they hold."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
