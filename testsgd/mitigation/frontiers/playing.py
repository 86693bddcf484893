"""Play with a model that can be fitted with weights: the models of a few rounds vote."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from testsgd._version import __version__
from testsgd.data import table_fingerprint
from testsgd.errors import ModelError, ParameterError
from testsgd.mitigation.blind_estimators import without_columns
from testsgd.mitigation.cross_fitted_play import FIT_NOTE, fit_on_one_thread
from testsgd.mitigation.frontier import (
    STRENGTHS,
    Original,
    PlayedPoint,
    Search,
    Searched,
    search_strengths,
)
from testsgd.mitigation.frontiers.candidates import Candidate
from testsgd.mitigation.frontiers.problem import Bools, FairModel, Places, Problem
from testsgd.mitigation.journal import Journal
from testsgd.models import Model
from testsgd.models.refitting import Refitter
from testsgd.models.refitting.estimators import EstimatorRefitter, seeded_clone

_ROUNDS = 6
_FOLDS = 3


@dataclass(frozen=True)
class RefittedModel:
    """A model that was fitted again, read as the original is."""

    problem: Problem
    refitter: Refitter[Any]
    model: Any  # What its answers are read by.
    kind: str

    @property
    def black_box(self) -> Model | None:
        """The model itself."""
        black_box: Model = self.model
        return black_box

    def decisions(self, places: Places) -> Bools:
        """Return whether each of some rows of the table gets the favourable label."""
        return self.problem.material.decisions(self.model, places)

    def write(self, folder: Path, about: Mapping[str, Any]) -> list[Path]:
        """Write it in the form of its kind, and its card."""
        return self.refitter.write(self.model, folder, about)


def play_candidates(
    problem: Problem,
    refitter: EstimatorRefitter,
    *,
    journal: Path | None,
    resume: bool,
    advance: Callable[[int, int], None],
) -> tuple[list[Candidate], Searched]:
    """Play with one strength after another; return the points, and what the search found.

    What was found is kept in the file `journal`; with `resume` it is taken from there. `advance` is
    called with how many strengths are done, and how many there are.
    """
    settings = problem.parameters
    table, places = problem.material.table, problem.seen
    favourable, other = refitter.label_values
    classes = np.array([other, favourable])
    frame = problem.frame(places).reset_index(drop=True)
    given = problem.loaded.model.given(frame).copy()  # type: ignore[attr-defined]  # not of networks
    sensitive = table.specification.sensitive
    estimator = seeded_clone(refitter.estimator, settings.seed)
    original = Original(estimator, given) if settings.blind else None
    if settings.blind:
        estimator = _blind(estimator, given, sensitive)
    labels = problem.favourable[places]
    with _errors_of_fits(problem):
        searched = search_strengths(
            estimator,
            given,
            frame,
            labels,
            classes,
            None,
            Search(
                sensitive=tuple(sensitive),
                budget=settings.budget,
                balanced_budget=settings.balanced_budget,
                strengths=STRENGTHS,
                rounds=_ROUNDS,
                folds=_FOLDS,
                min_rows=settings.min_share,
                max_rules=problem.depth,
                seed=settings.seed,
                jobs=_jobs(problem),
                objective=settings.objective,
            ),
            original=original,
            journal=Journal(journal, _about(problem, estimator), resume=resume),
            advance=advance,
            rates_of=lambda counted: problem.rates(places, counted=counted),
        )
    counted = searched.counted
    candidates = [
        Candidate(
            played.point,
            partial(_fitted, problem, refitter, estimator, given, played),
            places=places[counted],
            decisions=played.decisions[counted],
            before=searched.plain[counted],
        )
        for played in searched.played
    ]
    return candidates, searched


def _about(problem: Problem, estimator: Any) -> dict[str, Any]:
    """Return what identifies a play in a journal: data, labels, estimator and settings."""
    settings = asdict(problem.parameters)
    del settings["jobs"]
    return {
        "version": __version__,
        "settings": settings,
        "data": table_fingerprint(problem.material.table),
        "labels": hashlib.sha256(problem.favourable.tobytes()).hexdigest(),
        "estimator": repr(estimator),
    }


def _fitted(
    problem: Problem,
    refitter: EstimatorRefitter,
    estimator: Any,
    given: Any,
    played: PlayedPoint,
) -> FairModel:
    """Fit the models of a point to all rows that were seen."""
    favourable, other = refitter.label_values
    classes = np.array([other, favourable])
    with _errors_of_fits(problem):
        if len(played.examples) == 1:
            [(labels, weights)] = played.examples
            fitted = fit_on_one_thread(estimator, given, classes[labels.astype(np.intp)], weights)
            kind = "one refit with weights"
        else:
            fitted = _vote(estimator, given, classes, played.examples, jobs=_jobs(problem))
            kind = f"the majority of {len(played.examples)} refits with weights"
    return RefittedModel(problem, refitter, refitter.reading(fitted), kind)


@contextmanager
def _errors_of_fits(problem: Problem) -> Iterator[None]:
    """Raise errors of the estimator's own as errors of the model."""
    try:
        yield
    except Exception as error:
        if FIT_NOTE not in getattr(error, "__notes__", ()):
            raise
        raise ModelError(
            f"fitting it again with weights raised {type(error).__name__}: {error}",
            where=f"model {problem.loaded.model.name!r}",
            remedy="make its fit accept any weights, or use --method thresholds",
        ) from error


def _jobs(problem: Problem) -> int:
    """Return how many fits are made at the same time, as joblib counts."""
    jobs = problem.parameters.jobs
    return -1 if jobs is None else jobs


def _vote(
    estimator: Any, given: Any, classes: Any, examples: Sequence[tuple[Bools, Any]], *, jobs: int
) -> Any:
    """Return a fitted vote of scikit-learn's, whose file can be read without testsgd."""
    from sklearn.ensemble import VotingClassifier
    from sklearn.preprocessing import LabelEncoder
    from sklearn.utils.parallel import Parallel, delayed

    encoder = LabelEncoder().fit(classes)
    encoded = encoder.transform(classes)
    fitted = Parallel(n_jobs=jobs)(
        delayed(fit_on_one_thread)(estimator, given, encoded[labels.astype(np.intp)], weights)
        for labels, weights in examples
    )
    voters = [(f"model {number}", voter) for number, voter in enumerate(fitted, start=1)]
    vote = VotingClassifier(voters, voting="hard")
    vote.estimators_ = fitted
    vote.le_, vote.classes_ = encoder, encoder.classes_
    return vote


def _blind(estimator: Any, given: Any, sensitive: Sequence[str]) -> Any:
    """Return an estimator that is given all columns and leaves the sensitive ones out."""
    from sklearn.compose import make_column_transformer
    from sklearn.pipeline import make_pipeline

    seen = [name for name in sensitive if name in given.columns]
    if len(seen) == len(given.columns):
        raise ParameterError(
            "all features are sensitive, and none is left for the model",
            where="blind",
            remedy="leave it out",
        )
    leave_out = make_column_transformer(
        ("drop", seen), remainder="passthrough", verbose_feature_names_out=False
    ).set_output(transform="pandas")
    return make_pipeline(leave_out, without_columns(estimator, given, seen))
