"""What the summary of an audit of texts says besides its numbers, in every mode."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import jsonschema
import pandas as pd
import pytest
from furnished_rooms import ROOMS, SPECIFICATION, audit, taste, terms

import testsgd
from testsgd.auditing import AuditResult, summarise
from testsgd.auditing.text.known_words import unknown_terms
from testsgd.data.text import texts_fingerprint
from testsgd.models import LoadedModel

KINDS: dict[str, dict[str, Any]] = {
    "exact": {},
    "gate": {"fail_above": 0.05},
    "pooled": {"mode": "sampled", "error_margin": 0.2, "min_samples": 60},
    "independent": {
        "mode": "sampled",
        "sampling": "independent",
        "error_margin": 0.3,
        "min_samples": 50,
    },
    "no groups": {"theta": 0.9},
    "discreet": {"snippets": 0},
    "held out": {"holdout": 0.5},
    "found": {"guarantee": "fdr"},
    "ranked by terms": {"rank_by": "counterfactual", "fail_above": 0.05},
}


@pytest.fixture(scope="module", params=KINDS)
def result(request: pytest.FixtureRequest) -> AuditResult:
    return audit(**KINDS[request.param])


def test_every_kind_of_result_is_valid(result: AuditResult) -> None:
    jsonschema.validate(
        json.loads(result.to_json()), AuditResult.document.schema(), jsonschema.Draft202012Validator
    )


def test_a_document_is_read_back_as_it_was(result: AuditResult) -> None:
    text = result.to_json()
    assert AuditResult.document.read(text) == result.summary
    assert AuditResult.document.render(AuditResult.document.read(text)) == text


def test_every_view_is_rendered(result: AuditResult) -> None:
    verdict = result.verdict.headline
    assert verdict in AuditResult.document.to_html(result.summary)
    assert verdict in AuditResult.document.to_markdown(result.summary)


def test_the_verdict_says_what_is_the_terms_own() -> None:
    result = audit(rank_by="score")
    told, first = result.verdict, result.summary.groups[0]
    assert "he model predicts “good” " in told.headline
    assert f"more often for texts with {first.text} (" in told.headline
    assert "than for other texts (" in told.headline
    words = " ".join(told.sentences)
    assert "confidence interval of that difference is +" in words
    assert f"in place of {first.text}, the model predicts “good” for " in words
    assert "“red” is ambiguous: also a name." in words
    assert "could not be judged" in words


# A limit that the intervals of so few texts are narrower than.
WIDE = 0.3


def test_a_model_that_does_not_look_at_terms() -> None:
    # Seeds are longer, so they differ from other texts, but no term makes any difference.
    def long(texts: list[str]) -> list[bool]:
        return [len(text.split()) > 7 for text in texts]

    by_score = audit(long, favourable="True", rank_by="score", fail_above=0.1)
    first = by_score.summary.groups[0]
    assert first.difference > 0.2
    assert first.counterfactual is not None
    assert first.counterfactual.difference == 0
    assert "not statistically significant" in " ".join(by_score.verdict.sentences)
    assert by_score.verdict.status == "gate_failed"
    # The terms do nothing, and that is what is judged if nothing else is asked for.
    for guarantee in ("simultaneous", "fdr", "per-group"):
        result = audit(long, favourable="True", fail_above=WIDE, guarantee=guarantee)
        assert result.summary.parameters.rank_by == "counterfactual"
        assert result.verdict.status == "gate_passed"
        assert result.verdict.headline.startswith("No term has a statistically significant")
        assert result.summary.guarantee is not None
        assert (
            result.summary.guarantee.significant_terms == 0 < result.summary.guarantee.significant
        )


def test_independent_sampling_says_what_it_does_not_know() -> None:
    summary = audit(**KINDS["independent"]).summary
    assert all(group.counterfactual is None for group in summary.groups)
    assert summary.overall_rate is None
    assert "is not known" in " ".join(summary.verdict.sentences)
    # The rates of single terms are those of groups, which have samples of their own.
    assert all(cell.rate is not None for rates in summary.charts.features for cell in rates.cells)


def test_no_snippets_if_the_texts_are_not_to_be_shown() -> None:
    result = audit()
    assert result.summary.terms is not None
    assert not result.summary.terms.snippets_shown
    written = result.to_json() + result.to_html() + result.to_markdown()
    assert not any(room in written for room in ROOMS)
    shown = audit(snippets=2).summary.terms
    assert shown is not None
    counts = {len(term.snippets) for category in shown.categories for term in category.terms}
    assert max(counts) == 2


def test_the_same_seed_shows_the_same_places() -> None:
    def places(seed: int) -> list[str]:
        found = audit(seed=seed, snippets=3).summary.terms
        assert found is not None
        return [
            f"{place.before}{place.term}{place.after}"
            for category in found.categories
            for term in category.terms
            for place in term.snippets
        ]

    assert places(1) == places(1)
    assert places(1) != places(2)


class Reader:
    """A model that says which words it knows; an audit asks it for nothing else here."""

    name, kind, output, threshold, thread_safe = "reader", "network", "scores", 0.5, False

    def knows(self, word: str) -> bool:
        return word != "oval"


def test_words_that_a_model_does_not_know() -> None:
    def known(findings: Any) -> dict[str, bool | None]:
        found = summarise(findings).terms
        assert found is not None
        return {term.term: term.known_to_model for one in found.categories for term in one.terms}

    findings = audit().findings
    assert findings is not None
    assert set(known(findings).values()) == {None}
    unknown = unknown_terms(LoadedModel(Reader()), findings.texts.texts, findings.mentions)
    asked = replace(findings, unknown_terms=unknown)
    assert {term for term, knows in known(asked).items() if knows is False} == {"oval"}
    assert known(asked)["red"] is True


def test_the_data_and_the_terms_are_described() -> None:
    frame = pd.DataFrame({"line": ROOMS, "opinion": ["good", "bad"] * (len(ROOMS) // 2)})
    summary = testsgd.audit(taste, frame, SPECIFICATION, terms=terms()).summary
    assert summary.data.fingerprint == texts_fingerprint(ROOMS)
    assert summary.data.label.favourable == "good"
    assert summary.terms is not None
    assert (summary.terms.name, summary.terms.source) == ("furniture", "a catalogue")
    assert summary.terms.fingerprint == terms().fingerprint()
    assert 0.3 < (summary.model.accuracy or 0) < 0.7
    assert {"nltk", "mlxtend"} <= set(summary.versions)
    unlabelled = audit().summary
    assert "the texts have no labels; an audit needs none" in unlabelled.data.notes


def test_a_term_in_every_text_has_nothing_outside() -> None:
    def plain(texts: Sequence[str]) -> list[float]:
        return taste(texts)

    summary = audit(plain, [f"red {room}" for room in ROOMS]).summary
    assert all(group.text != "“red”" for group in summary.groups)
    (alone,) = [group for group in summary.undecided if group.text == "“red”"]
    assert alone.reason == "its complement is empty"


def test_a_document_of_an_older_version_is_read() -> None:
    document = json.loads(
        testsgd.audit(None, None, "demo", theta=0.3, replicates=99, stability=5).to_json()
    )
    older = json.loads(json.dumps(document))
    del older["terms"], older["data"]["kind"]
    for group in older["groups"]:
        del group["counterfactual"]
    assert AuditResult.document.read(json.dumps(older)) == AuditResult.document.read(
        json.dumps(document)
    )
