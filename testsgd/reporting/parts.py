"""What every part of a document is, and the part that several documents have: a rule."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field


class Part(BaseModel):
    """A part of a summary: frozen, and with no keys but its own."""

    # A key may be called model_queries; older versions of pydantic keep such names for themselves.
    model_config = ConfigDict(
        extra="forbid", frozen=True, allow_inf_nan=False, protected_namespaces=()
    )


class RuleSummary(Part):
    """One rule: values of a categorical feature, an interval of a continuous one, or a term."""

    feature: str = Field(description="the sensitive feature, or the category of the term")
    values: list[str] | None = Field(
        None, description="values allowed, for a categorical feature; for texts the one term"
    )
    low: float | None = Field(
        None, description="inclusive lower end, null where the rule is open below"
    )
    high: float | None = Field(
        None, description="exclusive upper end, null where the rule is open above"
    )
    text: str = Field(description="the rule as people write it")
