"""The views of a shield's reports: complete, escaped, and all with the same verdict."""

from __future__ import annotations

import html
import re
from pathlib import Path

import pytest
from browsing import browse, needs_chromium
from page_outline import Outline, outline_of_report
from shield_documents import SIMULATIONS, synthesised

from testsgd.cli.report import report
from testsgd.shielding import ShieldResult, SimulationResult

CASES = {**SIMULATIONS, "synthesis": synthesised}


@pytest.fixture(params=CASES)
def result(request: pytest.FixtureRequest) -> ShieldResult | SimulationResult:
    kind = ShieldResult if request.param == "synthesis" else SimulationResult
    return kind(CASES[request.param]())  # type: ignore[arg-type]


def test_the_page_is_well_formed_and_asks_for_nothing(
    result: ShieldResult | SimulationResult,
) -> None:
    outline = outline_of_report(result.to_html())
    assert outline.tags["b"] == 0


def test_every_view_has_the_verdict_and_the_name(result: ShieldResult | SimulationResult) -> None:
    page = Outline(result.to_html()).text
    markdown = html.unescape(re.sub(r"\\([\\`*_\[\]|~$])", r"\1", result.to_markdown()))
    for told in [result.verdict.headline, *result.verdict.sentences, "loans <b>"]:
        assert told in page
        assert told in markdown


def test_a_simulation_says_both_sides_in_every_view() -> None:
    result = SimulationResult(SIMULATIONS["periodic"]())
    for text in (Outline(result.to_html()).text, result.to_markdown()):
        for told in ("100.0% (2)", "50.0% (1)", "75.0%", "67.5%"):
            assert told in text
    # Biases of 0.5 and 1 without the shield, of 0.6 with it; the one of 0.1 is within.
    assert result.to_html().count('<rect class="less"') == 3
    assert result.to_html().count('<rect class="more"') == 1
    assert "Assumption held" in result.to_markdown()
    assert "Assumption held" not in SimulationResult(SIMULATIONS["finite"]()).to_markdown()


def test_the_views_say_what_is_done_without_a_shield() -> None:
    for name, words in (("dynamic", "recommendations pass"), ("closest", "smallest bound")):
        told = SimulationResult(SIMULATIONS[name]())
        for view in (told.to_html(), told.to_markdown()):
            assert "If no shield exists for a period" in view
            assert words in view


def test_a_saved_result_is_rendered_again_with_the_same_exit_code(tmp_path: Path) -> None:
    SimulationResult(SIMULATIONS["gate"]()).write(tmp_path, ["json", "html"])
    first = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert report(tmp_path / "result.json", quiet=True) == 1
    assert (tmp_path / "report.html").read_text(encoding="utf-8") == first


@pytest.mark.browser
@needs_chromium
def test_the_report_says_nothing_on_the_console(tmp_path: Path) -> None:
    page = tmp_path / "report.html"
    page.write_text(SimulationResult(SIMULATIONS["periodic"]()).to_html(), encoding="utf-8")
    finished = browse(page, "--dump-dom")
    assert "Bias of the runs" in finished.stdout
    assert [line for line in finished.stderr.splitlines() if "CONSOLE" in line] == []
