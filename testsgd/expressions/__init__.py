"""Conditions on named values: who is in a group, what is a decision, which rows are meant."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
