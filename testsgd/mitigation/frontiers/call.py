"""One call for a frontier, of a model of rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Unpack

from testsgd.auditing import (
    AuditParameters,
    check_columns,
    unnamed_sensitive_features,
    with_known_cells,
)
from testsgd.auditing.inputs import find_model_and_table
from testsgd.auditing.undescribed import model_and_rows
from testsgd.data import (
    DatasetSpecification,
    Table,
    TextSpecification,
    check_count,
    read_frame,
    resolve_specification,
    table_fingerprint,
)
from testsgd.data.cells import shown_columns
from testsgd.data.classes import OTHER_COLUMN, classes_of_file
from testsgd.errors import ParameterError
from testsgd.mitigation.frontiers.options import FrontierOptions
from testsgd.mitigation.frontiers.parameters import FrontierParameters
from testsgd.mitigation.frontiers.problem import Problem
from testsgd.mitigation.frontiers.report.summarise import summarise_frontier
from testsgd.mitigation.frontiers.result import FrontierResult
from testsgd.mitigation.inputs import split_of
from testsgd.mitigation.journal import check_journal
from testsgd.mitigation.table_splits import TableMaterial
from testsgd.models import LoadedModel, Model
from testsgd.models.training_split import data_labels
from testsgd.parameters import parameters_of, show_parameters
from testsgd.progress import READING, Progress, shown_progress, step
from testsgd.scoring import Clusters


@show_parameters(FrontierParameters)
def fair_frontier(
    model: Any,
    data: Any = None,
    spec: Any = None,
    *,
    sensitive_features: Any = None,
    features: Mapping[str, Mapping[str, Any]] | None = None,
    favourable: Any = None,
    threshold: float = 0.5,
    limit: int | None = None,
    trust_pickle: bool = False,
    name: str = "data",
    writable: bool = False,
    journal: str | Path | None = None,
    resume: bool = False,
    progress: Progress | bool | None = None,
    **parameters: Unpack[FrontierOptions],
) -> FrontierResult:
    """Lower the worst difference in selection rate of all groups, and say what it costs.

    Several strengths are tried; each gives a point of a frontier, with its accuracy and the worst
    difference of all groups. The point that lowers the worst difference most among those that are
    expected to keep the budget of accuracy is chosen without the held-out rows, and judged on them.

    Parameters
    ----------
    model : estimator, str, path-like or None
        As for :func:`testsgd.audit`. What can be done with it depends on what it is: an estimator
        whose ``fit`` takes weights is fitted again, any model with scores gets thresholds.
    data : data frame, path-like or None
        The rows, with or without their labels, as for :func:`testsgd.audit`.
    spec : DatasetSpecification, mapping, str, path-like or array-like, optional
        What the data mean; or the true labels, as scikit-learn has them behind the rows. Then what
        the columns are is guessed.
    sensitive_features : sequence of str, or data frame of n rows, optional
        Without a description: the columns that groups are given by.
    features : mapping of str to mapping, optional
        Without a description: parts of it for some features, in place of what is guessed.
    favourable : str, optional
        The label whose rate is compared.
    threshold : float
        A score above it counts as the favourable label.
    limit : int, optional
        Work on a random sample of this number of rows.
    trust_pickle : bool
        Whether a pickled file may be read as the model, which runs the code that is in it.
    name : str
        Without a description: what the data are called in the report.
    writable : bool
        Raise an error at once if the model could not be written.
    journal : path-like, optional
        A file in which a play, which takes minutes, keeps what it found, for `resume`; it stays,
        and may be removed when the result is safe. It is of equal data, model and settings.
    resume : bool
        Go on from the journal after an interruption; the result is the same.
    progress : callable or bool, optional
        As for :func:`testsgd.audit`.
    **parameters
        Those of :class:`testsgd.mitigation.FrontierParameters`, such as ``max_accuracy_drop``.

    Returns
    -------
    FrontierResult
        The report with all points of the frontier, and the model of the chosen one.

    Raises
    ------
    TestSGDError
        A member of the family :mod:`testsgd.errors`, if something about the input is wrong: there
        are no labels, or the model has not what the method needs.

    References
    ----------
    Kearns, Neel, Roth and Wu, Preventing fairness gerrymandering, ICML 2018, for the play; Hardt,
    Price and Srebro, Equality of opportunity in supervised learning, NeurIPS 2016, for thresholds.

    Examples
    --------
    >>> import numpy as np, pandas as pd, testsgd
    >>> from sklearn.linear_model import LogisticRegression
    >>> source = np.random.default_rng(0)
    >>> X = pd.DataFrame({"woman": source.integers(0, 2, 4000), "points": source.normal(size=4000)})
    >>> y = np.where(X["points"] - 0.8 * X["woman"] > source.logistic(0, 0.4, 4000), "yes", "no")
    >>> estimator = LogisticRegression().fit(X, y)
    >>> result = testsgd.fair_frontier(
    ...     estimator,
    ...     X,
    ...     y,
    ...     sensitive_features=["woman"],
    ...     method="thresholds",
    ...     max_accuracy_drop=2,
    ... )
    >>> result.summary.point.worst.size < result.summary.worst_before.size
    True
    """
    settings = parameters_of(FrontierParameters, parameters, where="frontier")
    check_count("limit", limit, 1)
    check_journal(journal, resume=resume)
    with shown_progress(progress) as reporter:
        with step(reporter, READING):
            if isinstance(spec, (DatasetSpecification, TextSpecification, Mapping, str, Path)):
                loaded, table = _described(
                    model,
                    data,
                    spec,
                    favourable=favourable,
                    threshold=threshold,
                    limit=limit,
                    seed=settings.seed,
                    trust_pickle=trust_pickle,
                )
            else:
                if sensitive_features is None:
                    raise unnamed_sensitive_features(data)
                _, loaded, table = model_and_rows(
                    model,
                    data,
                    spec,
                    sensitive_features=sensitive_features,
                    favourable=favourable,
                    threshold=threshold,
                    features=features,
                    trust_pickle=trust_pickle,
                    name=name,
                )
                table = table.limited(limit, settings.seed)
            # Imported here: scikit-learn takes half a second, and `import testsgd` needs it not.
            from testsgd.mitigation.frontiers.run import run_frontier

        outcome = run_frontier(
            _problem(loaded, table, settings),
            writable=writable,
            journal=None if journal is None else Path(journal),
            resume=resume,
            progress=reporter,
        )
    return FrontierResult(summarise_frontier(outcome), outcome)


def frontier_of_file(
    path: str | Path,
    *,
    model: Any,
    sensitive_features: Sequence[str],
    label: str | None,
    encoding: str | None = None,
    **options: Any,
) -> FrontierResult:
    """Lower the worst difference of all groups in a file of rows without a description.

    Parameters
    ----------
    path : path-like
        A file as :func:`testsgd.data.read_frame` reads it.
    model : estimator, str or path-like
        As for :func:`fair_frontier`.
    sensitive_features : sequence of str
        Names of columns.
    label : str
        The column with the true labels.
    encoding : str, optional
        As for :func:`testsgd.data.read_frame`.
    **options
        Those of :func:`fair_frontier`.

    Returns
    -------
    FrontierResult

    Raises
    ------
    ParameterError
        If no model, label or sensitive feature is named, or a column is not in the file.
    TestSGDError
        As for :func:`fair_frontier`.
    """
    frame = read_frame(Path(path), encoding=encoding)
    columns = shown_columns(frame.columns)
    for what, given in (("model", model), ("label", label), ("sensitive", sensitive_features)):
        if not given:
            raise ParameterError(
                f"a mitigation of a file of rows needs --{what}, and it is not given",
                where=str(path),
                remedy=f"name it; the columns are {columns}",
                name=what,
            )
    check_columns(frame, {"label": label}, ())
    assert label is not None
    frame, model = with_known_cells(
        frame,
        Path(path),
        model,
        answers=[label],
        encoding=encoding,
        trust_pickle=options.get("trust_pickle", False),
    )
    where = f"{path}, column {label!r}"
    with classes_of_file(where, instead=OTHER_COLUMN):
        return fair_frontier(
            model,
            frame.drop(columns=[label]),
            frame[label],
            sensitive_features=list(sensitive_features),
            name=Path(path).name.partition(".")[0],
            **options,
        )


def _described(
    model: Any,
    data: Any,
    spec: Any,
    *,
    favourable: Any,
    threshold: float,
    limit: int | None,
    seed: int,
    trust_pickle: bool,
) -> tuple[LoadedModel[Model], Table]:
    """Return a model and its rows, of data that are described."""
    specification = resolve_specification(spec, favourable=favourable)
    if isinstance(specification, TextSpecification):
        raise ParameterError(
            f"{specification.name!r} has texts, and a frontier is of rows",
            where="method",
            remedy="write --method samples, or call testsgd.mitigate",
        )
    return find_model_and_table(
        model,
        data,
        specification,
        favourable_given=favourable is not None,
        threshold=threshold,
        limit=limit,
        seed=seed,
        trust_pickle=trust_pickle,
    )


def _problem(loaded: LoadedModel[Model], table: Table, settings: FrontierParameters) -> Problem:
    """Return the problem with its rows split, as the model's training did if its card says how."""
    labels = data_labels(table)
    units = None if table.clusters is None else Clusters.of(table.clusters)
    fingerprint = table_fingerprint(table)
    split = split_of(table, labels, units, fingerprint, loaded, seed=settings.seed, unseen=True)
    audit = AuditParameters(seed=settings.seed, jobs=settings.jobs)
    material = TableMaterial(table, labels.astype(bool), split, (), audit)
    return Problem(loaded=loaded, material=material, parameters=settings)
