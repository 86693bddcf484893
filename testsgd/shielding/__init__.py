"""Run-time shields: decisions are changed as little as possible so that a bound is kept.

A :class:`ShieldSpecification` says what is to be kept and what is expected, :func:`solve` finds the
cheapest decisions, and a :class:`Shield` makes them. :func:`simulate` shows what they do.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
