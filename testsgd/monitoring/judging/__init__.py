"""Judging: where trials are counted, how far groups are apart, and when that is an alert."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
