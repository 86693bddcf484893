"""Files and messages: what comes in is bounded and checked, what goes out is whole or not there."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
