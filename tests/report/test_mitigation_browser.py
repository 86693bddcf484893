"""The report of a mitigation in a real browser: offline, silent, and within a phone's width."""

from __future__ import annotations

import re
import shutil
import subprocess
from html import escape
from pathlib import Path

import pytest
from mitigation_documents import MITIGATIONS, as_mitigation

from testsgd.mitigation import MitigationResult

CHROMIUM = shutil.which("chromium")
PHONE = 390

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(CHROMIUM is None, reason="Debian's chromium is not installed"),
]


@pytest.fixture(scope="module", params=["one target", "several targets", "no candidate", "texts"])
def report(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write a report."""
    target = tmp_path_factory.mktemp("mitigation") / "report.html"
    page = MitigationResult.document.to_html(as_mitigation(MITIGATIONS[request.param]()))
    target.write_text(page, encoding="utf-8")
    return target


def browse(page: Path, *options: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [
            str(CHROMIUM),
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-quic",
            "--no-first-run",
            "--disable-background-networking",
            "--disable-component-update",
            "--disable-sync",
            f"--user-data-dir={page.parent / 'profile'}",
            "--enable-logging=stderr",
            *options,
            page.as_uri(),
        ],
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )


def test_the_report_renders_and_says_nothing_on_the_console(report: Path) -> None:
    finished = browse(report, "--dump-dom")

    assert "Did it help?" in finished.stdout
    assert [line for line in finished.stderr.splitlines() if "CONSOLE" in line] == []


def test_a_screenshot_is_more_than_a_blank_page(report: Path) -> None:
    target = report.with_suffix(".png")
    browse(report, f"--screenshot={target}", "--window-size=1200,1600")

    # A blank page of this size takes less than 10 kB.
    assert target.stat().st_size > 50_000


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
