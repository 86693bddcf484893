"""Where the state of an enforcer is kept: in memory, in a SQLite file, on a server."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
