"""The Markdown report of a mitigation, read back by a Markdown parser."""

from __future__ import annotations

import re

import pytest
from markdown_it import MarkdownIt
from mitigation_documents import (
    MITIGATIONS,
    as_mitigation,
    no_candidate_document,
    one_target_document,
    several_targets_document,
    texts_document,
)

from testsgd.mitigation import MitigationResult

PARSER = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])


@pytest.mark.parametrize("name", MITIGATIONS)
def test_every_table_is_a_table(name: str) -> None:
    text = MitigationResult.document.to_markdown(as_mitigation(MITIGATIONS[name]()))
    html = PARSER.render(text)
    rules = [line for line in text.splitlines() if re.fullmatch(r"\|( -{3}:? \|)+", line)]
    assert html.count("<table>") == len(rules) > 0
    for body in re.findall(r"<table>(.*?)</table>", html, re.DOTALL):
        widths = {len(re.findall("<t[hd][ >]", row)) for row in body.split("</tr>")[:-1]}
        assert len(widths) == 1
    assert html.count("<details>") == html.count("</details>")
    assert not re.search(r"\bNone\b|\bnan\b|\N{EM DASH}", text)
    # A comment on GitHub holds 65,536 characters.
    assert len(text) < 40_000


def test_order_and_content() -> None:
    summary = as_mitigation(one_target_document())
    text = MitigationResult.document.to_markdown(summary)
    positions = [
        text.index(part)
        for part in (
            "## Mitigated: census-mlp on Census income",
            "Did it help?",
            "### Before and after",
            "### Other groups",
            "### Other methods",
            "Run by run",
            "Data, models and settings",
            "What these numbers mean",
        )
    ]
    assert positions == sorted(positions)
    for sentence in summary.verdict.sentences:
        assert sentence.replace("<", "&lt;").replace(">", "&gt;") in text
    assert "| **All rows, after** | **+8.1 points** | +7.1 to +9.1 | 23.1% | 15.0% |" in text
    assert "| **2** (kept) | **8.1** |" in text


def test_each_target_has_its_table() -> None:
    summary = as_mitigation(several_targets_document())
    text = MitigationResult.document.to_markdown(summary)
    assert text.count("Held-out rows, after") == len(summary.targets) == 4


def test_a_method_without_figures_says_why() -> None:
    text = MitigationResult.document.to_markdown(as_mitigation(texts_document()))
    (line,) = [line for line in text.splitlines() if line.startswith("| Exponentiated gradient")]
    assert "not installed" in line
    assert "Fairlearn is not installed: pip install fairlearn." in line


def test_a_model_that_was_kept_as_it_was() -> None:
    text = MitigationResult.document.to_markdown(as_mitigation(no_candidate_document()))
    assert text.startswith("## Original model kept: ")
    assert "Held-out rows, after" not in text
    assert "Retrained model" not in text


def test_nothing_from_the_data_becomes_markup() -> None:
    evil = "<script>alert(1)</script> a|b *x*"
    document = one_target_document()
    for part in (*document["targets"], *document["all_rows"]["worst"]):
        part["text"] = evil
    for one in document["comparisons"]:
        one |= {"name": evil, "about": evil}
    document["data"] |= {"title": evil, "licence": evil}
    document["split"] |= {"source": evil, "warning": evil}
    document["original"] |= {"name": evil, "card": {evil: evil}}
    document["refitted_as"] = evil
    html = PARSER.render(MitigationResult.document.to_markdown(as_mitigation(document)))
    assert "<script" not in html
    assert "<em>x" not in html
    for body in re.findall(r"<table>(.*?)</table>", html, re.DOTALL):
        assert len({len(re.findall("<t[hd][ >]", row)) for row in body.split("</tr>")[:-1]}) == 1
