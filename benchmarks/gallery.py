"""The tables of the real runs in README and docs, from the results in reports/.

``python -m benchmarks.gallery --render`` also renders every report in reports/ anew from its
result, as after a change of a layout; nothing is computed again.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from benchmarks.marked_page import fill_marked
from testsgd.auditing import AuditResult, AuditSummary
from testsgd.data import load_specification
from testsgd.mitigation import MitigationResult, MitigationSummary
from testsgd.mitigation.report.summary import RatesSummary
from testsgd.models import read_card
from testsgd.report.kinds import read_result
from testsgd.report.markdown import escape

_ROOT = Path(__file__).resolve().parent.parent
_NAMES = ("census", "bank", "credit", "compas", "crime", "law")
_TEXTS = ("wiki", "imdb", "tweets")
_MARKS = (
    ("<!-- gallery: python -m benchmarks.gallery -->", "<!-- gallery ends -->"),
    ("<!-- text gallery: python -m benchmarks.gallery -->", "<!-- text gallery ends -->"),
)

_MITIGATION_MARKS = (
    "<!-- mitigation gallery: python -m benchmarks.gallery -->",
    "<!-- mitigation gallery ends -->",
)

_FACTOR_MARKS = (
    "<!-- mitigation factors: python -m benchmarks.gallery -->",
    "<!-- mitigation factors end -->",
)

# TestSGD, Table 7: accuracy and score in percent, before and after.
_PAPER = {
    "census": ((86.1, 86.2), (20.2, 10.1)),
    "bank": ((91.6, 90.6), (38.2, 5.4)),
    "credit": ((100.0, 100.0), (21.9, 7.3)),
    "compas": ((79.0, 78.5), (62.4, 4.2)),
    "law": ((95.2, 95.1), (15.0, 7.5)),
    "crime": ((93.9, 98.1), (60.7, 51.4)),
    "wiki": ((93.9, 95.5), (6.5, 0.4)),
    "imdb": ((86.7, 84.0), (6.6, 3.3)),
}


def gallery() -> str:
    """Give the table as Markdown: our first group beside the paper's (TestSGD, Table 4)."""
    lines = [
        "| data set | our first group | score | paper's first group | score "
        "| test accuracy (paper's) |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    for name in _NAMES:
        result = _ROOT / "reports" / f"{name}-paper" / "result.json"
        summary = AuditResult.from_json(result).summary
        paper = load_specification(name).paper
        assert paper is not None
        assert paper.top_score is not None
        card = read_card(_ROOT / "models" / name)
        ours, score = _first(summary)
        lines.append(
            f"| [{name}](reports/{name}-paper/report.md) | {ours} | {score} "
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
        paper = load_specification(name).paper
        # What stands beside the paper's figures is by its settings.
        folder = name if paper is None else f"{name}-paper"
        summary = AuditResult.from_json(_ROOT / "reports" / folder / "result.json").summary
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
            f"| [{name}](reports/{folder}/report.md) | {top.text} | {top.score:.1%} "
            f"| {f'{100 * own.difference:+.1f} points' if own else ''} "
            f"| {theirs[0]} | {theirs[1]} | {card['test accuracy']:.1%}{theirs[2]} |"
        )
    return "\n".join(lines)


def mitigation_gallery() -> str:
    """Return the table of mitigations: the written models on held-out rows, beside the paper's.

    The paper's are from TestSGD, Table 7, on all rows.
    """
    lines = [
        "| data set | verdict | target | difference, held out | factor | as the rows are "
        "| own effect of the terms | accuracy, change | balanced accuracy | constant "
        "| levelling down | runs, held out | paper, all rows: score | factor | accuracy |",
        "| --- " * 15 + "|",
    ]
    names = (*_PAPER, "tweets")
    for name in names:
        folder = f"{name}-mitigated"
        file = _ROOT / "reports" / folder / "result.json"
        if not file.is_file():
            continue
        summary = MitigationResult.from_json(file).summary
        # Results of versions whose verdict was about something else have nothing to show.
        if summary.chosen_run is not None and summary.written is None:
            continue
        lines.append(
            f"| [{name}](../reports/{folder}/report.md) {_mitigation_cells(summary)} "
            f"{_paper_cells(name)}|"
        )
    return "\n".join(lines)


def factors() -> str:
    """Return the table of how many times smaller the target's difference is, by accuracy lost.

    Of all models that the runs tried: what would have been chosen with other budgets.
    """
    budgets = (0.25, 0.5, 1.0, 2.0, 4.0)
    heading = " | ".join(f"budget {budget:g}" for budget in budgets)
    lines = [
        f"| data set | {heading} | paper, all rows |",
        "| --- " * (len(budgets) + 2) + "|",
    ]
    for name, ((accuracy, accuracy_after), (score, score_after)) in _PAPER.items():
        file = _ROOT / "reports" / f"{name}-mitigated" / "result.json"
        if not file.is_file():
            continue
        summary = MitigationResult.from_json(file).summary
        [target] = summary.targets
        before = target.held_out_before.score
        chosen = {point.budget: point for point in summary.curve}
        cells = []
        for budget in budgets:
            point = chosen.get(budget)
            if point is None or before is None or not point.difference:
                cells.append("no model")
                continue
            factor = before / abs(point.difference)
            cells.append(f"{factor:.1f} ({point.accuracy_change:+.2f})")
        theirs = f"{score / score_after:.2g} ({accuracy_after - accuracy:+.1f})"
        lines.append(f"| {name} | {' | '.join(cells)} | {theirs} |")
    return "\n".join(lines)


def _mitigation_cells(summary: MitigationSummary) -> str:
    (target,), (spread,) = summary.targets, summary.ranges
    status = f"| {summary.verdict.status.replace('_', ' ')} ({summary.verdict.exit_code}) "
    if summary.written is None:
        before = _difference(target.held_out_before)
        accuracy = f"{summary.accuracy_before:.1%}"
        return f"{status}| {escape(target.text)} | {before}, kept | | | | {accuracy} | | | | "
    (one,), part = summary.written.targets, summary.written.held_out
    first, last = target.held_out_before, target.held_out_after
    effect = ""
    sizes = first.score, last.score
    if one.effect is not None and one.effect_before and one.effect_after:
        effect = (
            f"{_points(one.effect.before, one.effect_before.confidence_interval)} to "
            f"{_points(one.effect.after, one.effect_after.confidence_interval)}"
        )
        sizes = abs(one.effect.before or 0.0), abs(one.effect.after or 0.0)
    factor = f"{sizes[0] / sizes[1]:.1f}" if sizes[0] and sizes[1] else ""
    runs = spread.held_out_score
    accuracy = _points(part.accuracy.change, part.accuracy.confidence_interval, 2)
    return (
        f"{status}| {escape(target.text)} "
        f"| {_difference(first)} to "
        f"{_difference(last)} | {factor} "
        f"| {_difference(one.observed_before)} to "
        f"{_difference(one.observed_after)} | {effect} "
        f"| {part.accuracy.before:.1%} {accuracy} "
        f"| {part.balanced.before:.1%} to {part.balanced.after:.1%} | {part.constant:.1%} "
        f"| {'' if one.levelled_down is None else f'{one.levelled_down:.0%}'} "
        f"| {'' if runs is None else f'{runs.lowest:.1%} to {runs.highest:.1%}'} "
    )


def _difference(rates: RatesSummary) -> str:
    return _points(rates.difference, rates.confidence_interval)


def _points(value: float | None, ends: tuple[float, float] | None, digits: int = 1) -> str:
    """Write a figure in points with its interval."""
    if value is None:
        return "unknown"
    around = (
        "" if ends is None else f" ({100 * ends[0]:+.{digits}f} to {100 * ends[1]:+.{digits}f})"
    )
    return f"{100 * value:+.{digits}f}{around}"


def _paper_cells(name: str) -> str:
    if name not in _PAPER:
        return "| | | "
    (accuracy, accuracy_after), (score, score_after) = _PAPER[name]
    return (
        f"| {score}% to {score_after}% | {score / score_after:.2g} "
        f"| {accuracy}% {accuracy_after - accuracy:+.1f} "
    )


def render(folder: Path) -> None:
    """Write the HTML and the Markdown of every result in a folder of reports."""
    for result in sorted(folder.glob("*/result.json")):
        read_result(result).write(result.parent, ("html", "md"))


def main() -> None:
    """Put the tables between their marks in the README and in the docs."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.gallery")
    parser.add_argument("--render", action="store_true", help="render all reports anew, too")
    if parser.parse_args().render:
        render(_ROOT / "reports")
    readme = _ROOT / "README.md"
    text = readme.read_text(encoding="utf-8")
    for (begin, end), table in zip(_MARKS, (gallery(), text_gallery()), strict=True):
        before, _, rest = text.partition(begin)
        _, _, after = rest.partition(end)
        text = f"{before}{begin}\n{table}\n{end}{after}"
    readme.write_text(text, encoding="utf-8")
    page = _ROOT / "docs" / "mitigation.md"
    fill_marked(page, {_MITIGATION_MARKS: mitigation_gallery(), _FACTOR_MARKS: factors()})


if __name__ == "__main__":
    main()
