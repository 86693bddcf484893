"""The Markdown report, read back by a Markdown parser."""

from __future__ import annotations

import re

import pytest
from audit_documents import (
    as_summary,
    census_document,
    crime_document,
    empty_document,
    sampled_document,
)
from markdown_it import MarkdownIt
from text_documents import TEXT_DOCUMENTS

from testsgd.auditing import AuditResult
from testsgd.auditing.report.wording import findings
from testsgd.report.markdown import escape

PARSER = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
NASTY = [
    "<script>alert(1)</script>",
    "a|b",
    "*x*",
    "_x_",
    "`code`",
    "[link](http://example.org)",
    "![image](http://example.org/i.png)",
    "~~gone~~",
    "# heading",
    "- item",
    "1. item",
    "+ item",
    "---",
    "> quote",
    "&lt;",
    "back\\slash \\| \\",
    "two\nlines",
    "$x$ and $y$",
    "Köln · 東京",
    "   ",
]


def _text(html: str) -> str:
    from html import unescape

    return unescape(re.sub(r"<[^>]*>", "", html)).strip()


@pytest.mark.parametrize("name", NASTY)
def test_escaped_text_reads_as_it_was_in_a_paragraph(name):
    html = PARSER.render(escape(name))
    assert _text(html) == " ".join(name.split())
    assert not re.search(r"<(?!/?p>|!-- -->)", html)


@pytest.mark.parametrize("name", NASTY)
def test_escaped_text_reads_as_it_was_in_a_cell(name):
    html = PARSER.render(f"| a | b |\n| --- | --- |\n| {escape(name)} | 2 |")
    cells = re.findall("<td>(.*?)</td>", html)
    assert [_text(cell) for cell in cells] == [" ".join(name.split()), "2"]


@pytest.mark.parametrize(
    "name", ["@everyone", "fixes #12", "https://example.org", "www.example.org", "HTTP://x.org"]
)
def test_nobody_is_called_and_nothing_is_linked(name):
    written = escape(name)
    assert not re.search(r"(?i)[@#]\w|https?://|www\.", written.replace("&#", ""))
    assert _text(PARSER.render(written)) == name


@pytest.mark.parametrize("number", ["+32.0 points", "-5", "0.95", "14.2 s", "50.0%"])
def test_plain_numbers_stay_plain(number):
    assert escape(number) == number


def test_limit_counts_before_escaping():
    assert escape("*" * 50, 10) == "\\*" * 10 + "…"


@pytest.mark.parametrize(
    "make",
    [
        census_document,
        sampled_document,
        empty_document,
        crime_document,
        *TEXT_DOCUMENTS.values(),
    ],
)
def test_every_table_is_a_table(make):
    text = AuditResult.document.to_markdown(as_summary(make()))
    html = PARSER.render(text)
    rules = [line for line in text.splitlines() if re.fullmatch(r"\|( -{3}:? \|)+", line)]
    assert html.count("<table>") == len(rules) > 0
    for body in re.findall(r"<table>(.*?)</table>", html, re.DOTALL):
        widths = {len(re.findall("<t[hd][ >]", row)) for row in body.split("</tr>")[:-1]}
        assert len(widths) == 1
    assert html.count("<details>") == html.count("</details>")
    assert "None" not in text
    # A comment on GitHub holds 65,536 characters.
    assert len(text) < 60_000


def test_order_and_content(summary):
    text = AuditResult.document.to_markdown(summary)
    positions = [
        text.index(part)
        for part in (
            "## Reported, no gate set",
            "Rates by feature",
            "### Largest differences",
            "### Groups that could not be judged",
            "Ranking",
            "Data, model and settings",
            "What these numbers mean",
        )
    ]
    assert positions == sorted(positions)
    for group in findings(summary):
        assert f"| {group.rank} | {escape(group.text, 160)} |" in text


def test_ranking_is_limited(summary):
    text = AuditResult.document.to_markdown(summary)
    ranking = text[text.index("<summary>Ranking") : text.index("<summary>Data, model")]
    assert len(re.findall(r"^\| \d", ranking, re.MULTILINE)) == 20


def test_sampled_audit(sampled):
    text = AuditResult.document.to_markdown(sampled)
    assert text.startswith("## Gate failed: census-mlp on Census income")
    assert "± 3.1 points" in text
    assert "0.9025" in text
    assert "not decided" in text


def test_audit_without_groups(empty):
    text = AuditResult.document.to_markdown(empty)
    assert "Not enough evidence" in text
    assert "no group was large enough to be compared" in text
    assert "| Licence | not stated |" in text


def test_nothing_from_the_data_becomes_markup(document):
    evil = "<script>alert(1)</script> a|b *x*"
    for group in document["groups"]:
        group["text"] = evil
        for part in group["rules_alone"]:
            part["text"] = evil
    for group in document["undecided"]:
        group |= {"text": evil, "reason": evil}
    document["data"] |= {"title": evil, "notes": [evil], "licence": evil, "citation": evil}
    document["data"]["label"] = dict.fromkeys(("column", "favourable", "meaning"), evil)
    document["model"] |= {"name": evil, "card": {evil: evil}}
    document["verdict"] |= {"headline": evil, "sentences": [evil]}
    for feature in document["charts"]["features"]:
        feature["feature"] = evil
    html = PARSER.render(AuditResult.document.to_markdown(as_summary(document)))
    assert "<script" not in html
    assert "<em>x" not in html
    for body in re.findall(r"<table>(.*?)</table>", html, re.DOTALL):
        assert len({len(re.findall("<t[hd][ >]", row)) for row in body.split("</tr>")[:-1]}) == 1
