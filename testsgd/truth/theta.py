"""What the support threshold does: rule sets, best score and seconds for several thetas.

The search is the paper's, for rates over the neighbourhood, and it is done twice: with the bound on
both sides of a group, and on the inside only, as in the paper (TestSGD, section 5.2 and Table 6).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from testsgd import data
from testsgd.auditing import (
    AuditOptions,
    AuditParameters,
    Findings,
    audit_file,
    run_audit,
)
from testsgd.auditing import audit as run_whole_audit
from testsgd.auditing.text import run_text_audit
from testsgd.data import load_specification
from testsgd.errors import ParameterError
from testsgd.models import load_model, load_text_model
from testsgd.progress import Progress, about, step
from testsgd.truth.tables import TruthTable

SCHEMA = "testsgd.theta/1"
THETAS = (0.01, 0.05, 0.1, 0.2, 0.5)
# The paper's.
DATA_SETS = ("census", "bank", "credit", "compas", "law", "crime", "wiki", "imdb")


@dataclass(frozen=True)
class FirstGroup:
    """Group that comes first in a ranking."""

    group: str  # Its description.
    # The size of its difference; by lower bound and for texts, that of its terms' effect.
    size: float


@dataclass(frozen=True)
class ThetaSearch:
    """Result of a search with one threshold."""

    rule_sets: int  # Frequent ones, equal ones included.
    first_by_score: FirstGroup | None  # By the paper's ranking; None if there is no group.
    # By ours; None if there is no group, or if every lower bound of tables' groups is 0: then the
    # order is that of the scores, and none is certain to differ.
    first_by_lower_bound: FirstGroup | None
    seconds: float  # Wall-clock time.


@dataclass(frozen=True)
class ThetaRow:
    """Results of both searches for one data set and threshold."""

    data_set: str  # Its name.
    theta: float  # The threshold.
    both_sides: ThetaSearch  # An audit: both sides of a group have at least that share of the rows.
    # One row outside is enough. None for texts: a text is outside of nearly every group.
    inside_only: ThetaSearch | None


def study_data_set(
    name: str, thetas: Sequence[float] = THETAS, *, progress: Progress | None = None
) -> list[ThetaRow]:
    """Audit a data set of the catalogue, by its own network, with several thresholds.

    Tables are also searched with the bound on the inside of a group only; texts are not.

    Parameters
    ----------
    name : str
        One of the data sets of the catalogue, such as those of :data:`DATA_SETS`.
    thetas : sequence of float
        Thresholds, as shares of the rows.
    progress : callable, optional
        Called by each audit as it goes on.

    Returns
    -------
    list of ThetaRow
        One a threshold.

    Raises
    ------
    ParameterError
        If no threshold is given.
    """
    _check_thresholds(thetas)
    specification = load_specification(name)
    reading = f"reading {specification.name} and its model"
    if not isinstance(specification, data.TextSpecification):
        with step(progress, reading):
            model = load_model(None, specification)
            table = data.load_table(specification)

        def audit(parameters: AuditParameters) -> Findings:
            reporter = about(progress, _step_name(parameters))
            return run_audit(model, table, parameters, progress=reporter)

        return study(name, thetas, audit)
    with step(progress, reading):
        texts = data.load_texts(specification)
        terms = data.load_terms(specification.terms)
        network = load_text_model(None, specification)

    def audit_texts(parameters: AuditParameters) -> Findings:
        reporter = about(progress, _step_name(parameters))
        return run_text_audit(network, texts, terms, parameters, progress=reporter)

    return study(name, thetas, audit_texts, has_inside=False)


def study_own_data(
    dataset: str,
    thetas: Sequence[float] = THETAS,
    *,
    data_file: Path | None = None,
    model: Any = None,
    trust_pickle: bool = False,
    predictions: str | None = None,
    sensitive_features: Sequence[str] = (),
    label: str | None = None,
    encoding: str | None = None,
    favourable: Any = None,
    progress: Progress | None = None,
) -> list[ThetaRow]:
    """Audit one's own rows with several thresholds, on both sides of a group and inside only.

    Parameters
    ----------
    dataset : str
        A file of rows without a description; or a name of the catalogue or the TOML file of a
        description, with `data_file` or `model` in place of its own.
    thetas : sequence of float
        Thresholds, as shares of the rows.
    data_file : path-like, optional
        The rows of a described data set.
    model : object, optional
        A model as for :func:`testsgd.audit`.
    trust_pickle : bool
        Whether a pickled file may be read as the model, which runs the code that is in it.
    predictions : str, optional
        Of a file: the column with predictions, in place of a model. These have no neighbours, so
        rates are those of the rows as they are.
    sensitive_features : sequence of str
        Of a file: the columns that rules are about.
    label : str, optional
        Of a file: the column with the true labels.
    encoding : str, optional
        Of a file: as for :func:`testsgd.data.read_frame`.
    favourable : object, or list of these, optional
        The label whose rate is compared, or several together.
    progress : callable, optional
        Called by each audit as it goes on.

    Returns
    -------
    list of ThetaRow
        One a threshold. Texts have no search on the inside only.
    """
    _check_thresholds(thetas)
    of_file = data_file is None and data.is_rows_file(Path(dataset))
    texts = not of_file and isinstance(load_specification(dataset), data.TextSpecification)
    if not of_file:
        of_files = {
            "predictions": predictions,
            "sensitive": sensitive_features,
            "label": label,
            "encoding": encoding,
        }
        for option, value in of_files.items():
            if value:
                raise ParameterError(
                    f"{option} is for a file of rows that has no description",
                    where=option,
                    remedy="give the file in place of the name, or leave it out",
                )

    def audit(parameters: AuditParameters) -> Findings:
        chosen: AuditOptions = {
            "estimand": "observed" if predictions is not None else parameters.estimand,
            "theta": parameters.theta,
            "theta_side": parameters.theta_side,
            "stability": parameters.stability,
        }
        reporter = about(progress, _step_name(parameters))
        if of_file:
            result = audit_file(
                dataset,
                sensitive_features=sensitive_features,
                predictions=predictions,
                model=model,
                trust_pickle=trust_pickle,
                label=label,
                encoding=encoding,
                favourable=favourable,
                progress=reporter,
                **chosen,
            )
        else:
            result = run_whole_audit(
                model,
                data_file,
                dataset,
                favourable=favourable,
                trust_pickle=trust_pickle,
                progress=reporter or False,
                **chosen,
            )
        assert result.findings is not None
        return result.findings

    return study(Path(dataset).stem, thetas, audit, has_inside=not texts)


def _step_name(parameters: AuditParameters) -> str:
    """Return what progress calls the search with a threshold."""
    side = " inside" if parameters.theta_side == "inside" else ""
    return f"theta {parameters.theta:g}{side}"


def _check_thresholds(thetas: Sequence[float]) -> None:
    if not thetas:
        raise ParameterError(
            "nothing is named", where="thetas", remedy="give shares such as 0.05, with commas"
        )


def study(
    name: str,
    thetas: Sequence[float],
    audit: Callable[[AuditParameters], Findings],
    *,
    has_inside: bool = True,
) -> list[ThetaRow]:
    """Return the results of searches with several thresholds, one row a threshold.

    `audit` searches with given parameters: with the bound on both sides of a group, and where
    `has_inside` holds also on the inside only.
    """
    rows = []
    for theta in thetas:
        # Looking for the first groups in bootstrap samples is no part of the search.
        parameters = AuditParameters(estimand="neighbourhood", theta=theta, stability=0)
        both_sides = _first_of_audit(audit, parameters)
        inside_only = None
        if has_inside:
            inside_only = _first_of_audit(audit, replace(parameters, theta_side="inside"))
        rows.append(ThetaRow(name, theta, both_sides, inside_only))
    return rows


def theta_document(rows: Sequence[ThetaRow], *, times: bool = True) -> dict[str, Any]:
    """Return the rows of a study of theta as JSON-able data.

    Parameters
    ----------
    rows : sequence of ThetaRow
    times : bool
        Whether it tells the seconds of each search.

    Returns
    -------
    dict
    """
    written = [asdict(row) for row in rows]
    if not times:
        for row in written:
            for search in filter(None, (row["both_sides"], row["inside_only"])):
                del search["seconds"]
    return {"schema": SCHEMA, "rows": written}


def theta_tables(rows: Sequence[ThetaRow]) -> list[TruthTable]:
    """Return the table of a study of theta, a row a data set, threshold and search.

    Parameters
    ----------
    rows : sequence of ThetaRow

    Returns
    -------
    list of TruthTable
        A single one.
    """
    searches = ("rule sets", "best score", "first by lower bound", "seconds")
    cells = [
        [row.data_set, f"{row.theta:.0%}", sides, *_cells(search)]
        for row in rows
        for sides, search in (("both sides", row.both_sides), ("inside", row.inside_only))
        if search is not None
    ]
    return [
        TruthTable(
            "What the support threshold does",
            "Rule sets that are frequent, the largest difference of any, in per cent, that of the "
            "group which comes first by its lower bound (none is certain: all lower bounds are 0), "
            "and seconds of the search; with the bound on both sides of a group, and on the inside "
            "only.",
            ("data set", "theta", "bound on", *searches),
            cells,
            3,
        )
    ]


def _cells(search: ThetaSearch) -> list[str]:
    """Write a search as cells of a table."""

    def size(first: FirstGroup | None, otherwise: str) -> str:
        return otherwise if first is None else f"{first.size:.1%}"

    return [
        f"{search.rule_sets:,}",
        size(search.first_by_score, "none"),
        size(
            search.first_by_lower_bound,
            "none" if search.first_by_score is None else "none is certain",
        ),
        f"{search.seconds:.2f}",
    ]


def _first_of_audit(
    audit: Callable[[AuditParameters], Findings], parameters: AuditParameters
) -> ThetaSearch:
    """Return the number of rule sets, first groups and seconds of an audit."""
    started = time.perf_counter()
    findings = audit(parameters)
    seconds = time.perf_counter() - started
    frequent = findings.rule_sets.frequent
    score = findings.estimates.score
    first = findings.first
    if first is None:
        return ThetaSearch(frequent, None, None, seconds)
    largest = int(np.nanargmax(score))
    by_score = FirstGroup(findings.rule_set(largest).text, float(score[largest]))
    # Texts are ranked by the effects of their terms.
    by_effect = findings.parameters.ranked_by != "lower-bound"
    certain = by_effect or findings.guarantee.lower_bounds[first] > 0
    by_bound = FirstGroup(findings.rule_set(first).text, float(findings.sizes[first]))
    return ThetaSearch(
        rule_sets=frequent,
        first_by_score=by_score,
        first_by_lower_bound=by_bound if certain else None,
        seconds=seconds,
    )
