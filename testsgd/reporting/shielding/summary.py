"""The summary of a synthesis: one JSON-able document from which every view is rendered.

The document is versioned (``testsgd.shield/1``) and described by the JSON Schema
``schemas/shield-1.json``, which is generated from the classes below.
"""

from __future__ import annotations

from typing import Literal

from pydantic import ConfigDict, Field

from testsgd.reporting.parts import Part
from testsgd.reporting.shielding.parts import BoundSummary, InputsSummary, ShieldVerdict

SCHEMA_NAME = "testsgd.shield/1"


class SynthesisSummary(Part):
    """What was computed, and what it took."""

    expected_cost: float = Field(
        description="of the changes until the horizon, by the distribution; of a dynamic shield in "
        "its first period"
    )
    seconds: float = Field(description="wall-clock time of the synthesis")
    predicted_bytes: int = Field(description="memory that was predicted before")
    stored_bytes: int | None = Field(description="size of the shield's file; null: none written")
    storage: Literal["whole", "windows"] = Field(
        description="all decisions are stored, or found anew window by window"
    )


class ShieldSummary(Part):
    """Everything about a shield before it decides, as one document."""

    model_config = ConfigDict(populate_by_name=True)

    schema_: Literal["testsgd.shield/1"] = Field(
        "testsgd.shield/1", alias="schema", description="name and version of this format"
    )
    created: str = Field(description="UTC time, ISO 8601; a rerun changes it and the seconds")
    versions: dict[str, str] = Field(description="of testsgd and of what it computes with")
    digest: str = Field(description="sha256 of the specification with its distribution")
    bound: BoundSummary = Field(description="what is kept, for whom and until when")
    inputs: InputsSummary = Field(description="the distribution that the shield expects")
    synthesis: SynthesisSummary = Field(description="what was computed, and what it took")
    verdict: ShieldVerdict = Field(description="the outcome in words, with the exit code")
