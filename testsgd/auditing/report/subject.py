"""What a summary says of data of each kind, and the numbers behind the charts."""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from testsgd.auditing.explaining import RuleSides, sides_of_rules
from testsgd.auditing.findings import Findings, TableFindings
from testsgd.auditing.metrics import SELECTION_RATE
from testsgd.auditing.report import summary as document
from testsgd.auditing.report.base_rates import base_rates_of_cells, count_labels
from testsgd.auditing.report.kinds import are_of_texts
from testsgd.auditing.report.summary import FEWEST_SHOWN, AuditSummary
from testsgd.data import Table, table_fingerprint
from testsgd.models import CheckedFunction, PredictionColumn
from testsgd.report.formatting import count, plural
from testsgd.rules import Rule, notes_on_values
from testsgd.scoring import Clusters, Side, independent_rows, rate_interval

if TYPE_CHECKING:
    from testsgd.auditing.text import TextFindings

# More points than this are one on top of the other; they are then counted by small cells.
_MOST_POINTS = 1500
_CELLS = 60
# Names of columns and labels that mostly are a harm. They change a sentence, and no figure.
_HARM = re.compile(
    r"(^|[^a-z])(den(ied|ial|y)|reject\w*|refus\w*|arrest\w*|risk|default\w*|fraud\w*)([^a-z]|$)"
)

Floats = NDArray[np.float64]


_KEPT = (
    "the model's answers are kept in a file, so it was not looked at whether it answers the same "
    "each time"
)


class RateGrid(NamedTuple):
    """Rates over the cells of one sensitive feature, or of several together."""

    features: tuple[str, ...]  # The features
    labels: tuple[Sequence[str], ...]  # The names of the cells of each
    # Rows, or texts that terms are put into, and rates, NaN where unknown, with an axis a feature
    rows: NDArray[np.int64]
    rates: NDArray[np.float64]


def data_summary(findings: Findings) -> document.DataSummary:
    """Describe the data that were audited; the features of texts are the categories of terms."""
    if are_of_texts(findings):
        return _summary_of_texts(findings)
    if not isinstance(findings, TableFindings):
        raise TypeError(f"findings of an unknown kind: {type(findings).__name__}")
    table = findings.table
    notes = notes_on_values(findings.contingency.axes)
    if table.labels is None and findings.parameters.metric == SELECTION_RATE:
        # Without a description no column is named, and the name in its place is a guess.
        lacking = (
            "no true labels are given"
            if table.inferred
            else f"the data have no label column {table.specification.label.column!r}"
        )
        notes.append(f"{lacking}; selection rates need none")
    if findings.changing is None:
        notes.append(_KEPT)
    existing = isinstance(findings.model.model, PredictionColumn)
    return table_summary(
        table,
        predictions_given=existing and not findings.queries,
        label=document.LabelSummary.of(table.specification.label, others=_other_labels(findings)),
        notes=notes,
    )


def _other_labels(findings: TableFindings) -> list[str]:
    """Return the labels of the data and of the model that are not favourable."""
    model = findings.model.model
    given = (*model.others, *model.unknown) if isinstance(model, CheckedFunction) else ()
    return list(dict.fromkeys((*findings.table.specification.label.others, *given)))


def table_summary(
    table: Table,
    *,
    predictions_given: bool,
    label: document.LabelSummary,
    notes: Sequence[str] = (),
) -> document.DataSummary:
    """Describe the rows of a table, with further notes about them."""
    dataset = table.specification.dataset
    units = table.specification.data
    return document.DataSummary.of(
        dataset,
        table,
        kind="rows",
        title=dataset.title or dataset.name,
        label=label,
        fingerprint=table_fingerprint(table),
        rows=len(table),
        predictions_given=predictions_given,
        independent=None if table.clusters is None else len(np.unique(table.clusters)),
        cluster=None if units is None else units.cluster,
        features=[
            document.FeatureSummary.of(feature, name=name, missing=table.missing[name])
            for name, feature in table.specification.features.items()
        ],
        inferred=[document.InferredColumnSummary.of(column) for column in table.inferred],
        notes=[*table.notes, *notes],
    )


def _summary_of_texts(findings: TextFindings) -> document.DataSummary:
    # Imported here: the report of a table loads nothing of texts.
    from testsgd.data.text import texts_fingerprint

    texts = findings.texts
    clusters = findings.clusters
    independent = len(clusters) if clusters.repeated else None
    present = findings.mentions.presence()
    notes = list(texts.notes)
    if independent is not None:
        notes.append(
            f"{count(clusters.repeated)} texts are equal or nearly equal to others, or belong "
            f"with them: the {count(len(texts))} texts count as {count(independent)} in intervals "
            "and p-values"
        )
    if generated := findings.generated:
        notes.append(
            f"{count(generated.texts)} texts were generated from templates "
            f"({count(generated.templates)} recognised): their units are template and filler, "
            f"{count(generated.units)} in all, each with all texts that differ by their terms alone"
        )
    if listing := int(findings.mentions.lists.any(axis=1).sum()):
        notes.append(
            f"{plural(listing, 'text')} {'lists' if listing == 1 else 'list'} several terms of a "
            "category, as in “X or Y”: with one term in place of both a text would make no sense, "
            "so no term of that category is put into them"
        )
    if texts.labels is None:
        notes.append("the texts have no labels; an audit needs none")
    if findings.changing is None:
        notes.append(_KEPT)
    dataset = texts.specification.dataset
    return document.DataSummary.of(
        dataset,
        texts,
        kind="texts",
        title=dataset.title or dataset.name,
        label=document.LabelSummary.of(texts.specification.label),
        fingerprint=texts_fingerprint(texts),
        rows=len(texts),
        predictions_given=False,
        independent=independent,
        features=[
            document.FeatureSummary(
                name=category.name,
                type="terms",
                sensitive=True,
                domain=", ".join(term.name for term in category.terms),
                missing=int((~present[:, index]).sum()),
            )
            for index, category in enumerate(findings.mentions.terms.categories)
        ],
        inferred=[],
        notes=notes,
    )


def rules_alone(findings: Findings, groups: Sequence[int]) -> dict[int, list[document.RuleAlone]]:
    """Look at each rule of some groups by itself, or at none of a group if that is not known."""
    if are_of_texts(findings):
        return {group: _rules_of_texts(findings, group) for group in groups}
    return _rules_of_table(findings, groups) if isinstance(findings, TableFindings) else {}


def _cell_rates(findings: Findings, features: int) -> list[RateGrid]:
    """Return a grid of rates for each combination of `features` sensitive features."""
    if are_of_texts(findings):
        return _rates_of_terms(findings, features)
    return _rates_of_cells(findings, features) if isinstance(findings, TableFindings) else []


def charts(findings: Findings) -> document.Charts:
    """Compute what the charts of a report show."""
    points, binned = _scatter(findings)
    return document.Charts(
        scatter=points,
        scatter_binned=binned,
        features=_feature_rates(findings),
        heat_maps=[
            document.HeatMap(
                row_feature=pair.features[0],
                column_feature=pair.features[1],
                row_labels=list(pair.labels[0]),
                column_labels=list(pair.labels[1]),
                rates=[[_rounded(rate) for rate in line] for line in pair.rates],
                counts=pair.rows.tolist(),
            )
            for pair in _cell_rates(findings, 2)
        ],
    )


def _feature_rates(findings: Findings) -> list[document.FeatureRates]:
    """Return the rates of each value of each feature, with what else is known of its rows."""
    if isinstance(findings, TableFindings):
        return _rates_of_values(findings)
    if not are_of_texts(findings):
        return []
    listed = {
        category.name: place for place, category in enumerate(findings.mentions.terms.categories)
    }
    features = []
    for item in _rates_of_terms(findings, 1):
        low, high = _term_intervals(findings, listed[item.features[0]])
        features.append(_rates_of_feature(item, low, high, np.full(len(low), np.nan)))
    return features


def _rates_of_feature(
    item: RateGrid, low: Floats, high: Floats, base: Floats
) -> document.FeatureRates:
    """Return the rates of one feature's values, with their intervals and base rates, (values,)."""
    cells = [
        document.CellRate(
            label=label,
            n=int(item.rows[index]),
            rate=_rounded(item.rates[index]),
            confidence_interval=_ends(low[index], high[index]),
            base_rate=_rounded(base[index]),
        )
        for index, label in enumerate(item.labels[0])
    ]
    return document.FeatureRates(feature=item.features[0], cells=cells)


def _rates_of_values(findings: TableFindings) -> list[document.FeatureRates]:
    """Return the rates of each value of a table's features, with intervals and base rates."""
    labels = count_labels(findings)
    features = []
    for axis, item in enumerate(_rates_of_cells(findings, 1)):
        low, high = _value_intervals(findings, axis)
        base = np.full(len(low), np.nan)
        if labels is not None:
            base = base_rates_of_cells(findings, labels, axis)
            base[item.rows < FEWEST_SHOWN] = np.nan
        features.append(_rates_of_feature(item, low, high, base))
    return features


def _value_intervals(findings: TableFindings, axis: int) -> tuple[Floats, Floats]:
    """Compute a confidence interval of the rate of each value of a feature, each by itself.

    Returns
    -------
    low, high : numpy.ndarray of float64, shape (values,)
        The ends; NaN where nothing was sampled.
    """
    contingency = findings.contingency
    rows = contingency.tally()
    sizes = rows
    if findings.table.clusters is not None:
        sizes = contingency.tally(Clusters.of(findings.table.clusters).size_of_row)
    counts = np.vstack([rows, sizes, findings.cell_samples, findings.cell_favourable])
    rows, sizes, samples, favourable = contingency.dense((axis,), counts)
    ends = np.full((2, len(rows)), np.nan)
    known = (samples > 0) & (rows >= FEWEST_SHOWN)
    side = Side(independent_rows(rows, sizes)[known], samples[known], favourable[known])
    error = np.full(int(known.sum()), 1 - findings.parameters.confidence)
    ends[:, known] = rate_interval(side, findings.estimates.margin_kind, error)
    return ends[0], ends[1]


def _term_intervals(findings: TextFindings, category: int) -> tuple[Floats, Floats]:
    """Compute a confidence interval of the rate of each term of a category, each by itself."""
    sets = findings.rule_sets.category_sets
    [first] = [(item.first, len(item)) for item in sets if tuple(item.categories) == (category,)]
    terms = np.arange(first[0], sum(first))
    side = findings.estimates.sides[0].take(terms)
    ends = np.full((2, len(terms)), np.nan)
    known = np.flatnonzero(side.samples > 0)
    error = np.full(len(known), 1 - findings.parameters.confidence)
    ends[:, known] = rate_interval(side.take(known), findings.estimates.margin_kind, error)
    return ends[0], ends[1]


def _ends(low: float, high: float) -> tuple[Any, Any] | None:
    """Round the ends of an interval as far as a chart shows them; None if they are NaN."""
    return None if np.isnan(low) else (_rounded(low), _rounded(high))


def _scatter(findings: Findings) -> tuple[list[document.ScatterCell], bool]:
    """Place all groups by support and score; return whether they are counted by small cells."""
    support = findings.estimates.rows_in[findings.ranking] / findings.rows
    score = findings.estimates.score[findings.ranking]
    if len(score) <= _MOST_POINTS:
        points = [(x, y, 1) for x, y in zip(support, score, strict=True)]
    else:
        counts, *edges = np.histogram2d(
            support, score, bins=_CELLS, range=[[0, 1], [0, float(score.max()) or 1.0]]
        )
        across, upwards = ((ends[:-1] + ends[1:]) / 2 for ends in edges)
        points = [(across[i], upwards[j], int(counts[i, j])) for i, j in np.argwhere(counts > 0)]
    cells = [
        document.ScatterCell(support=_rounded(x), score=_rounded(y), n=n) for x, y, n in points
    ]
    return cells, len(score) > _MOST_POINTS


def _rounded(value: float) -> Any:
    """Round a share or a rate as far as a chart shows it; None if it is NaN."""
    return None if np.isnan(value) else round(float(value), 4)


def _rules_of_table(
    findings: TableFindings, groups: Sequence[int]
) -> dict[int, list[document.RuleAlone]]:
    """Look at each rule by itself, or at none of a group if there are too few samples in common.

    Independent sampling keeps none: every group is judged by draws of its own.
    """
    rules_of_group = {group: findings.rule_set(group).rules for group in groups}
    rules = tuple(dict.fromkeys(rule for rules in rules_of_group.values() for rule in rules))
    sides = sides_of_rules(findings.table, findings.contingency, rules)
    alone = {
        rule: _rule_alone(findings, rule, side) for rule, side in zip(rules, sides, strict=True)
    }
    of_groups = {}
    for group, own in rules_of_group.items():
        known = [found for rule in own if (found := alone[rule]) is not None]
        of_groups[group] = known if len(known) == len(own) else []
    return of_groups


def _rule_alone(findings: TableFindings, rule: Rule, sides: RuleSides) -> document.RuleAlone | None:
    """Look at a rule by itself; None if no row in its group was sampled."""
    inside, outside = sides.inside, sides.outside
    samples = findings.cell_samples
    favourable = findings.cell_favourable
    asked_in, asked_out = int(samples[inside].sum()), int(samples[outside].sum())
    if asked_in == 0:
        return None
    rate_in = float(favourable[inside].sum() / asked_in)
    rate_out = float(favourable[outside].sum() / asked_out) if asked_out else None
    return document.RuleAlone(
        text=rule.text,
        n_in=int(findings.contingency.tally()[inside].sum()),
        rate_in=rate_in,
        rate_out=rate_out,
        difference=None if rate_out is None else rate_in - rate_out,
    )


def _rates_of_cells(findings: TableFindings, features: int) -> list[RateGrid]:
    """Return a grid of rates for each combination of `features` sensitive features.

    Rates of fewer than ``FEWEST_SHOWN`` rows are NaN.
    """
    contingency = findings.contingency
    grids = []
    quantities = np.vstack([contingency.tally(), findings.cell_samples, findings.cell_favourable])
    for subset in itertools.combinations(range(len(contingency.axes)), features):
        rows, samples, favourable = contingency.dense(subset, quantities)
        shown = (samples > 0) & (rows >= FEWEST_SHOWN)
        rates = np.where(shown, favourable / np.maximum(samples, 1), np.nan)
        axes = [contingency.axes[index] for index in subset]
        names = tuple(axis.feature for axis in axes)
        grids.append(RateGrid(names, tuple(axis.labels for axis in axes), rows, rates))
    return grids


def _rules_of_texts(findings: TextFindings, group: int) -> list[document.RuleAlone]:
    """Look at the groups of each term by itself; they are frequent if the group is."""
    rule_sets = findings.rule_sets
    # Of a split only the selected groups are known, not those of each term by itself.
    if not rule_sets.complete:
        return []
    sets = rule_sets.category_sets
    first = {item.categories[0]: item.first for item in sets if len(item.categories) == 1}
    categories = sets[rule_sets.set_of(group)].categories
    single = [
        first[category] + term
        for category, term in zip(categories, rule_sets.chosen(group), strict=True)
    ]
    estimates = findings.estimates.take(np.array(single, dtype=np.intp))
    if not estimates.sampled.all():
        return []
    return [
        document.RuleAlone(
            text=rule_sets.rule_set(of_term).text,
            n_in=int(estimates.rows_in[index]),
            rate_in=float(estimates.rate_in[index]),
            rate_out=float(estimates.rate_out[index]),
            difference=float(estimates.difference[index]),
        )
        for index, of_term in enumerate(single)
    ]


def _rates_of_terms(findings: TextFindings, features: int) -> list[RateGrid]:
    """Return the rates over the terms of each frequent set of `features` categories.

    The terms of one set are put into the same texts, so their number is the same. None if the
    findings hold chosen groups only, as those of a split do.
    """
    rule_sets = findings.rule_sets
    listed = findings.mentions.terms.categories
    if not rule_sets.complete:
        return []
    return [
        RateGrid(
            tuple(listed[index].name for index in item.categories),
            tuple([term.name for term in listed[index].terms] for index in item.categories),
            np.full(item.shape, len(item.rows)),
            findings.estimates.rate_in[item.first : item.first + len(item)].reshape(item.shape),
        )
        for item in rule_sets.category_sets
        if len(item.categories) == features
    ]


def counterfactual_summary(findings: Findings, group: int) -> document.CounterfactualSummary | None:
    """Write the counterfactual effect of the terms of a group, if seeds were compared."""
    if not are_of_texts(findings) or findings.counterfactual is None:
        return None
    effects = findings.counterfactual
    if effects.seeds[group] == 0:
        return None
    repeated = findings.clusters.repeated
    return document.CounterfactualSummary(
        seeds=int(effects.seeds[group]),
        rate_with=float(effects.rate_with[group]),
        rate_other=float(effects.rate_other[group]),
        difference=float(effects.difference[group]),
        confidence_interval=(float(effects.low[group]), float(effects.high[group])),
        effective_sample_size=float(effects.independent[group]) if repeated else None,
    )


def outcome_is_assumed(summary: AuditSummary) -> bool:
    """Return whether the label is taken for a benefit because no outcome is given.

    Data with a description have the description's outcome, which has a default.
    """
    return bool(summary.data.inferred) and not summary.data.label.outcome_given


def assumed_outcome(summary: AuditSummary) -> str:
    """Write that the label is taken for a benefit, and how to change it; for some names a hint."""
    label = summary.data.label.favourable
    how = '--outcome harm or neither (in Python outcome="harm")'
    name = _name_of_harm(summary)
    if name is None:
        return (
            f"“{label}” is taken for a benefit to a person, so that the side which gets it less "
            f"often is named first; if it is not, say so by {how}."
        )
    return (
        f"“{name}” sounds like a harm, but “{label}” is taken for a benefit to a person, so that "
        f"the side which gets it less often is named first; if it is not, say so by {how}."
    )


def _name_of_harm(summary: AuditSummary) -> str | None:
    """Return the name of the label, its column or the predictions that sounds like a harm."""
    label = summary.data.label
    names = [label.favourable, label.column]
    if summary.data.predictions_given:
        names.append(summary.model.name)
    return next((name for name in names if _HARM.search(name.lower())), None)
