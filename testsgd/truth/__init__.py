"""Ground truth: populations with known discrimination, and how often the audit finds it."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
