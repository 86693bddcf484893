"""The report of a comparison in a real browser: offline, silent, and within a phone's width."""

from __future__ import annotations

import re
from html import escape
from pathlib import Path

import pytest
from browsing import browse, needs_chromium
from comparison_documents import COMPARISONS, as_comparison
from test_mitigation_browser import PHONE

from testsgd.comparison import ComparisonResult

pytestmark = [
    pytest.mark.browser,
    needs_chromium,
]


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write a report."""
    target = tmp_path_factory.mktemp("comparison") / "report.html"
    page = ComparisonResult.document.to_html(as_comparison(COMPARISONS["several"]()))
    target.write_text(page, encoding="utf-8")
    return target


def test_the_report_renders_and_says_nothing_on_the_console(report: Path) -> None:
    finished = browse(report, "--dump-dom")

    assert "On one scale" in finished.stdout
    assert [line for line in finished.stderr.splitlines() if "CONSOLE" in line] == []


def test_nothing_is_wider_than_a_phone(report: Path) -> None:
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
