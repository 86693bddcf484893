"""Reports of every kind hold no serious fault that axe-core finds, under the pages' own policy.

The environment variable TESTSGD_AXE names the file ``axe.min.js`` of the package axe-core.
"""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any

import pytest
from browsing import found_on_pages, needs_chromium
from page_outline import hash_of

from testsgd.report.kinds import RESULTS, read_result

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
axe.run({resultTypes: ["violations"]}).then((found) => leave(found.violations.map((one) => [
  one.impact, one.id, one.nodes.map((node) => node.target.join(" ")),
])));
"""
FAINT = '<p style="color: #eee">hardly to be seen</p>'

pytestmark = [
    pytest.mark.browser,
    pytest.mark.slow,
    needs_chromium,
    pytest.mark.skipif(not Path(AXE).is_file(), reason="TESTSGD_AXE names no axe.min.js"),
]


def with_script(page: str, script: str) -> str:
    """Add a script to a page, and to the page's policy the hash of that script only."""
    policy = re.search(r'http-equiv="Content-Security-Policy" content="([^"]+)"', page)
    assert policy is not None
    allowed = policy[1]
    if "script-src" in allowed:
        extended = allowed.replace("script-src ", f"script-src {hash_of(script)} ")
    else:
        extended = f"{allowed}; script-src {hash_of(script)}"
    page = page.replace(allowed, extended, 1)
    return page.replace("</body>", f"<script>{script}</script></body>")


@pytest.fixture(scope="module")
def violations(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[list[Any]]]:
    """What axe finds on each page: how bad it is, the rule and the places."""
    pages = {name: read_result(REPORTS / name / "result.json").to_html() for name in NAMES}
    pages["faint"] = pages["loans-shield"].replace("<h1>", f"{FAINT}<h1>")
    check = "\n" + Path(AXE).read_text(encoding="utf-8").replace("</script", "<\\/script") + RUN_AXE
    folder = tmp_path_factory.mktemp("pages")
    return found_on_pages(pages, check, with_script, folder, "--window-size=1280,2000")


def serious(found: list[list[Any]]) -> list[list[Any]]:
    return [one for one in found if one[0] in WORST]


def test_every_kind_of_result_is_looked_at() -> None:
    texts = {name: (REPORTS / name / "result.json").read_text(encoding="utf-8") for name in NAMES}
    looked_at = {json.loads(text)["schema"] for text in texts.values()}

    assert looked_at == set(RESULTS)


@pytest.mark.parametrize("name", NAMES)
def test_axe_finds_no_serious_violation(name: str, violations: dict[str, list[list[Any]]]) -> None:
    assert serious(violations[name]) == []


def test_a_serious_violation_would_be_found(violations: dict[str, list[list[Any]]]) -> None:
    """The check above can fail: faint words on a page of a report are found."""
    assert [rule for _, rule, _ in serious(violations["faint"])] == ["color-contrast"]
