"""Groups that an audit found, with their complements, as expressions over fields of a person."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, TypeAlias, TypeVar

from pydantic import AfterValidator

from testsgd.data import MISSING
from testsgd.data.toml_document import ExactDocument, parse_toml, read_toml_text, validated
from testsgd.errors import ExpressionError, ParameterError, SpecificationError
from testsgd.expressions import parse, quoted, read_number
from testsgd.fairness.chosen_groups import first_of, in_given_order
from testsgd.fairness.conditioned_groups import ConditionedGroup, checked_groups
from testsgd.fairness.metric_properties import BY_METRIC
from testsgd.fairness.specification_text import commented, shortened
from testsgd.report.kinds import read_result
from testsgd.report.summaries import RuleSummary

COMPLEMENT = "everybody else"
"""What the complement of a group is called in a specification."""

_AUDIT, _METRICS = "testsgd.audit/2", "testsgd.metrics/1"
# In comments of a group whose difference may be chance.
_NOT_SIGNIFICANT = (
    "# Its difference is not statistically significant in this audit, so it may be chance.",
)
# How parameters call it that groups are compared with their complements.
_REST = "rest"


# With more labels a list of them says nothing to a reader.
_MOST_VALUES = 100
EventValue: TypeAlias = "str | int | float | bool"
D = TypeVar("D", bound=ExactDocument)


class _BothGroups(ExactDocument):
    """A group and its complement, as groups by expressions."""

    groups: Annotated[tuple[ConditionedGroup, ...], AfterValidator(checked_groups)]


@dataclass(frozen=True, kw_only=True)
class AuditedGroup:
    """A group of an audit with its complement, and what the audit knows of both."""

    audited: str  # What the data are called.
    text: str  # The rules as people write them.
    place: int  # From 1, of those that were asked for.
    total: int  # How many these are.
    inside: str  # An expression: who is in the group.
    outside: str  # An expression: who is in its complement.
    fields: tuple[str, ...]  # What the expressions are about.
    rows: str | None  # The expression of the rows that were audited; None if all were.
    favourable: str  # The label whose rate was compared.
    together: tuple[str, ...]  # The labels that it stands for, if these are several.
    other_labels: tuple[str, ...]  # All that are not favourable; empty if they are not known.
    metric: str
    # Above which a score or number that was given counted as favourable; None of labels.
    threshold: float | None
    # 1 minus the smallest ratio of selection rates, if ratios were compared.
    ratio_bound: float | None
    observed: bool  # Whether the rates are of the rows as they are, and not of generated ones.
    count_in: int  # Rows that the metric counts, in the group.
    count_out: int  # The same in its complement.
    # Rows in the group and in its complement, whatever their labels; None if that is not known.
    people: tuple[int, int] | None
    rate_in: float  # The metric in the group.
    rate_out: float  # The metric in its complement.
    significant: bool  # Whether its difference was statistically significant.
    numbers_missing: bool  # Whether rows of the audit lack a number that the group has a range of.

    def opening_lines(self, *, purpose: str) -> tuple[str, ...]:
        """Return comments that begin a specification: what the audit found, and in which rows."""
        of_all = f"Group {self.place} of {self.total}. " if self.total > 1 else ""
        only = () if self.rows is None else (f"# It looked only at rows with {self.rows_text}",)
        return (
            f"# {of_all}What an audit of {commented(self.audited)} found, {purpose} from now on:",
            f"# {commented(self.text)}",
            *only,
            *(() if self.significant else _NOT_SIGNIFICANT),
        )

    @property
    def tables(self) -> tuple[dict[str, str], dict[str, str]]:
        """The group and its complement, as tables of groups by expressions."""
        return (
            {"name": shortened(self.text), "when": self.inside},
            {"name": self._complement, "when": self.outside},
        )

    @property
    def _complement(self) -> str:
        """What the complement is called: after an audit of some rows only, it is among these."""
        return COMPLEMENT if self.rows is None else shortened(f"{COMPLEMENT} with {self.rows}")

    @property
    def fields_text(self) -> str:
        """The fields for a comment."""
        return commented(", ".join(self.fields))

    @property
    def rows_text(self) -> str:
        """The expression of the rows for a comment; empty if all were audited."""
        return commented(self.rows or "")

    def is_favourable(self, field: str) -> str:
        """Return the expression that a field has the label whose rate was compared."""
        return f"{field} {_among(map(quoted, self.together or (self.favourable,)))}"

    @property
    def values(self) -> tuple[tuple[EventValue, ...], tuple[EventValue, ...]] | None:
        """The favourable values of an event and all others, as texts, numbers and booleans.

        None if the others are not known, are too many to list, or may be written as favourable ones
        are.
        """
        favourable = _written(self.together or (self.favourable,))
        others = _written(self.other_labels)
        known = 0 < len(others) <= _MOST_VALUES and set(favourable).isdisjoint(others)
        return (favourable, others) if known else None

    @property
    def neither_text(self) -> str:
        """Who is neither in the group nor in its complement, as the beginning of a sentence.

        Empty if nobody of the data was.
        """
        who = [
            *(["outside of these rows"] if self.rows is not None else []),
            *(["whose number is missing"] if self.numbers_missing else []),
        ]
        return f"A person in neither group, {' or '.join(who)}," if who else ""


def audited_groups(
    source: str | Path, *, groups: int | None = None, preferred: Collection[str] = ()
) -> tuple[AuditedGroup, ...]:
    """Return groups of an audit of rows.

    They are the first distinct groups that it found. If groups were named, they are those with
    enough rows, in the order in which they were named.

    Parameters
    ----------
    source : str or path-like
        The JSON result of an audit of rows, or the path of the file that holds it.
    groups : int, optional
        How many groups at most; by default three that were found, or all that were named.
    preferred : collection of str
        Of an audit of several metrics the first of these is taken, or else the first of all.

    Returns
    -------
    tuple of AuditedGroup
        At least one.

    Raises
    ------
    ParameterError
        If it is no result of an audit of rows, or there is no group in it.
    ResultError
        If it cannot be read.

    Examples
    --------
    >>> import testsgd
    >>> audit = testsgd.audit(None, None, "demo")
    >>> first, *_ = audited_groups(audit.to_json())
    >>> first.place, first.metric, first.outside.startswith("not (")
    (1, 'selection_rate', True)
    """
    if groups is not None and groups < 1:
        raise ParameterError(
            f"{groups} groups are asked for", where="groups", remedy="give at least 1"
        )
    summary = read_result(source).summary
    where = str(source) if len(str(source)) < 200 else "the result"
    _check_is_of_rows(summary, where)
    metric = None
    if summary.schema_ == _METRICS:
        wanted = (one for one in summary.metrics if one.name in preferred)
        metric = next(wanted, summary.metrics[0])
    first = _chosen(summary, summary.groups if metric is None else metric.groups, groups)
    if not first:
        raise ParameterError(
            "no group was judged, so there is none to write a specification for",
            where=where,
            remedy="audit more rows, or name groups yourself",
        )
    return tuple(
        _checked_group(summary, metric, group, place, len(first), where)
        for place, group in enumerate(first, 1)
    )


def with_audited_groups(
    kind: type[D],
    specification: D | Mapping[str, Any] | str | Path,
    source: str | Path,
    *,
    read_from: tuple[str, ...],
) -> D:
    """Return a specification with the groups of an audit in place of its own.

    They are the first distinct group that it found, or the first that was named and has enough
    rows, and its complement. What is done with people in neither stays as it is specified.

    Parameters
    ----------
    kind : type
        Of the specification.
    specification : object of this type, mapping, str or path-like
        The object, its keys, or the TOML file that has them; it need not name groups.
    source : str or path-like
        As for :func:`audited_groups`.
    read_from : tuple of str
        The path of the key that says where a group is read from; groups by expressions need none.

    Returns
    -------
    object of this type

    Raises
    ------
    ParameterError, ResultError
        As for :func:`audited_groups`.
    SpecificationError
        If a key is wrong, or about a group of another name.
    """
    text, where = "", "specification"
    if isinstance(specification, ExactDocument):
        document = specification.model_dump(exclude_unset=True)
    elif isinstance(specification, Mapping):
        document = dict(specification)
    else:
        where = str(specification)
        text = read_toml_text(Path(specification), purpose=kind.purpose)
        document = parse_toml(text, where=where, exact=True)
    group, *_ = audited_groups(source, groups=1, preferred=tuple(BY_METRIC))
    former = document.get("groups")
    kept = {
        key: former[key] for key in ("unknown",) if isinstance(former, Mapping) and key in former
    }
    document["groups"] = {**kept, "by": list(group.tables)}
    return validated(kind, _without(document, read_from), text=text, where=where)


def _without(document: Any, path: tuple[str, ...]) -> Any:
    """Return a copy of a document without the key of a path."""
    if not isinstance(document, Mapping):
        return document
    first, *rest = path
    if not rest:
        return {key: value for key, value in document.items() if key != first}
    return {
        key: _without(value, tuple(rest)) if key == first else value
        for key, value in document.items()
    }


def _check_is_of_rows(summary: Any, where: str) -> None:
    is_audit = summary.schema_ in (_AUDIT, _METRICS)
    kind = getattr(summary.data, "kind", "rows") if is_audit else "rows"
    if is_audit and kind == "rows":
        return
    raise ParameterError(
        f"a document of {summary.schema_} about {kind} has no groups of rows"
        if is_audit
        else f"a document of {summary.schema_} is no audit",
        where=where,
        remedy="give the result.json of an audit of rows",
    )


def _chosen(summary: Any, found: Sequence[Any], groups: int | None) -> Sequence[Any]:
    """Return the groups that are asked for, of those that were found."""
    named = getattr(summary.parameters, "groups", ())
    if not named:
        return first_of([group for group in found if group.distinct], groups, named=False)
    decided = [group for group in found if group.decided]
    conditions = [conditions_of(group.rules)[0] for group in decided]
    return first_of(in_given_order(decided, conditions, named), groups, named=True)


def _checked_group(
    summary: Any, metric: Any, group: Any, place: int, total: int, where: str
) -> AuditedGroup:
    """Return a group of a result, or refuse it if its rules are no expression of people."""
    # A result that was changed by hand may have any rules.
    try:
        found = _group(summary, metric, group, place, total)
        validated(_BothGroups, {"groups": found.tables}, where=where)
    except (ExpressionError, SpecificationError) as error:
        what = error.what if isinstance(error, SpecificationError) else str(error)
        raise ParameterError(
            f"the group {shortened(group.text)!r} has rules that make no two groups: {what}",
            where=where,
            remedy="give the result as testsgd audit wrote it",
            group=group.text,
        ) from error
    return found


def _group(summary: Any, metric: Any, group: Any, place: int, total: int) -> AuditedGroup:
    rows = summary.parameters.rows
    inside, outside = conditions_of(group.rules, rows=rows)
    of_rows = () if rows is None else parse(rows).names
    label = getattr(summary.data, "label", None)
    favourable = getattr(label, "favourable", None)
    favourable = favourable or getattr(summary.data, "favourable", None) or "1"
    observed = True
    if metric is not None:
        name, count_in, rate_in = metric.name, group.counted, group.value
        count_out, rate_out = _rest_of(summary.parameters.reference, metric, group)
    else:
        name, count_in, count_out = summary.parameters.metric, group.n_in, group.n_out
        observed, rate_in, rate_out = _rates(summary, group)
    return AuditedGroup(
        audited=summary.data.name,
        text=group.text,
        place=place,
        total=total,
        inside=inside,
        outside=outside,
        fields=tuple(dict.fromkeys((*(rule.feature for rule in group.rules), *of_rows))),
        rows=rows,
        favourable=favourable,
        together=tuple(getattr(label, "together", ())),
        other_labels=tuple(getattr(label, "others", ())),
        metric=name,
        threshold=_threshold(summary),
        ratio_bound=_ratio_bound(summary, name),
        observed=observed,
        count_in=count_in,
        count_out=count_out,
        people=_people(summary, metric, group),
        rate_in=rate_in,
        rate_out=rate_out,
        significant=_is_significant(summary, group),
        numbers_missing=_numbers_missing(summary, group),
    )


def _threshold(summary: Any) -> float | None:
    """Return above what scores or numbers that were given counted as favourable, if they were."""
    if summary.schema_ != _METRICS or summary.predictions == "decisions":
        return None
    threshold: float | None = summary.threshold if summary.model is None else None
    return threshold


def _ratio_bound(summary: Any, metric: str) -> float | None:
    """Return how far below 1 a ratio of selection rates may be, where ratios were compared."""
    if getattr(summary.parameters, "measure", None) != "ratio" or metric != "selection_rate":
        return None
    least = summary.parameters.fail_below
    # Where no gate says otherwise, that of the four-fifths rule.
    return round(1 - (0.8 if least is None else least), 6)


def _people(summary: Any, metric: Any, group: Any) -> tuple[int, int] | None:
    """Return how many rows are in a group and in its complement, with any label."""
    # Rows without a number are in neither, and groups of a search may be of the other rows.
    if metric is None or group.in_search is not None or _numbers_missing(summary, group):
        return None
    return group.rows, summary.data.rows - group.rows


def _is_significant(summary: Any, group: Any) -> bool:
    """Return whether the difference of a group is significant, by the test of its audit."""
    if summary.schema_ == _METRICS:
        return bool(group.significant)
    if group.q_value is not None:
        return bool(group.q_value <= 1 - summary.guarantee.confidence)
    return bool(group.lower_confidence_bound)


def _numbers_missing(summary: Any, group: Any) -> bool:
    """Return whether some row lacks a number that a rule of the group has an interval of."""
    intervals = {rule.feature for rule in group.rules if rule.values is None}
    return any(
        feature.missing > 0 for feature in summary.data.features if feature.name in intervals
    )


def _rates(summary: Any, group: Any) -> tuple[bool, float, float]:
    """Return rates of the rows as they are, if these are known, or of the generated ones."""
    observed = summary.parameters.estimand == "observed"
    other = group.other
    if not observed and other is not None and None not in (other.rate_in, other.rate_out):
        return True, other.rate_in, other.rate_out
    return observed, group.rate_in, group.rate_out


def _rest_of(reference: str, metric: Any, group: Any) -> tuple[int, float]:
    """Return how many rows of the complement a metric counts, and its value there.

    A group that was not compared with its complement has that from the value of all rows.
    """
    if reference == _REST:
        return group.reference_counted, group.reference_value
    count = metric.counted - group.counted
    if count < 1:
        return 0, metric.overall
    rate = (metric.overall * metric.counted - group.value * group.counted) / count
    # Of weighted rows the counts are not those of the value.
    return count, min(max(rate, 0.0), 1.0) if metric.scale == "share" else rate


def conditions_of(rules: Sequence[RuleSummary], *, rows: str | None = None) -> tuple[str, str]:
    """Return the expressions of a group and of its complement, as an audit has both.

    Parameters
    ----------
    rules : sequence of RuleSummary
    rows : str, optional
        The expression of the rows that were audited; all other rows are in neither.

    Returns
    -------
    inside, outside : str
        The rows in which a number of an interval is missing are in neither.

    Examples
    --------
    >>> rule = RuleSummary(feature="age", low=40.0, high=60.0, text="40 <= age < 60")
    >>> conditions_of([rule])
    ('40 <= age < 60', 'not (40 <= age < 60) and age != missing')
    >>> conditions_of([rule], rows="sex = f")[0]
    '(sex = f) and 40 <= age < 60'
    """
    inside = " and ".join(map(_rule, rules))
    intervals = dict.fromkeys(rule.feature for rule in rules if rule.values is None)
    known = "".join(f" and {quoted(name)} != missing" for name in intervals)
    among = "" if rows is None else f"({rows}) and "
    return f"{among}{inside}", f"{among}not ({inside}){known}"


def _rule(rule: RuleSummary) -> str:
    name = quoted(rule.feature)
    if rule.values is not None:
        values = (value if value == MISSING else quoted(value) for value in rule.values)
        return f"{name} {_among(values)}"
    if rule.low is None:
        return f"{name} < {rule.high:.17g}"
    if rule.high is None:
        return f"{name} >= {rule.low:.17g}"
    return f"{rule.low:.17g} <= {name} < {rule.high:.17g}"


def _written(labels: Iterable[str]) -> tuple[EventValue, ...]:
    """Return how an event may write labels: as a text, and as the number or boolean that it is."""
    written: list[EventValue] = []
    for label in labels:
        number = read_number(label)
        if number is not None and math.isfinite(number):
            written.append(number)
        if label.lower() in ("true", "false"):
            written += [label.lower() == "true", label.lower()]
        written.append(label)
    # 1 and true are equal here, and of an event they are the same.
    return tuple(dict.fromkeys(written))


def _among(values: Iterable[str]) -> str:
    """Return the end of an expression that a field has one of some values, written as there."""
    texts = list(values)
    return f"= {texts[0]}" if len(texts) == 1 else f"in {{{', '.join(texts)}}}"
