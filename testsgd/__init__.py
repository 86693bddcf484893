"""testsgd: find, measure and prove group discrimination in machine-learning models.

The public names are loaded when they are first used, so that importing the package takes no time.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
