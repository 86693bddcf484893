"""Auditing: the groups that a model treats differently, by how much, and how surely."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
