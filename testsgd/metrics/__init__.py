"""Metrics: several metrics of predictions, compared over all groups with one guarantee."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
