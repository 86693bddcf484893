"""Which audit a command line asks for, by the data that it names, and its result."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from testsgd.auditing.parameters import AuditParameters
from testsgd.errors import ParameterError
from testsgd.metrics.parameters import MetricParameters
from testsgd.parameters import declared_parameters

if TYPE_CHECKING:
    from testsgd.auditing import AuditResult
    from testsgd.metrics import MetricsResult

    # Called with the class of the result and the name of the data, before all the work.
    Before: TypeAlias = Callable[[type[AuditResult] | type[MetricsResult], str], None]
    # Called with a phase's name, how much is done and how much there is.
    Progress: TypeAlias = Callable[[str, int, int], None]


@dataclass(frozen=True, kw_only=True)
class AskedAudit:
    """What a user asks for on the command line of ``testsgd audit``; None where it is not given."""

    address: str  # A data set of the catalogue, a description, a file, or rows elsewhere.
    files: tuple[str, ...]  # All files, where rows of one table are in several.
    data: Path | None  # The rows of a described data set.
    counts: str | None  # The column that says how many rows each line is.
    counted_description: str | None  # Of a file of counted rows.
    model: Any
    trust_pickle: bool
    predictions: str | None
    sensitive: tuple[str, ...]
    label: str | None
    encoding: str | None
    weights: str | None
    cluster: str | None
    favourable: Any
    outcome: str | None
    threshold: float | None
    limit: int | None
    terms: Path | None
    snippets: int
    nondeterministic: bool | int
    of_metrics: Mapping[str, Any]  # The options of an audit of metrics.
    parameters: Mapping[str, Any]  # Those of :class:`testsgd.auditing.AuditParameters`.
    needs_all_rows: bool  # Whether something else than the audit reads the file.

    @property
    def is_file_of_rows(self) -> bool:
        """Whether it is one file of rows without a description."""
        from testsgd.data import is_rows_file

        return self.data is None and is_rows_file(Path(self.address))

    def chosen(self) -> dict[str, Any]:
        """Return the keywords of an audit of a file, or of metrics, that are not left as they are.

        Either kind of audit has keywords that the other refuses.
        """
        draws = {"nondeterministic": self.nondeterministic}
        given = _not_left_out({**self.of_metrics, **self.parameters, **draws})
        if self.cluster is not None:
            given["clusters"] = self.cluster
        return given


def run_asked(
    asked: AskedAudit, *, before: Before, progress: Progress | None
) -> AuditResult | MetricsResult:
    """Return the result of the audit that a command line asks for.

    Parameters
    ----------
    asked : AskedAudit
        What is asked for.
    before : callable
        It is called with the class of the result and the name of the data before all the work.
    progress : callable or None
        Called now and then with a phase's name, how much is done and how much there is.

    Returns
    -------
    AuditResult or MetricsResult

    Raises
    ------
    TestSGDError
        If something about the input is wrong, or an option is for other data.
    """
    _check_no_folder(asked.address)
    if _is_counted(asked):
        return _audit_counted(asked, before=before)
    if asked.is_file_of_rows:
        return _audit_file(asked, before=before, progress=progress)
    check_no_options_of(
        "a file of rows that has no description",
        {
            "sensitive": asked.sensitive or None,
            "label": asked.label,
            "encoding": asked.encoding,
            "cluster": asked.cluster,
            "weights": None if asked.predictions is not None else asked.weights,
            "counts": asked.counts,
        },
    )
    if asked.predictions is None:
        return _audit_described_model(asked, before=before, progress=progress)
    if asked.model is not None:
        raise ParameterError(
            "both predictions and a model are given",
            where="--predictions",
            remedy="give one of them",
            name="predictions",
        )
    from testsgd.metrics import audit_described_predictions

    return audit_described_predictions(
        asked.address,
        asked.data,
        predictions=asked.predictions,
        favourable=asked.favourable,
        outcome=asked.outcome,
        threshold=asked.threshold,
        limit=asked.limit,
        progress=progress or False,
        before=before,
        **asked.chosen(),
    )


def check_no_options_of(data: str, given: Mapping[str, Any]) -> None:
    """Refuse options that are for other data than those that are audited.

    Parameters
    ----------
    data : str
        What the options are for.
    given : mapping of str to object
        The value of each option, by its name in Python; None if it is not given.

    Raises
    ------
    ParameterError
        If one is given.
    """
    for name, value in given.items():
        if value is not None:
            option = f"--{name.replace('_', '-')}"
            raise ParameterError(
                f"{option} is for {data}",
                where=option,
                remedy="give the file in place of the name, or leave the option out",
                name=name,
            )


def _check_no_folder(dataset: str) -> None:
    """Refuse a folder of files, which may be of anything."""
    from testsgd.data import catalogue

    if Path(dataset).is_dir() and dataset not in catalogue():
        raise ParameterError(
            f"{dataset} is a folder",
            where="data set",
            remedy=f"give a file, or several such as {dataset.rstrip('/')}/*.parquet",
            name=dataset,
        )


def _not_left_out(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parameters that are not left at their defaults, or with --as-paper all given."""
    if parameters.get("as_paper"):
        # They are those of the command line, and a default wins against the paper's setting, too.
        return {name: value for name, value in parameters.items() if value is not None}
    defaults = {name: item.default for name, item in declared_parameters(AuditParameters).items()}
    return {
        name: value
        for name, value in parameters.items()
        if value is not None and value is not False and value != defaults.get(name)
    }


def _is_counted(asked: AskedAudit) -> bool:
    """Return whether rows are counted where they are, or were counted before."""
    from testsgd.metrics import has_many_rows, is_elsewhere

    if asked.files or is_elsewhere(asked.address):
        return True
    if not asked.is_file_of_rows:
        return False
    if asked.counts is not None:
        return True
    # What takes the rows themselves.
    of_rows = (asked.model, asked.limit, asked.encoding)
    return (
        asked.predictions is not None
        and all(option is None for option in of_rows)
        and not asked.needs_all_rows
        and _can_be_counted(asked.chosen())
        and has_many_rows(asked.address)
    )


def _can_be_counted(chosen: Mapping[str, Any]) -> bool:
    """Return whether an audit with these options can be one of rows that are counted, not read."""
    # What takes the rows themselves.
    of_rows = {"rows", "holdout", "condition_on"}
    known = {*declared_parameters(MetricParameters), "weights", "metrics", "rule"}
    return chosen.keys() <= known - of_rows


def _audit_file(
    asked: AskedAudit, *, before: Before, progress: Progress | None
) -> AuditResult | MetricsResult:
    """Audit a file of rows without a description: its predictions, or a model's."""
    # Imported where it is called: most audits need no module of metrics.
    from testsgd.metrics import audit_file_of_model, audit_file_of_predictions

    if asked.predictions is not None and asked.model is None:
        return audit_file_of_predictions(
            asked.address,
            predictions=asked.predictions,
            sensitive_features=asked.sensitive,
            label=asked.label,
            encoding=asked.encoding,
            favourable=asked.favourable,
            outcome=asked.outcome,
            threshold=asked.threshold,
            limit=asked.limit,
            progress=progress or False,
            before=before,
            **asked.chosen(),
        )
    if asked.model is not None and asked.predictions is None:
        return audit_file_of_model(
            asked.address,
            model=asked.model,
            sensitive_features=asked.sensitive,
            label=asked.label,
            encoding=asked.encoding,
            favourable=asked.favourable,
            outcome=asked.outcome,
            threshold=asked.threshold,
            trust_pickle=asked.trust_pickle,
            limit=asked.limit,
            progress=progress or False,
            before=before,
            **asked.chosen(),
        )
    from testsgd.auditing import audit_file

    # There are neither predictions nor a model, or both, which is refused.
    return audit_file(
        asked.address,
        sensitive_features=asked.sensitive,
        predictions=asked.predictions,
        model=asked.model,
        label=asked.label,
        encoding=asked.encoding,
    )


def _audit_described_model(
    asked: AskedAudit, *, before: Before, progress: Progress | None
) -> AuditResult | MetricsResult:
    """Audit a model about rows or texts with a description, by selection rates or by metrics."""
    from testsgd.data import resolve_specification

    if any(value is not None for value in asked.of_metrics.values()):
        from testsgd.metrics import MetricsResult, audit_described_by_metrics

        before(MetricsResult, resolve_specification(asked.address).name)
        return audit_described_by_metrics(
            asked.model,
            asked.data,
            asked.address,
            favourable=asked.favourable,
            outcome=asked.outcome,
            threshold=asked.threshold,
            limit=asked.limit,
            trust_pickle=asked.trust_pickle,
            progress=progress or False,
            **asked.chosen(),
        )
    from testsgd.auditing import AuditResult, audit

    before(AuditResult, resolve_specification(asked.address).name)
    return audit(
        asked.model,
        asked.data,
        asked.address,
        favourable=asked.favourable,
        outcome=asked.outcome,
        threshold=0.5 if asked.threshold is None else asked.threshold,
        terms=asked.terms,
        snippets=asked.snippets,
        limit=asked.limit,
        trust_pickle=asked.trust_pickle,
        progress=progress or False,
        nondeterministic=asked.nondeterministic,
        **asked.parameters,
    )


def _audit_counted(asked: AskedAudit, *, before: Before) -> MetricsResult:
    """Audit rows that are counted or summed where they are, or were counted before."""
    if asked.predictions is None:
        raise _no_column_named("predictions")
    if not asked.sensitive and asked.counted_description is None:
        raise _no_column_named("sensitive")
    of_rows = {
        "limit": asked.limit,
        "model": asked.model,
        "data": asked.data,
        "cluster": asked.cluster,
    }
    for name, value in of_rows.items():
        if value is not None:
            raise ParameterError(
                f"--{name} {value} needs the rows themselves, and these are counted where they "
                "are, all of them, or were counted before",
                where=f"--{name}",
                remedy="leave it out, or give a file of the rows",
                name=name,
            )
    chosen = asked.chosen()
    if "rows" in chosen:
        raise ParameterError(
            "rows that are counted where they are cannot be chosen by an expression",
            where="--rows",
            remedy="leave it out, and count only these rows (WHERE in the query, or a view)",
            name="rows",
        )
    # It is handed on as the names of columns of weights.
    chosen.pop("weights", None)
    if asked.counts is None:
        return _audit_elsewhere(asked, chosen, predictions=asked.predictions, before=before)
    return _audit_counts(asked, chosen, predictions=asked.predictions, before=before)


def _no_column_named(name: str) -> ParameterError:
    return ParameterError(
        f"rows are counted by their {name}, and no column is named",
        where=f"--{name}",
        remedy=f"name the columns with --{name}",
        name=name,
    )


def _audit_elsewhere(
    asked: AskedAudit, chosen: Mapping[str, Any], *, predictions: str, before: Before
) -> MetricsResult:
    """Audit rows that are counted where they are: in files, or in a data base."""
    from testsgd.metrics import MetricsResult, audit_rows_elsewhere, open_elsewhere

    check_no_options_of("a file of rows that is read as text", {"encoding": asked.encoding})
    name = "data"
    if not asked.files:
        file = Path(asked.address.partition("?")[0]).name
        name = file.partition(".")[0].strip("*?[]-_") or name
    before(MetricsResult, name)
    columns = [predictions, *asked.sensitive, *filter(None, [asked.label, asked.weights])]
    return audit_rows_elsewhere(
        open_elsewhere(list(asked.files) or asked.address, columns=columns),
        predictions=predictions,
        sensitive_features=asked.sensitive,
        label=asked.label,
        weights=asked.weights,
        favourable=asked.favourable,
        outcome=asked.outcome,
        threshold=asked.threshold,
        name=name,
        **chosen,
    )


def _audit_counts(
    asked: AskedAudit, chosen: Mapping[str, Any], *, predictions: str, before: Before
) -> MetricsResult:
    """Audit a file of rows that were counted before, with a description of them or without."""
    from testsgd.data import read_frame, resolve_specification
    from testsgd.metrics import MetricsResult, audit_counts, audit_described_counts

    if asked.threshold is not None:
        from testsgd.models.answers import no_scores_given

        raise no_scores_given(asked.threshold)
    name = Path(asked.address).name.partition(".")[0]
    compare: Callable[..., MetricsResult] = audit_counts
    if asked.counted_description is not None:
        name = resolve_specification(asked.counted_description).name
        compare = partial(audit_described_counts, asked.counted_description)
    before(MetricsResult, name)
    return compare(
        read_frame(Path(asked.address), encoding=asked.encoding),
        predictions=predictions,
        sensitive_features=asked.sensitive,
        rows=asked.counts,
        label=asked.label,
        weight=asked.weights,
        weight_squared=None if asked.weights is None else f"{asked.weights}_squared",
        favourable=asked.favourable,
        outcome=asked.outcome,
        name=name,
        **chosen,
    )
