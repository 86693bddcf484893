"""How an audit of metrics is laid out as a report."""

from __future__ import annotations

from collections.abc import Callable

from testsgd.auditing.report.layout import inferred_columns
from testsgd.auditing.report.provenance import data_facts
from testsgd.auditing.report.vocabulary import PredictionWords
from testsgd.auditing.report.wording import unjudged_sentences
from testsgd.metrics.report import wording
from testsgd.metrics.report.explanations import explanations
from testsgd.metrics.report.summary import (
    ComparedGroup,
    GroupByMetrics,
    MetricsSummary,
    MetricSummary,
)
from testsgd.report.blocks import (
    GATE_STANDINGS,
    Article,
    Block,
    Bullets,
    Cell,
    Document,
    Facts,
    Figure,
    KeyFigure,
    KeyFigures,
    Note,
    Only,
    Paragraph,
    Section,
    Status,
    Table,
    meaning_section,
)
from testsgd.report.charts import Mark, StripRow, Strips
from testsgd.report.formatting import (
    NOTHING,
    count,
    moment,
    number,
    plural,
    share,
    tick_points,
)
from testsgd.report.listing import Listed, listing
from testsgd.report.scales import linear_scale
from testsgd.report.summaries import origin, time_facts, version_facts

_STATUS_NAMES = {
    "reported": "Reported, no gate set",
    "gate_passed": "Gate passed",
    "gate_failed": "Gate failed",
    "not_enough_evidence": "Not enough evidence",
}
# Groups of each metric in its drawing.
_DRAWN = 8
_WORDS = PredictionWords("selection_rate")
# More metrics than these are folded away one by one: the table of all of them says most.
_OPEN_METRICS = 3


def metrics_layout(summary: MetricsSummary) -> Document:
    """Lay an audit of metrics out as a report; nothing is computed again."""
    status = _STATUS_NAMES[summary.verdict.status]
    subject = summary.data.title or summary.data.name
    several = len(summary.metrics) > 1
    return Document(
        what="Audit of metrics",
        subject=subject,
        heading=f"{status}: {subject}",
        status=Status(status, GATE_STANDINGS.get(summary.verdict.status, "")),
        headline=summary.verdict.headline,
        sentences=tuple(summary.verdict.sentences),
        listed=False,
        opening=(Paragraph(_definition(summary), "definition"), _figures(summary)),
        sections=(
            Section("metrics", "All metrics", (_all_metrics(summary),) if several else ()),
            Section(
                "each",
                "Metric by metric",
                tuple(_metric(metric, summary) for metric in summary.metrics),
                markdown="blocks",
                folded=len(summary.metrics) > _OPEN_METRICS,
                printed=len(summary.metrics) <= _OPEN_METRICS,
            ),
            Section(
                "groups",
                "Groups by metrics",
                _groups(summary) if several else (),
                folded=True,
                printed=False,
            ),
            Section("unknown", "Groups that could not be judged", _unknown(summary), "Not judged"),
            Section(
                "columns",
                "What the columns are",
                inferred_columns(summary.data),
                markdown="folded",
                folded=True,
            ),
            Section(
                "particulars",
                "Data and settings",
                _particulars(summary),
                markdown="folded",
                folded=True,
            ),
            meaning_section(_notes(summary)),
        ),
        **origin(summary),
        closing="The drawings are in the HTML report.",
    )


def _definition(summary: MetricsSummary) -> str:
    """Write what is compared, which decision is favourable, and whether rows have weights."""
    measure = summary.parameters.measure
    compared = wording.reference_words(summary.parameters.reference)
    how = "minus" if measure == "difference" else "over"
    label = summary.data.label.favourable
    decided = f" A decision is favourable if it is “{label}”." if label else ""
    limit = ""
    if summary.threshold is not None:
        limit = f" A prediction above {number(summary.threshold)} counts as favourable."
    weights = " Rows count by their weights." if summary.weighted else ""
    return (
        f"Every {measure} is the metric of a group {how} that of {compared}."
        f"{decided}{limit}{weights}"
    )


def _figures(summary: MetricsSummary) -> KeyFigures:
    figures = [
        KeyFigure("Rows in the file", count(summary.data.rows)),
        KeyFigure("Groups examined", count(summary.groups_compared)),
    ]
    figures += [
        KeyFigure(metric.title, wording.value_text(metric.overall, metric))
        for metric in summary.metrics[:4]
    ]
    return KeyFigures(tuple(figures))


def _all_metrics(summary: MetricsSummary) -> Table:
    """Return the table of the first group of each metric."""
    measure = summary.parameters.measure

    def first(metric: MetricSummary) -> Cell:
        group = wording.first_group(metric)
        if group is None:
            return Cell("none judged")
        sides = (
            f"{wording.value_text(group.value, metric)} against "
            f"{wording.value_text(group.reference_value, metric)}"
        )
        return Cell(group.text, under=(sides,))

    def effect(metric: MetricSummary) -> Cell:
        group = wording.first_group(metric)
        if group is None:
            return Cell(NOTHING)
        return Cell(
            wording.effect_text(group.effect, metric, measure),
            under=(wording.interval_text(group, metric, measure),),
            strong=group.significant,
        )

    columns: list[Listed[MetricSummary]] = [
        Listed("Metric", lambda metric: metric.title, "name"),
        Listed(
            "All groups",
            lambda metric: Cell(
                wording.value_text(metric.overall, metric),
                under=(f"of {plural(metric.counted, 'row')}",),
            ),
        ),
        Listed("First group", first, "text"),
        Listed(wording.effect_name(measure), effect),
        Listed(
            "Significant groups",
            lambda metric: f"{count(metric.significant)} of {count(metric.judged)}",
        ),
    ]
    return listing("The first group of each metric", summary.metrics, columns)


def _metric(metric: MetricSummary, summary: MetricsSummary) -> Article:
    """Show one metric: a drawing of its distinct groups, and the ranking."""
    key = f"metric-{metric.name}"
    title = metric.title
    if not metric.groups:
        fewest = plural(summary.parameters.min_rows, "row")
        about = f"No group and its reference have at least {fewest} that the metric counts."
        return Article(key, title, (Paragraph(about),), missing=True)
    # A rate is of the rows that its metric counts, a mean over them.
    of_rows = "over" if metric.scale == "number" else "of"
    about = (
        f"{wording.value_text(metric.overall, metric)} {of_rows} the "
        f"{plural(metric.counted, 'row')} that it counts. Of "
        f"{plural(metric.judged, 'judged group')} "
        f"{count(metric.significant) if metric.significant else 'none'} differ significantly."
    )
    return Article(
        key,
        title,
        (
            Paragraph(about),
            *(Paragraph(sentence) for sentence in wording.finer_look(metric, summary)),
            *_drawing(metric, summary),
            _ranking(metric, summary),
            *explanations(metric, summary),
        ),
    )


def _drawing(metric: MetricSummary, summary: MetricsSummary) -> tuple[Block, ...]:
    """Draw the intervals of the first distinct groups."""
    measure = summary.parameters.measure
    nothing = 0.0 if measure == "difference" else 1.0
    drawn = [
        group
        for group in metric.groups
        if group.distinct and group.effect is not None and group.confidence_interval[1] is not None
    ][:_DRAWN]
    if not drawn:
        return ()
    rows = []
    ends = [nothing]
    for group in drawn:
        low, high = group.confidence_interval
        assert high is not None
        assert group.effect is not None
        ends += [low, high]
        text = wording.effect_text(group.effect, metric, measure)
        rows.append(
            StripRow(
                label=group.text,
                value=text,
                title=wording.compared_sentence(group, metric, summary),
                marks=(Mark(value=group.effect, interval=(low, high)),),
                line=(nothing, group.effect),
                side="less" if group.effect < nothing else "more",
            )
        )
    in_points = metric.scale != "number" and measure == "difference"
    write: Callable[[float], str] = tick_points if in_points else number
    scale = linear_scale(min(ends), max(ends), count=5, write=write)
    chart = Strips(parts=(("", tuple(rows)),), scale=scale, zero=measure == "difference")
    caption = (
        f"The first distinct groups: {measure}s with "
        f"{share(summary.parameters.confidence)} confidence intervals."
    )
    figure = Figure(f"{metric.title}: {measure}s of groups", (chart,), caption)
    return (Only("html", (figure,)),)


def _ranking(metric: MetricSummary, summary: MetricsSummary) -> Table:
    """Return the table of a metric's groups in the order of the ranking."""
    measure = summary.parameters.measure
    columns: list[Listed[ComparedGroup]] = [
        Listed("Rank", lambda group: str(group.rank)),
        Listed("Group", lambda group: group.text, "name"),
        Listed("Rows counted", lambda group: count(group.counted)),
        Listed("Value", lambda group: wording.value_text(group.value, metric)),
        Listed("Reference", lambda group: _reference_cell(group, metric)),
        Listed(
            wording.effect_name(measure),
            lambda group: wording.effect_text(group.effect, metric, measure),
            "strong",
        ),
        Listed("Confidence interval", lambda group: wording.interval_text(group, metric, measure)),
    ]
    return listing(
        f"{metric.title}: groups by rank",
        metric.groups,
        columns,
        row=lambda group: {"emphasis": group.distinct},
        fold=f"{plural(len(metric.groups), 'group')} by rank",
        open_rows=10,
        most=10,
    )


def _reference_cell(group: ComparedGroup, metric: MetricSummary) -> Cell:
    value = wording.value_text(group.reference_value, metric)
    fixed = {wording.reference_words(name) for name in ("rest", "overall")}
    return Cell(value, under=() if group.reference in fixed else (group.reference,))


def _groups(summary: MetricsSummary) -> tuple[Block, ...]:
    """Return the table of the first groups with all metrics beside each other."""
    measure = summary.parameters.measure

    def column(index: int, metric: MetricSummary) -> Listed[GroupByMetrics]:
        def cell(group: GroupByMetrics) -> Cell:
            item = group.metrics[index]
            effect = wording.effect_text(item.effect, metric, measure)
            return Cell(
                wording.value_text(item.value, metric),
                under=(effect if item.effect is not None else "not judged",),
                strong=item.significant,
            )

        return Listed(metric.title, cell)

    columns: list[Listed[GroupByMetrics]] = [
        Listed("Group", lambda group: group.text, "name"),
        Listed("Rows", lambda group: count(group.rows)),
        *(column(index, metric) for index, metric in enumerate(summary.metrics)),
    ]
    about = (
        f"The first groups of each metric by all metrics: the value, and below it the {measure}. "
        "What is statistically significant stands out."
    )
    return (
        Paragraph(about),
        listing("Groups by metrics", summary.groups, columns, open_rows=24),
    )


def _unknown(summary: MetricsSummary) -> tuple[Block, ...]:
    sentences = unjudged_sentences(summary.unjudged, _WORDS)
    if not sentences:
        return (Paragraph("There are none: every group that was looked at could be judged."),)
    return tuple(Paragraph(sentence) for sentence in sentences)


def _particulars(summary: MetricsSummary) -> tuple[Block, ...]:
    """List the particulars of the data, the predictions, the settings and the run."""
    parameters = summary.parameters
    guarantee = (
        "all groups and metrics at once"
        if parameters.guarantee == "simultaneous"
        else "one group and metric at a time"
    )
    notes: tuple[Block, ...] = ()
    if summary.data.notes:
        notes = (Bullets(tuple(summary.data.notes)),)
    return (
        data_facts(summary.data, _WORDS),
        *_model_facts(summary),
        *notes,
        Facts(
            "Settings",
            (
                ("Metrics", ", ".join(metric.name for metric in summary.metrics)),
                ("Predictions", summary.predictions),
                ("Reference", wording.reference_words(parameters.reference)),
                ("Compared by", parameters.measure),
                ("Fewest rows that count, on each side", count(parameters.min_rows)),
                ("Rules in a rule set, at most", count(parameters.depth)),
                ("Confidence", f"{number(parameters.confidence)}, {guarantee}"),
                ("Bootstrap samples", count(summary.replicates)),
                ("Bootstrap samples for stability", count(summary.stability_samples)),
                *(
                    (("Held out", share(parameters.holdout)),)
                    if parameters.holdout is not None
                    else ()
                ),
                *(
                    (("Strict", f"at most {share(parameters.max_unjudged)} not judged"),)
                    if parameters.strict
                    else ()
                ),
                ("Seed", str(parameters.seed)),
                *(
                    (f"Error rate of an interval: {metric.name}", f"{metric.error:.3g}")
                    for metric in summary.metrics
                ),
            ),
        ),
        Facts(
            "Run",
            (
                ("Written", moment(summary.created)),
                *time_facts(summary),
                *version_facts(summary),
            ),
        ),
    )


def _model_facts(summary: MetricsSummary) -> tuple[Block, ...]:
    """List the particulars of the model, if one was asked."""
    model = summary.model
    if model is None:
        return ()
    return (
        Facts(
            "Model",
            (
                ("Name", model.name),
                ("File (sha256)", model.file_sha256 or ""),
                ("Rows that it was asked about", count(model.queries)),
            ),
        ),
    )


def _notes(summary: MetricsSummary) -> tuple[Note, ...]:
    """Explain the numbers, in the order in which a reader needs them."""
    parameters = summary.parameters
    notes = [
        Note(
            "Metrics",
            "Each is a ratio of two sums over the rows. The selection rate counts favourable "
            "predictions; the true-positive rate those among the rows whose true label is "
            "favourable, the false-positive rate those among the others; precision the favourable "
            "true labels among favourable predictions. Equalized odds is the larger of the "
            "differences of the true- and the false-positive rate. The calibration error is the "
            "mean score minus the share of favourable true labels, the mean error the mean of "
            "prediction minus truth."
            + (
                " A missing number is a group of its own; an interval of a number is compared "
                "with rows in which it is known."
                if parameters.reference == "rest"
                else ""
            ),
        ),
        Note(
            "Intervals",
            f"They say where the {parameters.measure} may lie in the population that the rows are "
            f"a sample of, with {share(parameters.confidence)} confidence"
            + (
                ", for all groups and metrics at once: a bootstrap of the largest deviation of "
                "all of them says which error rate each interval may have. "
                if parameters.guarantee == "simultaneous"
                else ", each for itself. "
            )
            + "Shares of rows have intervals from the binomial distribution, by the effective "
            "sample size where rows have weights; means of other numbers have those of Student's "
            "t, which hold the better the more rows there are and the less skewed they are.",
        ),
        Note(
            "Ranking",
            "Groups are ranked by the smallest size that their interval allows, so that a large "
            "difference of few rows does not come first. Marked groups are different people: after "
            "the first those that differ significantly and share at most half of the rows of the "
            "smaller one with each marked before, by what the metric counts.",
        ),
        Note(
            "What makes up a difference",
            "What a rule adds is its Shapley value: what it adds to the difference of the values, "
            "on average over all orders in which the rules may be put together. "
            + (
                "It is for the difference from the value of the complement. "
                if parameters.reference == "rest"
                else "It is for the difference from the value of all rows. "
            )
            + "Features that go with a group are those in which its rows differ most from the "
            "others, in standard deviations; they are no causes."
            + (
                " Like with like is the comparison with others of the same mix of the named "
                "features; what went away may still be unfair, if the features themselves are."
                if parameters.condition_on
                else ""
            )
            + (
                " Found again says in which share of bootstrap samples the group, or one that "
                "overlaps it by at least "
                f"{share(parameters.overlap)}, is among the first ten groups, near copies left out."
                if summary.stability_samples
                else ""
            ),
        ),
        Note(
            "What a difference is not",
            "A difference says that groups are treated differently, not why. True labels may "
            "themselves be unfair, and a metric that takes them for the truth then says little.",
        ),
    ]
    if any(metric.finer is not None for metric in summary.metrics):
        notes.insert(
            3,
            Note(
                "Finer cuts",
                "After the search numbers are cut as finely as their rows allow, and the ranges "
                "between these cuts are compared, alone and with one rule over another feature. "
                "These intervals hold at once with a tenth of the error, shared among the metrics.",
            ),
        )
    if parameters.reference == "best":
        notes.insert(
            2,
            Note(
                "The best group",
                "It is chosen by the same rows. So the intervals of a group and of the best are "
                "combined end by end, which makes them wide.",
            ),
        )
    if parameters.measure == "ratio":
        notes.insert(
            2,
            Note(
                "Ratios",
                "A ratio below 0.8 of selection rates is what the four-fifths rule of the US "
                "Equal Employment Opportunity Commission calls evidence of adverse impact. The "
                "gate takes the smaller value over the larger, whichever side has it.",
            ),
        )
    return tuple(notes)
