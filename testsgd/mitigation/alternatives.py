"""What else one might do, on the same splits and with the same budget of accuracy."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from testsgd.auditing import Progress
from testsgd.errors import DataError, MissingExtraError, ModelError, ParameterError
from testsgd.mitigation.exponentiated_gradient import exponentiated_gradient
from testsgd.mitigation.journal import Journal
from testsgd.mitigation.judge import Judge
from testsgd.mitigation.material import Material
from testsgd.mitigation.mixture import Mixture
from testsgd.mitigation.outcome import Alternative, Standing
from testsgd.mitigation.parameters import MitigationParameters
from testsgd.mitigation.reweighing import reweighing_weights
from testsgd.mitigation.search import Search
from testsgd.models import Refitter

ALTERNATIVES = {
    "retraining without samples": "the same retraining without any samples: what it reaches is not "
    "due to samples",
    "reweighing": "the training data weighted so that the group and the label are independent "
    "(Kamiran and Calders); chosen among its stages as the samples' candidates are",
    "exponentiated-gradient": "Fairlearn's ExponentiatedGradient with demographic parity over the "
    "group: a mixture of at most ten trainings, one drawn by chance for each decision; figures are "
    "expected ones, of one run",
}


def resolve_alternatives(compare: str | Sequence[str]) -> tuple[str, ...]:
    """Read which other methods are wanted: names, ``"all"`` or ``"none"``.

    Raises
    ------
    ParameterError
        If a name is unknown.

    Examples
    --------
    >>> resolve_alternatives("none"), resolve_alternatives("reweighing")
    ((), ('reweighing',))
    """
    names = (
        [name.strip() for name in compare.split(",") if name.strip()]
        if isinstance(compare, str)
        else list(compare)
    )
    if names == ["all"]:
        return tuple(ALTERNATIVES)
    if names == ["none"]:
        return ()
    for name in names:
        if name not in ALTERNATIVES:
            raise ParameterError(
                f"the method {name!r} is unknown",
                where="compare",
                remedy=f"choose from {', '.join(ALTERNATIVES)}, or all, or none",
            )
    return tuple(names)


def try_alternatives(
    names: Sequence[str],
    refitter: Refitter[Any],
    material: Material,
    judge: Judge,
    stand: Callable[[Any], Standing],
    parameters: MitigationParameters,
    *,
    progress: Progress | None = None,
) -> tuple[Alternative, ...]:
    """Try other methods.

    Parameters
    ----------
    names : sequence of str
        Keys of :data:`ALTERNATIVES`.
    refitter, material, judge, parameters
        As in the mitigation itself.
    stand : callable
        Gives how a model does on the held-out rows and on all.
    progress : callable, optional
        Called with the phase, the methods done and their number.

    Returns
    -------
    tuple of Alternative
    """
    found = []
    for done, name in enumerate(names):
        if progress is not None:
            progress("other methods", done, len(names))
        try:
            if name == "exponentiated-gradient":
                found.append(_mixed(name, refitter, material, stand, parameters))
            else:
                found.append(_weighted(name, refitter, material, judge, stand, parameters))
        except MissingExtraError as error:
            found.append(Alternative(name, ALTERNATIVES[name], "not_installed", str(error)))
        except (DataError, ModelError) as error:
            found.append(Alternative(name, ALTERNATIVES[name], "not_possible", str(error)))
    if names and progress is not None:
        progress("other methods", len(names), len(names))
    return tuple(found)


def _weighted(
    name: str,
    refitter: Refitter[Any],
    material: Material,
    judge: Judge,
    stand: Callable[[Any], Standing],
    parameters: MitigationParameters,
) -> Alternative:
    """Retrain without samples, with the training data's weights or without, in every run."""
    weights = labels = None
    if name == "reweighing":
        training = material.trained
        labels = material.favourable[training]
        weights = reweighing_weights(
            _memberships(material)[training], material.favourable[training]
        )
    started = time.perf_counter()
    standings = []
    for run in range(parameters.runs):
        search = Search(
            refitter,
            judge,
            refuse=judge.one_sided,
            max_accuracy_drop=parameters.max_accuracy_drop,
            journal=Journal(None, {}),
            name=name,
        )
        found = search.only(weights=weights, labels=labels, seed=parameters.seed + run)
        if found.model is None:
            return Alternative(
                name,
                ALTERNATIVES[name],
                "not_possible",
                "no stage of it stays within the accuracy budget",
            )
        standings.append(stand(found.model))
    return _alternative(name, standings, time.perf_counter() - started)


def _mixed(
    name: str,
    refitter: Refitter[Any],
    material: Material,
    stand: Callable[[Any], Standing],
    parameters: MitigationParameters,
) -> Alternative:
    """Train a mixture, once."""
    if len(material.targets) > 1:
        return Alternative(
            name, ALTERNATIVES[name], "not_possible", "it is compared for one group at a time"
        )
    started = time.perf_counter()
    training = material.trained
    mixture = exponentiated_gradient(
        refitter,
        material.examples(training),
        material.members(material.targets[0])[training],
        seed=parameters.seed,
    )
    standings = [stand(model) for model in mixture.models]
    seconds = time.perf_counter() - started
    expected = mixture.expected([one.accuracy for one in standings])
    return Alternative(
        name,
        ALTERNATIVES[name],
        accuracies=(float("nan") if expected is None else expected,),
        scores=(_expected_score(mixture, [one.everywhere.difference for one in standings]),),
        held_out_scores=(_expected_score(mixture, [one.held_out.difference for one in standings]),),
        seconds=seconds,
    )


def _alternative(name: str, standings: Sequence[Standing], seconds: float) -> Alternative:
    return Alternative(
        name,
        ALTERNATIVES[name],
        accuracies=tuple(one.accuracy for one in standings),
        scores=tuple(one.everywhere.score for one in standings),
        held_out_scores=tuple(one.held_out.score for one in standings),
        seconds=seconds / len(standings),
    )


def _memberships(material: Material) -> np.ndarray[Any, np.dtype[np.int64]]:
    """Give each row or text a number for the combination of targets that it is in."""
    inside = np.column_stack([material.members(target) for target in material.targets])
    return np.unique(inside, axis=0, return_inverse=True)[1].reshape(-1)


def _expected_score(
    mixture: Mixture, differences: Sequence[np.ndarray[Any, np.dtype[np.float64]]]
) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Give the size of the expected difference of each target."""
    return np.abs(mixture.weights @ np.array(differences))
