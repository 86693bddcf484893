"""Generative models: conditional fairness of what they make, assessed and enforced.

A :class:`GenerativeSpecification` says which groups must appear, and under which condition;
:func:`assess_generative` judges outputs, and an :class:`Enforcer` stands in front of a model and
asks for a group before its deadline passes.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
