"""Monitors: fairness over a stream of decisions, and an alert when it is lost.

A :class:`MonitorSpecification` says what is compared and when that is too much; a :class:`Monitor`
takes the events. What the events say of one person is joined to a trial.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
