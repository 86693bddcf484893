"""The monitor at run time: events in, alerts out, and how the stream stands."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
