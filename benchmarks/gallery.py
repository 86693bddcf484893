"""The README's table of the six real runs, from reports/*/result.json and datasets/*.toml."""

from __future__ import annotations

from pathlib import Path

from testsgd.api import AuditResult
from testsgd.data import load_specification
from testsgd.models import read_card
from testsgd.reporting import AuditSummary

_ROOT = Path(__file__).resolve().parent.parent
_NAMES = ("census", "bank", "credit", "compas", "crime", "law")
_BEGIN, _END = "<!-- gallery: python -m benchmarks.gallery -->", "<!-- gallery ends -->"


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


def main() -> None:
    """Put the table between its marks in the README."""
    readme = _ROOT / "README.md"
    text = readme.read_text(encoding="utf-8")
    before, _, rest = text.partition(_BEGIN)
    _, _, after = rest.partition(_END)
    readme.write_text(f"{before}{_BEGIN}\n{gallery()}\n{_END}{after}", encoding="utf-8")


if __name__ == "__main__":
    main()
