"""The inputs of a model, the values they may take, and the protected values that are compared."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
