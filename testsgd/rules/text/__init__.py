"""Rules over texts: the sensitive terms in them, and the search for frequent sets of terms."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
