"""Models under audit: black boxes, the adapters that make them so, and the paper's networks."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
