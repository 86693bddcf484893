"""Finding the cheapest decisions: states, backward induction, stored decisions."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
