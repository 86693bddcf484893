"""The outcome of an assessment and its exit code, by construction, the same in every view."""

from __future__ import annotations

import html
import json
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from testsgd import GenerativeResult, assess_generative
from testsgd.cli.main import _run

KEPT, BROKEN, FEW, DESCRIBED = "kept", "broken", "not_enough_evidence", "described"
CODES = {KEPT: 0, BROKEN: 1, FEW: 3, DESCRIBED: 0}


def specification(*betas: int | None, **keys: Any) -> dict[str, Any]:
    """Return a specification with a requirement for each beta: the same values, other groupings."""
    return {
        "name": "people",
        "groupings": {f"g{number}": {"values": ["x", "y"]} for number in range(len(betas))},
        "requirements": [
            {"grouping": f"g{number}", **({} if beta is None else {"beta": beta})}
            for number, beta in enumerate(betas)
        ],
        **keys,
    }


def columns(*texts: str) -> dict[str, list[str | None]]:
    """Return labels: x and y are values, a dash is unrelated."""
    return {
        f"g{number}": [None if letter == "-" else letter for letter in text]
        for number, text in enumerate(texts)
    }


CASES = [
    # what is asked for, the outputs of each grouping, what comes out
    ((3,), ("xxyxxy",), KEPT),
    ((3,), ("xxyx",), KEPT),
    ((2,), ("xyxyx",), KEPT),
    ((3,), ("-x-x-y--x",), KEPT),
    ((2,), ("xxyxxy",), BROKEN),
    ((3,), ("yxxxxy",), BROKEN),
    # it never appeared: at the latest with output 3, which is there
    ((3,), ("xxx",), BROKEN),
    ((3,), ("xxxxxxxx",), BROKEN),
    # broken in a sequence that is not longer than beta
    ((3,), ("yyy",), BROKEN),
    # too short, whatever it has
    ((3,), ("xx",), FEW),
    ((3,), ("xyx",), FEW),
    ((9,), ("xyxyxyxy",), FEW),
    ((3,), ("x-x--",), FEW),
    # no related output at all
    ((3,), ("----",), FEW),
    ((3,), ("",), FEW),
    ((None,), ("---",), FEW),
    ((None,), ("",), FEW),
    # nothing is asked for
    ((None,), ("xxxx",), DESCRIBED),
    ((None,), ("x",), DESCRIBED),
    # several requirements: the worst decides
    ((2, 2), ("xyxy", "yxyx"), KEPT),
    ((2, 3), ("xyxy", "yyyy"), BROKEN),
    ((2, 9), ("xyxy", "xyxy"), FEW),
    ((2, 9), ("xxxx", "xyxy"), BROKEN),
    ((2, None), ("xyxy", "xxxx"), KEPT),
    ((2, None), ("xyxy", "----"), FEW),
    ((2, None), ("xxxx", "----"), BROKEN),
    ((None, None), ("xxxx", "xxxx"), DESCRIBED),
]  # fmt: skip


def plain(text: str) -> str:
    """Return the text of a page, with single blanks."""
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", text)).split())


@pytest.mark.parametrize(("betas", "texts", "status"), CASES)
def test_the_outcome_is_the_same_in_every_view(
    betas: tuple[int | None, ...],
    texts: tuple[str, ...],
    status: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    result = assess_generative(columns(*texts), specification(*betas))
    verdict = result.verdict
    assert (verdict.status, result.exit_code) == (status, CODES[status])
    document = json.loads(result.to_json())
    assert document["verdict"] == json.loads(verdict.model_dump_json())
    assert GenerativeResult.from_json(result.to_json()).verdict == verdict
    headline = " ".join(verdict.headline.split())
    assert headline in plain(result.to_html())
    assert headline.replace("_", "") in " ".join(result.to_markdown().replace("\\", "").split())
    (tmp_path / "log.json").write_text(json.dumps(columns(*texts)), encoding="utf-8")
    (tmp_path / "fair.toml").write_text(toml(betas), encoding="utf-8")
    code = _run(
        ["generative", "assess", str(tmp_path / "log.json"), "--spec", str(tmp_path / "fair.toml")]
    )
    captured = capsys.readouterr()
    assert code == CODES[status]
    assert headline in " ".join(captured.out.split())


def toml(betas: tuple[int | None, ...]) -> str:
    """Return :func:`specification` as TOML."""
    lines = ['name = "people"']
    for number, beta in enumerate(betas):
        lines += [f"[groupings.g{number}]", 'values = ["x", "y"]', "[[requirements]]"]
        lines += [f'grouping = "g{number}"', *([] if beta is None else [f"beta = {beta}"])]
    return "\n".join(lines)


def judged(text: str, beta: int) -> str:
    """Judge a sequence by Definition 10, read naively."""
    related = text.replace("-", "")
    for value in "xy":
        # Every window of beta outputs has the value.
        for start in range(len(related) - beta + 1):
            if value not in related[start : start + beta]:
                return BROKEN
    return KEPT if len(related) > beta else FEW


@settings(max_examples=150)
@given(st.text("xy-", max_size=14), st.integers(1, 6))
def test_the_outcome_is_that_of_the_definition(text: str, beta: int) -> None:
    result = assess_generative(columns(text), specification(beta))
    assert result.verdict.status == judged(text, beta)


@pytest.mark.parametrize("status", [BROKEN, KEPT, FEW])
def test_a_condition_takes_out_what_does_not_fulfil_it(status: str) -> None:
    text = {BROKEN: "xxxx", KEPT: "xyxy", FEW: "xy"}[status]
    made = specification(2, None)
    made["requirements"] = [{"grouping": "g0", "when": {"g1": "y"}, "beta": 2}]
    first = "".join(f"{letter}yx" for letter in text)
    second = "yx-" * len(text)
    assert assess_generative(columns(first, second), made).verdict.status == status


# For each: prompts that hint at x, outputs to them, and outputs to neutral prompts; then what holds
# of all outputs and of those of neutral prompts.
SCOPES = [
    ("x" * 5, "xyxyxy", BROKEN, "kept"),
    ("x" * 5, "xxxxxx", BROKEN, "broken"),
    ("xy" * 5, "xyxyxy", KEPT, "kept"),
    ("x" * 5, "y", BROKEN, "not_enough"),
    ("xy" * 5, "", KEPT, "not_enough"),
]


@pytest.mark.parametrize(("hinted", "neutral", "status", "standing"), SCOPES)
def test_neutral_prompts_are_looked_at_by_themselves(
    hinted: str, neutral: str, status: str, standing: str
) -> None:
    log = {
        "prompt": ["an x, please"] * len(hinted) + ["please"] * len(neutral),
        "g0": list(hinted + neutral),
    }
    result = assess_generative(log, specification(2))
    assert result.verdict.status == status
    everything, alone = result.summary.sequences
    assert (everything.scope, alone.scope) == ("all", "neutral")
    assert alone.standing == standing
    assert alone.related == len(neutral)
    assert (result.summary.prompts_known, result.summary.all_neutral) == (True, False)


def test_different_outcomes_for_neutral_prompts_are_not_said_to_be_the_same() -> None:
    sentences = []
    for hinted, neutral, *_ in SCOPES[:2]:
        log = {
            "prompt": ["an x, please"] * len(hinted) + ["please"] * len(neutral),
            "g0": list(hinted + neutral),
        }
        verdict = assess_generative(log, specification(2)).verdict
        sentences.append(next(one for one in verdict.sentences if "neutral prompts" in one))
    kept, broken = sentences
    assert "kept" in kept
    assert "broken" not in kept
    assert "broken" in broken


def test_outputs_of_neutral_prompts_without_a_value_judge_nothing() -> None:
    log = {"prompt": ["an x"] * 3 + ["please"], "g0": ["x", "y", "x", None]}
    verdict = assess_generative(log, specification(None)).verdict
    assert verdict.status == DESCRIBED
    assert any("too few outputs of neutral prompts" in one for one in verdict.sentences)


def test_the_verdict_is_about_the_model_only_if_prompts_are_neutral() -> None:
    log = {"g0": list("xyxy")}
    unknown = assess_generative(log, specification(2))
    known = assess_generative({**log, "prompt": ["please"] * 4}, specification(2))
    taken = assess_generative(
        {**log, "prompt": ["an x"] * 4}, specification(2, neutrality={"by": "none"})
    )
    assert [one.summary.prompts_known for one in (unknown, known, taken)] == [False, True, True]
    assert [one.summary.all_neutral for one in (unknown, known, taken)] == [False, True, True]
    assert all(len(one.summary.sequences) == 1 for one in (unknown, known, taken))
    texts = {" ".join(one.verdict.sentences) for one in (unknown, known, taken)}
    assert len(texts) == 3


def test_what_was_set_aside_is_counted() -> None:
    found = assess_generative(["an x and a y", "an x", "a y"], specification(9)).summary
    assert found.several == 1
    assert found.sequences[0].unrelated == 1


def test_outputs_for_which_a_value_was_asked_say_nothing_of_the_model_alone() -> None:
    specification = {"groupings": {"g0": {"values": ["x", "y"]}}}
    outputs = {"prompt": ["please"] * 3, "g0": ["x", "y", "x"]}
    asked = {**outputs, "asked": [None, "y", None]}
    plain, helped = (
        assess_generative(one, specification).verdict.sentences for one in (outputs, asked)
    )
    assert len(plain) == len(helped)
    assert plain != helped
    assert any("1 time" in sentence for sentence in helped)


WORDS = {
    "groupings": {
        "gender": {"values": ["female", "male"], "terms": {"female": ["she"], "male": ["he"]}},
        "job": {"values": ["nurse", "pilot", "cook"], "reads": "prompt"},
    }
}


def hinted(*jobs: str) -> dict[str, list[str]]:
    """Return outputs about jobs: of men only where the prompt has the word."""
    log: dict[str, list[str]] = {"prompt": [], "output": []}
    for job in jobs:
        log["prompt"] += [f"A {job} said", f"A male {job} said", f"A {job} said, he"] * 8
        log["output"] += ["she", "he", "he"] * 8
    return log


def of_jobs(*betas: tuple[str, int]) -> dict[str, Any]:
    """Return a specification with a requirement for each job."""
    required = [{"grouping": "gender", "when": {"job": job}, "beta": beta} for job, beta in betas]
    return {**WORDS, "requirements": required}


def test_the_headline_says_what_is_broken_for_neutral_prompts_alone() -> None:
    result = assess_generative(hinted("nurse"), of_jobs(("nurse", 4)))
    assert (result.verdict.status, result.exit_code) == (KEPT, 0)
    assert "neutral prompts" in result.verdict.headline
    assert "broken" in result.verdict.headline
    assert "“male”" in result.verdict.headline


@pytest.mark.parametrize("jobs", [("nurse", "pilot"), ("nurse", "pilot", "cook")])
def test_all_that_are_broken_for_neutral_prompts_are_named(jobs: tuple[str, ...]) -> None:
    verdict = assess_generative(hinted(*jobs), of_jobs(*((job, 4) for job in jobs))).verdict
    assert verdict.status == KEPT
    for job in jobs:
        assert job in verdict.headline
        assert any(job in one and "neutral prompts" in one for one in verdict.sentences)


def test_a_value_that_was_asked_for_hides_nothing_of_neutral_prompts() -> None:
    log: dict[str, Any] = hinted("nurse")
    log["asked"] = [None, {"gender": "male"}, None] * 8
    verdict = assess_generative(log, of_jobs(("nurse", 4))).verdict
    assert "neutral prompts" in verdict.headline
    assert any("8 times" in one for one in verdict.sentences)
    assert any("neutral prompts" in one and "broken" in one for one in verdict.sentences)


def test_what_is_broken_for_neutral_prompts_stands_beside_another_outcome() -> None:
    log = hinted("nurse", "pilot")
    log["output"][24:] = ["she"] * 24
    broken = assess_generative(log, of_jobs(("nurse", 4), ("pilot", 4))).verdict
    assert broken.status == BROKEN
    assert "neutral prompts" in broken.headline
    assert "nurse" in broken.headline
    few = assess_generative(hinted("nurse"), of_jobs(("nurse", 4), ("cook", 4))).verdict
    assert few.status == FEW
    assert "neutral prompts" in few.headline


def test_a_headline_has_no_word_of_neutral_prompts_where_they_are_as_good() -> None:
    log = {"prompt": ["A nurse"] * 6 + ["A male nurse"] * 6, "output": ["she", "he"] * 6}
    kept = assess_generative(log, of_jobs(("nurse", 4))).verdict
    assert kept.status == KEPT
    assert "broken" not in kept.headline
    worse = {**log, "output": ["she"] * 12}
    broken = assess_generative(worse, of_jobs(("nurse", 4))).verdict
    assert broken.status == BROKEN
    assert "neutral" not in broken.headline


def test_equal_shares_are_said_of_two_different_values() -> None:
    specification = {"groupings": {"g0": {"values": ["x", "y"]}}}
    headline = assess_generative({"g0": ["x", "y"]}, specification).verdict.headline
    assert "“x”" in headline
    assert "“y”" in headline
