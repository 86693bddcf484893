"""Serving over HTTP: a shield that decides, and a server that stands before a generative model."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
