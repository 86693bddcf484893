"""A shield at run time: decisions, labels, periods, the journal and the file."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
