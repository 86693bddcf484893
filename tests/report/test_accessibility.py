"""Reports of every kind hold no serious fault that axe-core finds, under the pages' own policy.

The environment variable TESTSGD_AXE names the file ``axe.min.js`` of the package axe-core.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from html import unescape
from pathlib import Path

import pytest
from page_outline import hash_of

from testsgd.report.documents import schema_of
from testsgd.report.kinds import RESULTS, read_result
from testsgd.report.results import read_source

CHROMIUM = shutil.which("chromium")
AXE = os.environ.get("TESTSGD_AXE", "")
REPORTS = Path(__file__).resolve().parents[2] / "reports"
WORST = ("serious", "critical")
# One of each kind, and of audits, mitigations and comparisons those of rows and of texts.
NAMES = (
    "credit",
    "crime",
    "compas-paper",
    "wiki",
    "imdb",
    "bank-mitigated",
    "wiki-mitigated",
    "census-frontier",
    "credit-comparison",
    "credit-certified",
    "compas-certified",
    "generative-llm-before",
    "generative-portraits",
    "demo-metrics",
    "loans-shield",
    "loans-shield-simulated",
    "loans-monitor",
    "loans-monitor-simulated",
)
RUN_AXE = """
for (const fold of document.querySelectorAll("details")) fold.open = true;
axe.run().then((found) => {
  const place = document.createElement("pre");
  place.id = "found-by-axe";
  place.textContent = JSON.stringify(found.violations.map((one) => [
    one.impact, one.id, one.nodes.map((node) => node.target.join(" ")),
  ]));
  document.body.append(place);
});
"""

pytestmark = [
    pytest.mark.browser,
    pytest.mark.slow,
    pytest.mark.skipif(CHROMIUM is None, reason="Debian's chromium is not installed"),
    pytest.mark.skipif(not Path(AXE).is_file(), reason="TESTSGD_AXE names no axe.min.js"),
]


def with_axe(page: str) -> str:
    """Add axe to a page, and to the page's policy the hash of that script only."""
    script = (
        "\n" + Path(AXE).read_text(encoding="utf-8").replace("</script", "<\\/script") + RUN_AXE
    )
    policy = re.search(r'http-equiv="Content-Security-Policy" content="([^"]+)"', page)
    assert policy is not None
    allowed = policy[1]
    if "script-src" in allowed:
        extended = allowed.replace("script-src ", f"script-src {hash_of(script)} ")
    else:
        extended = f"{allowed}; script-src {hash_of(script)}"
    page = page.replace(allowed, extended, 1)
    return page.replace("</body>", f"<script>{script}</script></body>")


def violations(page: str, folder: Path) -> list[tuple[str, str, list[str]]]:
    """Return what axe finds on a page: how bad it is, the rule and the places."""
    target = folder / "page.html"
    target.write_text(with_axe(page), encoding="utf-8")
    finished = subprocess.run(
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
            "--window-size=1280,2000",
            "--virtual-time-budget=60000",
            f"--user-data-dir={folder / 'profile'}",
            "--dump-dom",
            target.as_uri(),
        ],
        capture_output=True,
        text=True,
        timeout=300,
        check=True,
    )
    found = re.search(r'<pre id="found-by-axe">(.*?)</pre>', finished.stdout, re.DOTALL)
    assert found is not None, finished.stderr[-2000:]
    return [tuple(one) for one in json.loads(unescape(found[1]))]


def serious(found: list[tuple[str, str, list[str]]]) -> list[tuple[str, str, list[str]]]:
    return [one for one in found if one[0] in WORST]


def test_every_kind_of_result_is_looked_at() -> None:
    looked_at = {
        schema_of(*read_source(REPORTS / name / "result.json")[:1], where=name, what="testsgd")
        for name in NAMES
    }

    assert looked_at == set(RESULTS)


@pytest.mark.parametrize("name", NAMES)
def test_axe_finds_no_serious_violation(name: str, tmp_path: Path) -> None:
    page = read_result(REPORTS / name / "result.json").to_html()

    assert serious(violations(page, tmp_path)) == []


def test_a_serious_violation_would_be_found(tmp_path: Path) -> None:
    """The check above can fail: faint words on a page of a report are found."""
    page = read_result(REPORTS / "credit" / "result.json").to_html()
    faint = '<p style="color: #eee">hardly to be seen</p>'

    found = serious(violations(page.replace("<h1>", f"{faint}<h1>"), tmp_path))

    assert [rule for _, rule, _ in found] == ["color-contrast"]
