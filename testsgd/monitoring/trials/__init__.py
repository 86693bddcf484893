"""From events to trials: what is said of one person, joined, in the order it becomes known."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
