"""The JSON document of a certification: its schema, its content, and reading it back."""

from __future__ import annotations

import json
from typing import Any

import jsonschema
import pytest
from certification_documents import CERTIFICATIONS, bounded, domain, enumerated, weighted

from testsgd.certification import CertificationResult, summarise_certification
from testsgd.certification.domain import CategoryInput, IntegerInput
from testsgd.certification.outcome import Counterexample
from testsgd.certification.search.regions import condition_on, region_of
from testsgd.errors import ResultError
from testsgd.report.kinds import read_result


@pytest.mark.parametrize("name", CERTIFICATIONS)
def test_every_document_is_valid_and_read_back_as_it_was(name: str) -> None:
    summary = CERTIFICATIONS[name]()
    text = CertificationResult.document.render(summary)

    jsonschema.validate(json.loads(text), CertificationResult.document.schema())
    assert CertificationResult.document.read(text) == summary
    result = read_result(text)
    assert isinstance(result, CertificationResult)
    assert result.verdict == summary.verdict


@pytest.mark.parametrize(
    "change",
    [{"schema": "testsgd.audit/2"}, {"proved": None}, {"extra": 1}, {"boxes": "many"}],
    ids=str,
)
def test_another_document_is_refused_by_schema_and_reader(change: dict[str, Any]) -> None:
    document = json.loads(CertificationResult.document.render(CERTIFICATIONS["bounded"]())) | change
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(document, CertificationResult.document.schema())
    with pytest.raises(ResultError):
        CertificationResult.document.read(json.dumps(document))


def test_rules_of_regions_are_worded_by_the_domain() -> None:
    first, second = summarise_certification(bounded()).regions
    assert first.text == "age from 17 to 30 and job = cook, driver or farmer"
    assert first.rules[1].values == ["cook", "driver", "farmer"]
    assert second.text == "age = 31 and hours from 1 to 20"
    assert (second.rules[0].low, second.rules[0].high) == (31, 31)


def test_of_many_values_a_rule_names_few() -> None:
    towns = tuple(f"T{place}" for place in range(20))
    item = CategoryInput("town", towns)
    many = domain(inputs=(item, IntegerInput("woman", 0, 1)), protected=("woman",),
                  protected_values=((0.0,), (1.0,)))  # fmt: skip
    ends = [(0, 4), (0, 9), (2, 19), (0, 5)]
    regions = tuple(
        region_of([condition_on(item, low, high)], 0.1, 0.1, 0.0, 0.0) for low, high in ends
    )
    found = summarise_certification(bounded(domain=many, regions=regions, counterexamples=()))
    assert [region.text for region in found.regions] == [
        "town = T0, T1, T2, T3 or T4",
        "town = T0, T1, T2, T3 or 6 more",
        "town other than T0 or T1",
        "town = T0, T1, T2, T3 or 2 more",
    ]
    assert found.regions[1].rules[0].values == list(towns[:10])


def test_the_estimate_for_the_domain_is_an_interval_of_its_own() -> None:
    found = summarise_certification(bounded()).estimated
    assert found is not None
    assert found.domain_confidence_interval == (0.0105, 0.0117)
    assert found.domain_unfair == pytest.approx(0.00862 + 0.04857 * 0.0512)


def test_counterexamples_share_the_person_and_name_decisions() -> None:
    first, second = summarise_certification(bounded()).counterexamples
    assert first.person == {"age": 34, "job": "cook", "hours": 40}
    assert [(one.protected, one.decision) for one in first.answers] == [
        (["Amber"], "<=50K"),
        (["Blue"], ">50K"),
        (["Crimson"], "<=50K"),
    ]
    assert (first.proved, second.proved) == (True, False)


def test_of_many_compared_values_every_decision_stays_in_the_list() -> None:
    values = tuple((float(age),) for age in range(200))
    many = domain(
        inputs=(IntegerInput("age", 0, 199), IntegerInput("hours", 0, 9)),
        protected=("age",),
        protected_values=values,
    )
    decisions = tuple(int(place == 150) for place in range(200))
    example = Counterexample((4.0,), decisions, tuple((0.1,) for _ in values), True)
    summary = summarise_certification(bounded(domain=many, counterexamples=(example,), regions=()))
    (listed,) = summary.counterexamples
    assert (len(listed.answers), listed.left_out) == (12, 188)
    assert [one.protected for one in listed.answers if one.decision == ">50K"] == [["150"]]


def test_domains_say_what_is_compared_and_how_people_count() -> None:
    whole, part = (summarise_certification(one()).domain for one in (bounded, weighted))
    assert (whole.points, whole.weight, whole.compared_all) == (29_304, "volume", True)
    assert (part.points, part.weight, part.compared_all) == (None, "data", False)
    assert part.compared == [["clerk", "Amber"], ["farmer", "Crimson"]]
    assert [one.kind for one in part.inputs] == ["real", "category", "category", "integer"]


def test_the_last_moment_is_the_end_and_long_searches_are_thinned_out() -> None:
    few = summarise_certification(bounded()).moments
    assert (few[-1].seconds, few[-1].certified) == (60.1, 0.94281)
    many = bounded(moments=bounded().moments * 400)
    assert len(summarise_certification(many).moments) <= 241
    assert len(summarise_certification(enumerated()).moments) == 1
