"""The report of a mitigation in a real browser: offline, silent, and within a phone's width."""

from __future__ import annotations

import re
import subprocess
from html import escape
from pathlib import Path

import pytest
from browsing import browse, needs_chromium
from mitigation_documents import MITIGATIONS, as_mitigation

from testsgd.mitigation import MitigationResult

PHONE = 390

pytestmark = [
    pytest.mark.browser,
    needs_chromium,
]


@pytest.fixture(scope="module", params=["one target", "several targets", "no candidate", "texts"])
def report(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write a report."""
    target = tmp_path_factory.mktemp("mitigation") / "report.html"
    page = MitigationResult.document.to_html(as_mitigation(MITIGATIONS[request.param]()))
    target.write_text(page, encoding="utf-8")
    return target


@pytest.fixture(scope="module")
def shown(report: Path) -> subprocess.CompletedProcess[str]:
    """Show the report, and take a picture of it."""
    picture = report.with_suffix(".png")
    return browse(report, "--dump-dom", f"--screenshot={picture}", "--window-size=1200,1600")


def test_the_report_renders_and_says_nothing_on_the_console(
    shown: subprocess.CompletedProcess[str],
) -> None:
    assert "Did it help?" in shown.stdout
    assert [line for line in shown.stderr.splitlines() if "CONSOLE" in line] == []


@pytest.mark.usefixtures("shown")
def test_a_screenshot_is_more_than_a_blank_page(report: Path) -> None:
    # A blank page of this size takes less than 10 kB.
    assert report.with_suffix(".png").stat().st_size > 50_000


def test_nothing_is_wider_than_a_phone(report: Path) -> None:
    """Tables scroll in boxes of their own; a frame of a phone's width measures the page."""
    measured = report.with_name("measured.html")
    page = escape(report.read_text(encoding="utf-8"))
    script = (
        "const page = this.contentDocument.documentElement; "
        "document.title = page.scrollWidth + ' of ' + page.clientWidth"
    )
    measured.write_text(
        f'<title></title><iframe width="{PHONE}" height="900" style="border:0" '
        f'onload="{script}" srcdoc="{page}"></iframe>',
        encoding="utf-8",
    )
    title = re.search(r"<title>(\d+) of (\d+)</title>", browse(measured, "--dump-dom").stdout)

    assert title is not None
    width, window = (int(number) for number in title.groups())
    assert width == window <= PHONE
