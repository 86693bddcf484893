"""Rules over texts: a sensitive term, or any term of a category."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class _OfCategory:
    """A rule about the terms of a category."""

    category: str  # The category's name.

    @property
    def feature(self) -> str:
        """The category, which is to texts what a sensitive feature is to rows."""
        return self.category


@dataclass(frozen=True)
class TermRule(_OfCategory):
    """Rule that a text has a certain term, among the texts that mention the term's category.

    References
    ----------
    Zhang et al., TestSGD, section 4.1.
    """

    term: str  # The term's name.

    @property
    def text(self) -> str:
        """The rule as people write it."""
        return f"“{self.term}”"

    def to_json(self) -> dict[str, Any]:
        """Return the rule as JSON-able data."""
        return {"feature": self.category, "values": [self.term], "text": self.text}


@dataclass(frozen=True)
class CategoryRule(_OfCategory):
    """Rule that a text has any term of a category.

    It only describes groups that are too small to be judged.
    """

    @property
    def text(self) -> str:
        """The rule as people write it."""
        return f"any term of {self.category}"

    def to_json(self) -> dict[str, Any]:
        """Return the rule as JSON-able data."""
        return {"feature": self.category, "values": None, "text": self.text}
