"""The views of a monitor's report: complete, escaped, and all with the same verdict."""

from __future__ import annotations

import html
import re
from pathlib import Path

import pytest
from browsing import browse, needs_chromium
from monitor_documents import MONITORINGS, PARITY, comparison, specification, status, strata
from page_outline import Outline, outline_of_report

from testsgd.cli.report import report
from testsgd.monitoring import MonitorResult
from testsgd.monitoring.report.summarise import summarise_monitoring


@pytest.fixture(params=MONITORINGS)
def result(request: pytest.FixtureRequest) -> MonitorResult:
    return MonitorResult(MONITORINGS[request.param]())


def test_the_page_is_well_formed_and_asks_for_nothing(result: MonitorResult) -> None:
    outline = outline_of_report(result.to_html())
    assert outline.tags["b"] == 0


def test_every_view_has_the_verdict_and_the_name(result: MonitorResult) -> None:
    page = Outline(result.to_html()).text
    markdown = html.unescape(re.sub(r"\\([\\`*_\[\]|~$])", r"\1", result.to_markdown()))
    for told in [result.verdict.headline, *result.verdict.sentences, "loans <b>"]:
        assert told in page
        assert told in markdown


def test_every_view_says_what_is_promised(result: MonitorResult) -> None:
    rules = {one.rule for one in result.summary.properties}
    for text in (Outline(result.to_html()).text, result.to_markdown()):
        assert ("Promised: few false alarms by evidence" in text) == ("evidence" in rules)
        assert ("Not promised: anything about alerts by" in text) == ("estimate" in rules)
        assert "Not promised: that silence means fairness" in text


def test_counts_rates_and_intervals_stand_in_the_table() -> None:
    for text in (
        Outline(MonitorResult(MONITORINGS["alarmed"]()).to_html()).text,
        MonitorResult(MONITORINGS["alarmed"]()).to_markdown(),
    ):
        for told in ("40", "50", "80.0%", "30.0%", "25.0% to 75.0%", "0.250 to 0.750"):
            assert told in text
    # With a prior belief the estimates stand beside the rates: 45/60 and 20/60.
    estimated = Outline(MonitorResult(MONITORINGS["estimated"]()).to_html()).text
    for told in ("75.0%", "33.3%", "80.0%", "30.0%"):
        assert told in estimated


def test_of_many_comparisons_the_first_are_drawn_and_all_are_listed() -> None:
    page = MonitorResult(strata(20)).to_html()
    assert page.count("<article") == 12
    text = Outline(page).text
    for place in range(20):
        assert f"department = d{place} " in text
    for told in (
        *("Wrong events 8", "Late labels 1", "Dropped trials 2", "Open trials 4"),
        *("Events in another unit of time 9", "Events too far ahead 1", "Events too late 11"),
        *("Events that did not fit 12", "Events that wait 13"),
    ):
        assert told in text


def test_names_of_fields_are_escaped_in_markdown() -> None:
    specified = specification(properties=[PARITY | {"condition_on": ["zip_code"]}])
    found = comparison(specified, conditions=(("zip_code", "a*b*"),), alerts=0, first_alert=None)
    text = MonitorResult(summarise_monitoring(status(found), specified)).to_markdown()
    assert "zip\\_code" in text
    assert "zip_code" not in text
    assert "a*b*" not in text


def test_a_saved_result_is_rendered_again_with_the_same_exit_code(tmp_path: Path) -> None:
    MonitorResult(MONITORINGS["alarmed"]()).write(tmp_path, ["json", "html"])
    first = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert report(tmp_path / "result.json", quiet=True) == 1
    assert (tmp_path / "report.html").read_text(encoding="utf-8") == first


@pytest.mark.browser
@needs_chromium
def test_the_report_says_nothing_on_the_console(tmp_path: Path) -> None:
    page = tmp_path / "report.html"
    page.write_text(MonitorResult(MONITORINGS["alarmed"]()).to_html(), encoding="utf-8")
    finished = browse(page, "--dump-dom")
    assert "What is promised" in finished.stdout
    assert [line for line in finished.stderr.splitlines() if "CONSOLE" in line] == []
