"""What is fair: counters of groups, their rates, and how far they are apart; in whole numbers."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
