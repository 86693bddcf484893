"""The Markdown report of a comparison."""

from __future__ import annotations

import pytest
from comparison_documents import COMPARISONS, as_comparison

from testsgd.comparison import ComparisonResult


def rendered(name: str) -> str:
    return ComparisonResult.document.to_markdown(as_comparison(COMPARISONS[name]()))


@pytest.mark.parametrize("name", COMPARISONS)
def test_tables_are_whole_and_what_is_folded_is_closed(name: str) -> None:
    text = rendered(name)
    blocks = [block.splitlines() for block in text.split("\n\n") if block.startswith("| ")]
    for lines in blocks:
        widths = {line.replace("\\|", "").count("|") for line in lines}
        assert len(widths) == 1, lines
    assert text.count("<details>") == text.count("</details>") > 0
    assert text.startswith("## Methods compared: ")
    assert "\n\n\n" not in text


def test_every_method_and_its_figures_are_there() -> None:
    text = rendered("several")
    for title in ("testsgd", "Themis", "GerryFair's auditor", "DivExplorer"):
        assert f"What {title} found" in text
    assert "- **Causal discrimination score: 14.8%.** Share of generated rows" in text
    assert "- Changing only gender changes the decision for 10.1% of the people." in text
    assert "pip install 'testsgd\\[divexplorer\\]'" in text
    assert "### Findings in common" in text


def test_alone_there_is_nothing_in_common() -> None:
    assert "### Findings in common" not in rendered("audit alone")


def test_what_means_something_in_markdown_is_escaped() -> None:
    document = COMPARISONS["several"]()
    document["methods"][0]["findings"][0]["text"] = "a | b <i> *c*"
    text = ComparisonResult.document.to_markdown(as_comparison(document))

    assert "a \\| b &lt;i&gt; \\*c\\*" in text
