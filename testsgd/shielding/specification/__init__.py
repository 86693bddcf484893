"""The document that says what a shield keeps, for whom and how long."""

from __future__ import annotations

from testsgd.shielding.specification.document import ShieldSpecification

__all__ = [
    "ShieldSpecification",
]
