"""The report in a real browser: it renders, offline, without a word on the console."""

from __future__ import annotations

import base64
import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from audit_documents import as_summary, census_document
from browsing import browse, needs_chromium
from furnished_rooms import audit as audit_rooms
from page_outline import Outline

from testsgd.auditing import AuditResult, audit
from testsgd.report.blocks import Cell, Column, Document, Row, Section, Table
from testsgd.report.html import render_html

pytestmark = [
    pytest.mark.browser,
    needs_chromium,
]


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Audit the demo and write its report."""
    return audit(None, None, "demo").write(tmp_path_factory.mktemp("report"), ["html"])[0]


@pytest.fixture(scope="module")
def text_report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Audit made-up texts and write the report."""
    return audit_rooms(snippets=3).write(tmp_path_factory.mktemp("text_report"), ["html"])[0]


@pytest.mark.slow
def test_report_says_nothing_on_the_console(report: Path) -> None:
    finished = browse(report, "--dump-dom")

    assert [line for line in finished.stderr.splitlines() if "CONSOLE" in line] == []


def test_a_report_of_texts_says_nothing_on_the_console(text_report: Path) -> None:
    finished = browse(text_report, "--dump-dom")

    assert "<mark>" in finished.stdout
    assert [line for line in finished.stderr.splitlines() if "CONSOLE" in line] == []


def test_a_broken_page_would_be_noticed(report: Path) -> None:
    """The check above can fail: a script that the page's own policy forbids is logged."""
    broken = report.with_name("broken.html")
    broken.write_text(
        report.read_text(encoding="utf-8").replace("</body>", "<script>x()</script></body>"),
        encoding="utf-8",
    )

    assert "CONSOLE" in browse(broken, "--dump-dom").stderr


def test_planted_group_is_rendered(report: Path) -> None:
    rendered = browse(report, "--dump-dom").stdout
    first_heading = rendered.partition("<h1")[2].partition("</h1>")[0]

    # The planted group: gender = female and race = Black and 40 <= age < 60.
    for part in ("women", "black", "40 to 59"):
        assert part in first_heading.lower()


LINES = (
    ("race = Caucasian and age < 23", "12.5%"),
    ("race in {Asian, Black} and 23 <= age < 34", "7.5%"),
    ("sex = Female and age < 230", "5.5%"),
    ("sex = Male and age < 23.5", "5.4%"),
)
SEARCHES = {
    "asian": {1},
    "male": {3},
    "FEMALE age": {2},
    "black asian": {1},
    "{asian, black}": {1},
    "male female": set(),
    "age < 23": {0},
    "age<23": {0},
    '"age < 34"': {1},
    '"caucasian and"': {0},
    "23 <= age < 34": {1},
    "sex = male age < 23.5": {3},
    "12": {0},
    "(": set(),
    "{": {1},
    "age <": {0, 1, 2, 3},
}


def test_a_search_finds_words_by_their_beginning_and_rules_as_a_whole(tmp_path: Path) -> None:
    columns = (Column("Group", "name"), Column("Rate", "number"))
    rows = tuple(Row((Cell(text, ("explains differences",)), rate)) for text, rate in LINES)
    table = Table("Ranking", columns, rows, searchable=True, of_all="3,541 judged")
    answers = search_of(table, list(SEARCHES), tmp_path)
    assert {query: set(shown) for query, shown, _ in answers} == SEARCHES
    for _, shown, said in answers:
        assert re.findall(r"[\d,]+", said) == [str(len(shown)), str(len(LINES)), "3,541"]


def search_of(table: Table, queries: list[str], folder: Path) -> list[tuple[str, list[int], str]]:
    """Type queries into the field above a table: the rows shown for each, and what is said."""
    document = Document(
        what="Audit",
        subject="",
        headline="",
        sentences=(),
        sections=(Section("all", "Ranking", (table,)),),
        created=None,
        version="",
        schema_name="",
    )
    script = """<script>
        const field = document.querySelector("input[type=search]"), lines = [];
        for (const query of QUERIES) {
          field.value = query;
          field.dispatchEvent(new Event("input"));
          const rows = [...document.querySelectorAll("tbody tr")];
          const shown = rows.flatMap((row, index) => (row.hidden ? [] : [index]));
          lines.push([query, shown, document.querySelector("output").textContent]);
        }
        document.title = btoa(JSON.stringify(lines));
    </script></body>"""
    page = render_html(document)
    page = page.replace("Content-Security-Policy", "none")
    page = page.replace("</body>", script.replace("QUERIES", json.dumps(queries)))
    path = folder / "searched.html"
    path.write_text(page, encoding="utf-8")
    title = re.search(r"<title>(.+)</title>", browse(path, "--dump-dom").stdout)
    assert title is not None
    answers: list[tuple[str, list[int], str]] = json.loads(base64.b64decode(title[1]))
    return answers


def test_a_search_finds_what_a_name_leaves_out(tmp_path: Path) -> None:
    values = [f"{word * 9} of a long name" for word in ("alpha", "beta", "gamma", "delta")]
    text = f"region in {{{', '.join(values)}}}"
    brief = ("region in {alpha… and 3 others}",)
    rows = (Row((text, "1"), brief=brief), Row(("sex = Male", "2")))
    columns = (Column("Group", "name"), Column("Rate", "number"))
    table = Table("Ranking", columns, rows, searchable=True)
    found = {"deltadelta": [0], "male": [1], "alphaalpha male": []}
    answers = search_of(table, list(found), tmp_path)
    assert {query: shown for query, shown, _ in answers} == found


def test_report_can_be_printed(report: Path) -> None:
    target = report.with_suffix(".pdf")
    browse(report, f"--print-to-pdf={target}")

    assert target.read_bytes().startswith(b"%PDF")


@pytest.mark.skipif(shutil.which("pdftotext") is None, reason="poppler is not installed")
def test_the_first_page_on_paper_can_be_signed(tmp_path: Path) -> None:
    document = census_document()
    sentence = "Of many groups one has a difference that is not to be explained by chance alone, "
    sentences = [f"{sentence * 2} {place} of all." for place in range(14)]
    document["verdict"]["sentences"] = sentences
    [*_, last] = document["charts"]["features"]
    cells = [{**last["cells"][0], "label": f"value {place}"} for place in range(10)]
    document["charts"]["features"] += [
        {"feature": f"another {place}", "cells": cells} for place in range(10)
    ]
    page = AuditResult(as_summary(document)).to_html()
    path = tmp_path / "long.html"
    path.write_text(page, encoding="utf-8")
    browse(path, f"--print-to-pdf={path.with_suffix('.pdf')}")
    command = ["pdftotext", "-layout", "-l", "1", str(path.with_suffix(".pdf")), "-"]
    first = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    titles = dict(re.findall(r'<h2 id="([\w-]+)-heading">(.*?)</h2>', page))
    for part in ("rates", "differences", "unknown", "limits"):
        assert titles[part] in first
    assert "Signature" in first
    # Nothing is lost by that: all sentences and all features stand on the page, once.
    outline = Outline(page).text
    assert all(outline.count(one) == 1 for one in (" ".join(text.split()) for text in sentences))
    assert all(page.count(f'aria-label="Rates by another {place}"') == 1 for place in range(10))
