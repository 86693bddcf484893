"""Scoring: rates, margins, intervals, when to stop, and which group comes first."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
