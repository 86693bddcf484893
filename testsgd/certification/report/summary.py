"""The summary of a certification: one versioned document from which every view is rendered.

Its JSON Schema is generated from these classes. What is proved is under ``proved``, what samples
say under ``estimated``; no number mixes the two unseen.
"""

from __future__ import annotations

from typing import Annotated, Literal, Self, TypeAlias

from pydantic import ConfigDict, Field, model_validator

from testsgd.certification.outcome import Region, Remainder, Shares
from testsgd.certification.parameters import CertificationParameters
from testsgd.report.summaries import (
    NO_TRUTH_VALUE,
    OF_ONE_RUN,
    Count,
    Created,
    Duration,
    NonNegative,
    Part,
    Share,
    check_equal_lengths,
)

SCHEMA_NAME = "testsgd.certify/2"

EstimatedSummary: TypeAlias = Remainder
RegionSummary: TypeAlias = Region


class LayerSummary(Part):
    """One layer of the network."""

    units: Count = Field(description="how many sums it computes")
    activation: str = Field(description="what it makes of them; of the last layer linear")


class NetworkSummary(Part):
    """The network that was certified."""

    name: str = Field(description="what it is called")
    kind: str = Field(description="what it is, in words")
    columns: Count = Field(description="numbers that its first layer takes")
    layers: list[LayerSummary] = Field(description="its layers, in order")
    precision: Literal["float32", "float64"] = Field(description="the arithmetic it runs in")
    decision: Literal["threshold", "argmax"] = Field(
        description="how it decides: one sum above a turning point, or the largest of several"
    )
    labels: list[str] = Field(description="its decisions; of a threshold: below, above")
    decision_threshold: float | None = Field(
        description="of a threshold: the sum of the last layer where the decision turns"
    )
    tolerance: NonNegative = Field(
        description="sums this near to the turning point may fall either way, by rounding"
    )
    file_sha256: str | None = Field(None, description="sha256 of the model's file, if it has one")


class InputSummary(Part):
    """One input of the network and the values it may take."""

    name: str = Field(description="the input")
    kind: Literal["integer", "real", "category"] = Field(description="what it takes")
    low: float | None = Field(None, description="smallest value, of a number")
    high: float | None = Field(None, description="largest value, of a number")
    values: list[str] | None = Field(None, description="the values of a category")
    protected: bool = Field(description="true: the values of this input are compared")
    text: str = Field(description="the values in words")


class DomainSummary(Part):
    """All people the certificate is about."""

    name: str = Field(description="what it is called")
    inputs: list[InputSummary] = Field(description="every input, in the network's order")
    protected: list[str] = Field(description="the protected inputs")
    compared: list[list[str]] = Field(
        description="the combinations of protected values that are compared, each a value a "
        "protected input"
    )
    compared_all: bool = Field(
        description="true: these are all combinations that the domain allows"
    )
    left_out: list[str] = Field(
        default_factory=list,
        description="sensitive features that are not protected, as with them there would be more "
        "combinations than can be compared",
    )
    points: Count | None = Field(
        description="people in it: combinations of the inputs that are not protected; null if an "
        "input is real"
    )
    weight: Literal["volume", "data", "given"] = Field(
        description="what a share is of: all points alike, or weighted by the data's marginals or "
        "by those that the domain gives"
    )


class AnswerSummary(Part):
    """What one of several people who differ only in protected inputs gets."""

    protected: list[str] = Field(description="the values of the protected inputs")
    decision: str = Field(description="the decision")
    sums: list[float] = Field(description="the sums that decide")


class CounterexampleSummary(Part):
    """People who differ only in protected inputs and get different decisions."""

    person: dict[str, int | float | str] = Field(
        description="the values that all of them share, by input"
    )
    answers: list[AnswerSummary] = Field(min_length=1, description="what each of them gets")
    left_out: Count = Field(0, description="compared combinations that are not listed")
    proved: bool = Field(
        description="true: it lies in a part that is proved unfair; false: running the model "
        "showed it"
    )


class MomentSummary(Part):
    """How far the search had come at some time."""

    seconds: NonNegative = Field(description="since its start")
    boxes: Count = Field(description="boxes looked at until then")
    certified: Share = Field(description="as in `proved`")
    falsified: Share = Field(description="as in `proved`")
    undecided: Share = Field(description="as in `proved`")


class GateRule(Part):
    """A gate, and whether it passed; judged by what is proved alone."""

    name: Literal["fail_above", "fail_below"] = Field(description="which rule")
    limit: float = Field(description="its limit")
    outcome: Literal["passed", "failed", "not_enough_evidence"] = Field(
        description="proved to be kept, proved to be broken, or neither"
    )
    sentence: str = Field(description="the outcome, as a sentence")


class CertificationVerdict(Part):
    """The outcome, the same in every view."""

    status: Literal["reported", "gate_passed", "gate_failed", "not_enough_evidence"] = Field(
        description="the outcome in one word"
    )
    exit_code: Annotated[Literal[0, 1, 3], NO_TRUTH_VALUE] = Field(
        description="what the command line leaves with"
    )
    headline: str = Field(description="what is proved, as a sentence")
    rules: list[GateRule] = Field(description="the gates; empty if there are none")
    sentences: list[str] = Field(description="what qualifies it")


class CertificationSummary(Part):
    """Everything a certification proved and estimated, as one document."""

    model_config = ConfigDict(populate_by_name=True)

    schema_: Annotated[Literal["testsgd.certify/2"], NO_TRUTH_VALUE] = Field(
        "testsgd.certify/2", alias="schema", description="name and version of this format"
    )
    created: Created = Field(
        description="UTC time, ISO 8601; a rerun changes it and the seconds; null if left out"
    )
    settings: CertificationParameters = Field(description="what was asked for")
    versions: dict[str, str] = Field(description="of testsgd and of what it computes with")
    network: NetworkSummary = Field(description="the network")
    domain: DomainSummary = Field(description="all people it was certified for")
    method: Literal["enumerated", "bounded"] = Field(
        description="how: every point was tried, or bounds were proved on boxes of points"
    )
    stopped: Literal["done", "time", "undecided", "interrupted"] = Field(description="why it ended")
    boxes: Count = Field(description="boxes looked at")
    open_boxes: Count = Field(description="boxes that are left undecided")
    seconds: Duration = Field(
        description="wall-clock time of the search; loading it, drawing the samples and describing "
        "the regions is not counted"
    )
    within_rounding: Count = Field(
        description="of an enumeration: people so near to the turning point that the rounding of "
        "another machine may decide otherwise; they are decided as the model does here"
    )
    however_rounded: Shares | None = Field(
        None,
        description="of an enumeration: what of the shares holds however sums are rounded, and as "
        "undecided what rounding decides; gates go by these; null if it decides nothing",
    )
    proved: Shares = Field(description="the three shares; sound for every point")
    estimated: EstimatedSummary | None = Field(
        description="what samples say of the undecided part; null if none were drawn"
    )
    counterexamples: list[CounterexampleSummary] = Field(description="some of those found")
    counterexamples_found: Count | None = Field(
        None,
        description="how many there are: people of an enumeration, with weight, who get different "
        "decisions; null if boxes were bounded, which does not count them",
    )
    only_decision: str | None = Field(
        None,
        description="the decision that every input of the domain gets; null if there are several, "
        "or it is not proved that there is one",
    )
    regions: list[RegionSummary] = Field(
        description="where unfairness sits, proved or possible; the largest first"
    )
    moments: Annotated[list[MomentSummary], OF_ONE_RUN] = Field(
        description="the shares over time, the last at the end; empty if times are left out"
    )
    verdict: CertificationVerdict = Field(description="the outcome in words, with the exit code")

    @model_validator(mode="after")
    def _is_consistent(self) -> Self:
        protected = self.domain.protected
        shared = {item.name for item in self.domain.inputs} - set(protected)
        for place, example in enumerate(self.counterexamples):
            at = f"counterexamples.{place}"
            for index, answer in enumerate(example.answers):
                check_equal_lengths(
                    {
                        "domain.protected": protected,
                        f"{at}.answers.{index}.protected": answer.protected,
                    }
                )
            missing = sorted(shared - example.person.keys())
            if missing:
                raise ValueError(f"{at}.person: there is no value of {missing[0]!r}")
        return self
