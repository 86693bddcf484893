"""Sampling of texts: real texts with other sensitive terms."""

from testsgd.sampling.text.replacement import Replacer

__all__ = ["Replacer"]
