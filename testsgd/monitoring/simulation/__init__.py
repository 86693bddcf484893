"""What a monitor would do: many streams with a known bias, and when it raises alerts."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
