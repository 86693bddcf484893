"""The README's tables of the real runs, from reports/*/result.json and datasets/*.toml."""

from __future__ import annotations

from pathlib import Path

from testsgd.data import load_specification
from testsgd.models import read_card
from testsgd.reporting import AuditSummary
from testsgd.results import AuditResult

_ROOT = Path(__file__).resolve().parent.parent
_NAMES = ("census", "bank", "credit", "compas", "crime", "law")
_TEXTS = ("wiki", "imdb", "tweets")
_MARKS = (
    ("<!-- gallery: python -m benchmarks.gallery -->", "<!-- gallery ends -->"),
    ("<!-- text gallery: python -m benchmarks.gallery -->", "<!-- text gallery ends -->"),
)


def gallery() -> str:
    """Give the table as Markdown: our first group beside the paper's (TestSGD, Table 4)."""
    lines = [
        "| data set | our first group | score | paper's first group | score "
        "| test accuracy (paper's) |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    for name in _NAMES:
        summary = AuditResult.from_json(_ROOT / "reports" / name / "result.json").summary
        paper = load_specification(name).paper
        assert paper is not None
        assert paper.top_score is not None
        card = read_card(_ROOT / "models" / name)
        ours, score = _first(summary)
        lines.append(
            f"| [{name}](reports/{name}/report.md) | {ours} | {score} "
            f"| `{paper.top_group}` | {paper.top_score:.1%} "
            f"| {card['test accuracy']:.1%} ({paper.accuracy:.1%}) |"
        )
    return "\n".join(lines)


def _first(summary: AuditSummary) -> tuple[str, str]:
    """Give the first group and, where hardly anybody is outside it, the first that has both."""
    fewest = summary.parameters.theta * summary.data.rows
    top = summary.groups[0]
    if top.n_out >= fewest:
        return f"`{top.text}`", f"{top.score:.1%}"
    both = next(group for group in summary.groups if group.n_out >= fewest)
    return (
        f"`{top.text}` ({top.n_out} rows outside)<br>`{both.text}`",
        f"{top.score:.1%}<br>{both.score:.1%}",
    )


def text_gallery() -> str:
    """Give the table of the text models: their first group, and how much is the terms' own."""
    lines = [
        "| data set | our first group | score | the terms' own | paper's first group | score "
        "| test accuracy (paper's) |",
        "| --- | --- | --- | --- | --- | --- | --- |",
    ]
    for name in _TEXTS:
        summary = AuditResult.from_json(_ROOT / "reports" / name / "result.json").summary
        paper = load_specification(name).paper
        theirs = "", "", ""
        if paper is not None:
            assert paper.top_score is not None
            terms = paper.top_group.split(", ")
            named = " and ".join(f"“{term}”" for term in terms)
            theirs = named, f"{paper.top_score:.1%}", f" ({paper.accuracy:.1%})"
        top = summary.groups[0]
        own = top.counterfactual
        card = read_card(_ROOT / "models" / name)
        lines.append(
            f"| [{name}](reports/{name}/report.md) | {top.text} | {top.score:.1%} "
            f"| {f'{100 * own.difference:+.1f} points' if own else ''} "
            f"| {theirs[0]} | {theirs[1]} | {card['test accuracy']:.1%}{theirs[2]} |"
        )
    return "\n".join(lines)


def main() -> None:
    """Put the tables between their marks in the README."""
    readme = _ROOT / "README.md"
    text = readme.read_text(encoding="utf-8")
    for (begin, end), table in zip(_MARKS, (gallery(), text_gallery()), strict=True):
        before, _, rest = text.partition(begin)
        _, _, after = rest.partition(end)
        text = f"{before}{begin}\n{table}\n{end}{after}"
    readme.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
