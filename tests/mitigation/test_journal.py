"""The journal: what is kept over an interruption, and what it refuses."""

import json
from pathlib import Path

import pytest

import testsgd
from testsgd.errors import ConfigurationError
from testsgd.io import replacing_any_file
from testsgd.mitigation.journal import Journal, check_journal

WORK = {"data": "abc", "settings": {"seed": 0}}


def test_what_is_kept_is_there_after_an_interruption(tmp_path: Path) -> None:
    file = tmp_path / "made" / "journal.json"
    journal = Journal(file, WORK)
    journal.keep("run 1, step 1", [{"score": 0.1}])
    journal.keep("run 1, step 2", [{"score": float("nan")}])
    again = Journal(file, WORK, resume=True)
    assert again.names == ("run 1, step 1", "run 1, step 2")
    assert again.get("run 1, step 1") == [{"score": 0.1}]
    assert again.get("run 9, step 9") is None


def test_without_resume_it_begins_anew(tmp_path: Path) -> None:
    file = tmp_path / "journal.json"
    Journal(file, WORK).keep("step", 1)
    assert Journal(file, WORK).names == ()


def test_there_may_be_nothing_to_resume(tmp_path: Path) -> None:
    assert Journal(tmp_path / "journal.json", WORK, resume=True).names == ()


def test_other_work_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "journal.json"
    Journal(file, WORK).keep("step", 1)
    with pytest.raises(ConfigurationError, match="other data, another model or other settings"):
        Journal(file, {**WORK, "data": "xyz"}, resume=True)


@pytest.mark.parametrize(
    "text", ["", "[]", "{", '{"format": "another/1"}', json.dumps({"format": "testsgd.journal/1"})]
)
def test_what_is_no_journal_is_refused(tmp_path: Path, text: str) -> None:
    file = tmp_path / "journal.json"
    file.write_text(text)
    with pytest.raises(ConfigurationError, match="no journal"):
        Journal(file, WORK, resume=True)
    with pytest.raises(ConfigurationError):
        check_journal(file, resume=True)
    if not text or "testsgd.journal" in text:
        check_journal(file, resume=False)
        return
    # It is another's, which a new journal would replace.
    with pytest.raises(ConfigurationError):
        check_journal(file, resume=False)
    with replacing_any_file():
        check_journal(file, resume=False)


@pytest.mark.parametrize("change", [("0.25", "0.75"), ('"score"', '"scores"'), ("[{", "[{}, {")])
def test_figures_that_were_changed_are_refused(tmp_path: Path, change: tuple[str, str]) -> None:
    file = tmp_path / "journal.json"
    figures = [{"score": 0.25, 3: (1, float("nan"))}]
    Journal(file, WORK).keep("step", figures)
    assert Journal(file, WORK, resume=True).names == ("step",)
    file.write_text(file.read_text().replace(*change))
    with pytest.raises(ConfigurationError):
        Journal(file, WORK, resume=True)
    with pytest.raises(ConfigurationError):
        check_journal(file, resume=True)


def test_a_journal_is_sound_before_it_is_known_what_it_is_about(tmp_path: Path) -> None:
    file = tmp_path / "journal.json"
    check_journal(file, resume=True)
    check_journal(None, resume=True)
    Journal(file, WORK).keep("step", {"score": 0.25})
    check_journal(file, resume=True)


def test_a_mitigation_begins_with_its_journal(tmp_path: Path) -> None:
    file = tmp_path / "journal.json"
    file.write_text("{}")
    for begin in (testsgd.mitigate, testsgd.fair_frontier):
        # There are no such data, which would be said next.
        with pytest.raises(ConfigurationError) as caught:
            begin(None, tmp_path / "no.csv", "demo", journal=file, resume=True)
        assert str(file) in str(caught.value)
