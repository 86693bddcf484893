"""The obedience of a model is measured, and what was found is handed on."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest
from scipy.stats import binomtest

from testsgd.errors import ResultError, SpecificationError
from testsgd.generative import GenerativeSpecification, ModelRequest, calibrate
from testsgd.generative.calibration import calibrated, usable_ways

SPECIFICATION = GenerativeSpecification.from_dict(
    {
        "groupings": {
            "gender": {
                "values": ["female", "male"],
                "terms": {"female": ["she"], "male": ["he"]},
                "ask": {
                    "sentence_before": {"female": "Woman!", "male": "Man!"},
                    "rewrite": {"female": "lady {noun}", "male": "gentleman {noun}"},
                },
            },
            "job": {"values": ["nurse", "pilot"], "reads": "prompt"},
        },
        "prompts": ["The {job} said that", "A {job} thought that"],
        "requirements": [{"grouping": "gender", "each": "job", "beta": 8}],
        "upstream": {"endpoint": "completions"},
    }
)
# How often the model of the tests obeys, by what it is asked.
OBEDIENCE = {"Woman!": 0.9, "Man!": 0.6, "lady": 0.8, "gentleman": 0.75}


def model(request: ModelRequest, seed: int) -> str:
    source = random.Random(seed)
    for word, rate in OBEDIENCE.items():
        if word in request.prompt:
            wanted = "she" if word in ("Woman!", "lady") else "he"
            return wanted if source.random() < rate else "nobody"
    return "nobody"


def test_counts_are_those_of_a_model_whose_obedience_is_known() -> None:
    found = calibrate(SPECIFICATION, model, tries=400, confirm=1, seed=3)
    for one in found.counts:
        words = {
            ("sentence_before", "female"): "Woman!",
            ("sentence_before", "male"): "Man!",
            ("rewrite", "female"): "lady",
            ("rewrite", "male"): "gentleman",
        }
        rate = OBEDIENCE.get(words.get((one.way, one.value), ""), 0.0)
        assert binomtest(one.obeyed, one.tries, rate).pvalue > 1e-6


def test_the_way_whose_worst_case_is_best_comes_first() -> None:
    found = calibrate(SPECIFICATION, model, tries=400, confirm=300)
    assert found.ways[:2] == ("rewrite", "sentence_before")
    assert {(one.way, one.tries) for one in found.confirmed} == {("rewrite", 300)}
    low, high = min(found.confirmed, key=lambda one: one.rate).interval(found.confidence)
    assert found.obedience == low < OBEDIENCE["gentleman"] < high


def test_the_luck_of_the_chosen_way_does_not_make_its_obedience_too_high() -> None:
    ways = ["sentence_after", "sentence_before", "rewrite", "prefix"]
    values = SPECIFICATION.to_dict()
    values["groupings"]["gender"]["ask"] = {
        way: {"female": "Lady {noun}", "male": "Lord {noun}"} for way in ways
    }
    values["requirements"] = [{"grouping": "gender", "when": {"job": "nurse"}, "beta": 8}]
    specification = GenerativeSpecification.from_dict(values)

    def equal(request: ModelRequest, seed: int) -> str:
        """All ways are equally good: one value always comes, the other half the time."""
        if "Lady" in request.prompt:
            return "she"
        return random.Random(seed).choice(["he", "nobody"])

    runs = 200
    too_high = sum(
        calibrate(specification, equal, tries=20, confirm=20, seed=1000 * run).obedience > 0.5
        for run in range(runs)
    )
    # One side of an interval of 95%. By the outputs of the choice it would be four times as often.
    assert binomtest(too_high, runs, 0.025, alternative="greater").pvalue > 1e-3


def test_ways_without_a_text_for_every_value_are_not_tried() -> None:
    assert set(usable_ways(SPECIFICATION)) == {"sentence_after", "sentence_before", "rewrite"}
    found = calibrate(SPECIFICATION, model, tries=2, confirm=2, ways=["rewrite"])
    assert {one.way for one in found.counts} == {"rewrite"}


def test_what_was_found_is_taken_over(tmp_path: Path) -> None:
    found = calibrate(SPECIFICATION, model, tries=50, confirm=50)
    file = tmp_path / "calibration.json"
    file.write_text(json.dumps(found.to_dict()), encoding="utf-8")
    enforcement = calibrated(SPECIFICATION, file).enforcement
    assert enforcement.way == found.ways[0]
    assert enforcement.obedience == found.obedience
    file.write_text("{}", encoding="utf-8")
    with pytest.raises(ResultError):
        calibrated(SPECIFICATION, file)
    with pytest.raises(ResultError):
        calibrated(SPECIFICATION, tmp_path / "nothing.json")


def test_a_requirement_without_a_fitting_prompt_is_refused() -> None:
    values = SPECIFICATION.to_dict() | {"prompts": ["The nurse said that"]}
    with pytest.raises(SpecificationError):
        calibrate(GenerativeSpecification.from_dict(values), model, tries=1, confirm=1)


def test_a_value_out_of_range_is_refused() -> None:
    with pytest.raises(SpecificationError):
        SPECIFICATION.with_enforcement(obedience=2)
