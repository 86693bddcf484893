"""Phrases written as sentences."""

from __future__ import annotations


def capital(text: str) -> str:
    """Begin a text with a capital."""
    return text[:1].upper() + text[1:]


def sentence(text: str) -> str:
    """Write a phrase as a sentence; a sentence stays as it is.

    Examples
    --------
    >>> sentence("weights of the training rows")
    'Weights of the training rows.'
    """
    end = "" if text.endswith((".", "!", "?")) or not text else "."
    return f"{capital(text)}{end}"
