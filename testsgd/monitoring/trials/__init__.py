"""From events to trials: the events of one person are joined, in the order in which they come."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
