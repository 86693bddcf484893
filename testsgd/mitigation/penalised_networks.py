"""Networks that go on learning with a penalty on the differences of all groups, ever stronger.

The loss is the cross-entropy plus a strength times the soft maximum of :mod:`.penalty`, in shares.
The training begins with the network as it is; for each strength it goes on a few epochs from the
network of the strength before. So all of them together cost hardly more than a few trainings.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from testsgd.errors import DataError, ModelError, ParameterError
from testsgd.mitigation.compared_rates import ComparedRates
from testsgd.mitigation.penalty import penalty_slopes, soft_decisions
from testsgd.mitigation.play import Floats
from testsgd.models.refitting.protocol import PenalisedTrainer, is_penalised_trainer

M = TypeVar("M")

# What a difference of 1 costs, in nats of a row's cross-entropy.
STRENGTHS = (
    0.0005,
    0.001,
    0.005,
    0.02,
    0.03,
    0.045,
    0.06,
    0.08,
    0.105,
    0.13,
    0.16,
    0.18,
    0.2,
    0.23,
    0.26,
    0.34,
    0.45,
)

# How sharply decisions turn at the threshold. Steeper, and rows that are decided surely have no
# slope any more; flatter, and what shrinks are differences in scores, not in decisions.
STEEPNESS = 2.0

# Groups whose differences are this much smaller have a weight smaller by the factor e.
TEMPERATURE = 0.01

# The weights of groups are found anew after this number of rows; of more groups than these, which
# takes longer, once for each pass over the rows.
RENEWED_AFTER = 1024
FEW_GROUPS = 100_000


@dataclass(frozen=True)
class PenalisedModel(Generic[M]):
    """A network that was trained with a penalty on all groups."""

    strength: float  # What a difference of 1 costs, in nats of a row's cross-entropy.
    model: M  # Answers rows as the refitter's stages do, and can be written by it.


class RunningPenalty:
    """The penalty's slopes for some rows after the others, each remembered as it was last seen."""

    def __init__(
        self, rates: ComparedRates, margins: Floats, *, steepness: float, temperature: float
    ) -> None:
        self.strength = 0.0
        self._rates = rates
        self._steepness, self._temperature = steepness, temperature
        self._decisions = soft_decisions(margins, steepness=steepness)
        often = len(rates) <= FEW_GROUPS
        self._renewed_after = min(RENEWED_AFTER, len(margins)) if often else len(margins)
        self._renew()

    def __call__(self, rows: NDArray[np.intp], margins: Floats) -> Floats:
        """Return the slopes by the margins of some rows, times the number of all; shape (rows,)."""
        steepness = self._steepness
        decisions = soft_decisions(margins, steepness=steepness)
        self._decisions[rows] = decisions
        if self._rows_since >= self._renewed_after:
            self._renew()
        self._rows_since += len(rows)
        by_margin = self._by_decision[rows] * (steepness * decisions * (1 - decisions))
        return np.asarray(self.strength * len(self._decisions) * by_margin)

    def _renew(self) -> None:
        self._by_decision = penalty_slopes(
            self._rates, self._decisions, temperature=self._temperature
        )
        self._rows_since = 0


def penalised_models(
    refitter: PenalisedTrainer[M] | Any,
    rates: ComparedRates,
    *,
    strengths: Sequence[float] = STRENGTHS,
    steepness: float = STEEPNESS,
    temperature: float = TEMPERATURE,
    seed: int,
) -> Iterator[PenalisedModel[M]]:
    """Train a network with a penalty on the differences of all groups, for each strength.

    Parameters
    ----------
    refitter : PenalisedTrainer
        What :func:`~testsgd.models.refitter_for` gives for a network of rows of testsgd's own or a
        compiled Keras model. It has the training examples; their targets are learnt.
    rates : ComparedRates
        The rates of these examples that are compared, row by row in the same order, with their
        groups. Whether a row counts for a rate is by its true label, not by its target.
    strengths : sequence of float
        What a difference of 1 costs, in nats of a row's cross-entropy; ascending.
    steepness : float
        As for :func:`~testsgd.mitigation.penalty.soft_decisions`.
    temperature : float
        As for :func:`~testsgd.mitigation.penalty.soft_maximum`.
    seed : int
        Fixes the training: the same seed gives the same networks.

    Yields
    ------
    PenalisedModel
        One for each strength, as soon as it is trained.

    Raises
    ------
    ParameterError
        If the strengths do not ascend from 0 or more, or another number is not above 0.
    DataError
        If the rates are those of other rows, or no group has enough rows.
    ModelError
        If the model is no network that can go on learning.

    References
    ----------
    Kingma and Ba, Adam: A Method for Stochastic Optimization, ICLR 2015. Boyd and Vandenberghe,
    Convex Optimization, section 3.1.5, for the soft maximum.

    Examples
    --------
    >>> from testsgd.mitigation.inputs import mitigation_inputs
    >>> from testsgd.models import refitter_for
    >>> from testsgd.rules import lay_out, sensitive_axes
    >>> inputs = mitigation_inputs(None, None, "demo")
    >>> material = inputs.material
    >>> rows = material.table.take(material.trained[:2000])
    >>> examples = material.examples(material.trained[:2000])
    >>> refitter = refitter_for(inputs.loaded, material.specification, examples, examples)
    >>> rates = ComparedRates.of(
    ...     "selection_rate",
    ...     lay_out(rows, sensitive_axes(rows)),
    ...     material.favourable[material.trained[:2000]],
    ...     np.ones(len(rows), dtype=bool),
    ...     min_rows=100,
    ... )
    >>> before = rates.differences(inputs.loaded.model.decisions(rows.frame))
    >>> trained = list(penalised_models(refitter, rates, strengths=[0.1, 0.3], seed=0))
    >>> after = rates.differences(trained[-1].model.decisions(rows.frame))
    >>> bool(abs(after).max() < abs(before).max())
    True
    """
    _check(refitter, rates, strengths, steepness=steepness, temperature=temperature)
    return _trained(
        refitter, rates, strengths, steepness=steepness, temperature=temperature, seed=seed
    )


def _trained(
    refitter: PenalisedTrainer[M],
    rates: ComparedRates,
    strengths: Sequence[float],
    *,
    steepness: float,
    temperature: float,
    seed: int,
) -> Iterator[PenalisedModel[M]]:
    running = RunningPenalty(
        rates, refitter.margins(), steepness=steepness, temperature=temperature
    )
    generator = np.random.default_rng(seed)
    model: M | None = None
    for strength in strengths:
        running.strength = strength
        model = refitter.go_on(model, running, generator)
        yield PenalisedModel(strength, model)


def _check(
    refitter: Any,
    rates: ComparedRates,
    strengths: Sequence[float],
    *,
    steepness: float,
    temperature: float,
) -> None:
    if not is_penalised_trainer(refitter):
        raise ModelError(
            "it cannot go on learning with a penalty on all groups",
            where="refitter",
            remedy="give a network of rows that testsgd trained, or a compiled Keras model",
        )
    ascending = bool(np.all(np.diff(strengths) > 0)) and np.isfinite(strengths).all()
    if not len(strengths) or not ascending or strengths[0] < 0:
        raise ParameterError(
            f"{list(strengths)} do not ascend from 0 or more",
            where="strengths",
            remedy="give numbers such as 0.05, 0.1, 0.2",
        )
    for name, value in (("steepness", steepness), ("temperature", temperature)):
        if not 0 < value < np.inf:
            raise ParameterError(
                f"{value!r} is not above 0", where=name, remedy="give a number above 0"
            )
    if not len(rates):
        raise DataError(
            "no group has enough rows on both sides",
            where="rates",
            remedy="ask for fewer rows, or give more data",
        )
    rows = len(rates.rates[0].groups.counted)
    if refitter.training_size != rows:
        raise DataError(
            f"they are of {rows} rows, and {refitter.training_size} are trained on",
            where="rates",
            remedy="find them in the rows that the model is trained on",
        )
