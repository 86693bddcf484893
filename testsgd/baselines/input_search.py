"""Two searches for inputs that are discriminated against: at random, and led by gradients.

The second follows ADF in two phases. The global one moves rows of the table towards the decision
boundary: it takes the variant (other sensitive values) whose output is farthest, and moves every
other feature in the direction in which row and variant both come nearer to the boundary, so that
it comes to lie between them. The local one walks on from each hit by small steps of single
features, chosen the rarer the more the output depends on them, and keeps what is still
discriminated against. Many rows are moved at once. Rows to start from are drawn at random, where
ADF takes them from clusters in turn.

References
----------
Zhang, P., Wang, J., Sun, J., Dong, G., Wang, X., Wang, X., Dong, J. S. and Dai, T. (2020).
White-box fairness testing through adversarial sampling. ICSE 2020.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from testsgd.baselines.checking import Checked, Found, InputCheck
from testsgd.baselines.coding import Points, RowCoding
from testsgd.baselines.deadline import Deadline
from testsgd.baselines.gradients import step_effects
from testsgd.models import NetworkModel

# One in so many checks is of a row that is started from, which are moved together; and how often
# they are moved at most before new ones are drawn.
_CHECKS_A_START = 40
_STARTS = (20, 500)
_GLOBAL_STEPS = 10
# Steps of a walk from one hit.
_LOCAL_STEPS = 50


@dataclass(frozen=True)
class SearchOutcome:
    """What a search found.

    Attributes
    ----------
    found : int
        Distinct discriminatory inputs.
    checked : int
        Inputs that were checked.
    queries : int
        Rows the model was asked about; a gradient counts as one.
    finished : bool
        False: its time was up before its queries.
    """

    found: int
    checked: int
    queries: int
    finished: bool

    @property
    def per_thousand(self) -> float:
        """Distinct discriminatory inputs found per 1,000 queries."""
        return 1_000 * self.found / self.queries if self.queries else 0.0


def random_search(
    check: InputCheck,
    coding: RowCoding,
    *,
    queries: int,
    generator: np.random.Generator,
    deadline: Deadline,
) -> SearchOutcome:
    """Check inputs that are drawn uniformly from the domain.

    Parameters
    ----------
    check : InputCheck
        Checks inputs.
    coding : RowCoding
        Draws them.
    queries : int
        How many rows the model may be asked about; at least one input is checked.
    generator : numpy.random.Generator
        The source of randomness.
    deadline : Deadline
        When to stop.

    Returns
    -------
    SearchOutcome
    """
    found = Found(coding)
    wanted = max(1, queries // check.cost)
    done = asked = 0
    while done < wanted and not (done and deadline.passed):
        points = coding.uniform(generator, min(check.block, wanted - done))
        found.add(points[check.check(points).discriminatory])
        done += len(points)
        asked += len(points) * check.cost
    return SearchOutcome(len(found), done, asked, done >= wanted)


def guided_search(
    check: InputCheck,
    coding: RowCoding,
    model: NetworkModel,
    *,
    queries: int,
    generator: np.random.Generator,
    deadline: Deadline,
) -> SearchOutcome:
    """Search led by a network's gradients, see the module's text.

    Parameters
    ----------
    check : InputCheck
        Checks inputs.
    coding : RowCoding
        Of the table whose rows are started from.
    model : NetworkModel
        The network.
    queries : int
        How many rows the network may be asked about, gradients included.
    generator : numpy.random.Generator
        The source of randomness.
    deadline : Deadline
        When to stop.

    Returns
    -------
    SearchOutcome
    """
    return _GuidedSearch(check, coding, model, queries, generator, deadline).run()


class _GuidedSearch:
    """One run of :func:`guided_search`: what was found and what is left of the queries."""

    def __init__(
        self,
        check: InputCheck,
        coding: RowCoding,
        model: NetworkModel,
        queries: int,
        generator: np.random.Generator,
        deadline: Deadline,
    ) -> None:
        self._check = check
        self._coding = coding
        self._model = model
        self._left = queries
        self._generator = generator
        self._deadline = deadline
        self._found = Found(coding)
        self._checked = 0
        self._asked = 0
        self._starts = int(np.clip(self._affordable // _CHECKS_A_START, *_STARTS))

    def run(self) -> SearchOutcome:
        """Alternate between both phases until the queries are used up."""
        while self._affordable > 0 and not (self._checked and self._deadline.passed):
            hits, checks = self._approach()
            if len(hits):
                self._walk(hits, checks)
        return SearchOutcome(
            len(self._found), self._checked, self._asked, finished=self._affordable <= 0
        )

    @property
    def _affordable(self) -> int:
        """How many inputs can still be checked, with two gradients each."""
        return self._left // (self._check.cost + 2)

    def _approach(self) -> tuple[Points, Points]:
        """Move rows towards the boundary; give the hits, and of each its farthest variant."""
        rows = self._generator.integers(0, len(self._coding.table), self._starts)
        points = self._coding.points(rows.astype(np.intp))
        hits, variants = [points[:0]], [points[:0]]
        for _ in range(_GLOBAL_STEPS):
            points = points[: self._affordable]
            if not len(points) or (self._checked and self._deadline.passed):
                break
            checked = self._examine(points)
            hit = checked.discriminatory
            hits.append(points[hit])
            variants.append(checked.farthest[hit])
            points = points[~hit]
            if not len(points):
                break
            points = self._coding.moved(
                points, self._towards(points, checked.farthest[~hit], checked.own[~hit])
            )
        return np.concatenate(hits), np.concatenate(variants)

    def _towards(self, points: Points, variants: Points, own: Points) -> NDArray[np.int64]:
        """Give the direction in which each feature brings row and variant nearer the boundary."""
        wanted = np.where(own > 0, -1.0, 1.0)[:, None]
        up, down = self._effects(points)
        up_variant, down_variant = self._effects(variants)
        gains = [
            np.where((wanted * one > 0) & (wanted * two > 0), wanted * (one + two), 0.0)
            for one, two in ((up, up_variant), (down, down_variant))
        ]
        directions = np.where(gains[0] > gains[1], 1, np.where(gains[1] > 0, -1, 0))
        # Where no feature serves, ADF too takes a step at random.
        stuck = ~directions.any(axis=1)
        directions[stuck] = self._generator.choice([-1, 1], (int(stuck.sum()), points.shape[1]))
        directions[:, self._coding.sensitive] = 0
        return np.asarray(directions, dtype=np.int64)

    def _walk(self, points: Points, variants: Points) -> None:
        """Walk on from hits by steps of single features."""
        places = self._coding.insensitive
        if not len(places):
            return
        for _ in range(_LOCAL_STEPS):
            size = self._affordable
            points, variants = points[:size], variants[:size]
            if not len(points) or self._deadline.passed:
                return
            saliency = np.zeros((len(points), len(places)))
            for both in (points, variants):
                up, down = self._effects(both)
                saliency += np.maximum(np.abs(up), np.abs(down))[:, places]
            feature = places[self._choose(saliency)]
            directions = np.zeros(points.shape, dtype=np.int64)
            directions[np.arange(len(points)), feature] = self._generator.choice(
                [-1, 1], len(points)
            )
            tried = self._coding.moved(points, directions)
            checked = self._examine(tried)
            keep = checked.discriminatory
            points = np.where(keep[:, None], tried, points)
            variants = np.where(keep[:, None], checked.farthest, variants)

    def _choose(self, saliency: Points) -> NDArray[np.intp]:
        """Choose one feature a row, with a chance inverse to its saliency."""
        # A feature without any effect would be chosen always: it counts as the least of the rest.
        positive = np.where(saliency > 0, saliency, np.inf).min(axis=1, keepdims=True)
        positive = np.where(np.isfinite(positive), positive, 1.0)
        chances = 1.0 / np.maximum(saliency, positive)
        limits = np.cumsum(chances / chances.sum(axis=1, keepdims=True), axis=1)
        drawn = self._generator.random((len(saliency), 1))
        # Rounding may leave the last limit a little below 1.
        chosen = np.minimum((limits < drawn).sum(axis=1), saliency.shape[1] - 1)
        return np.asarray(chosen, dtype=np.intp)

    def _examine(self, points: Points) -> Checked:
        """Check inputs and count them."""
        checked = self._check.check(points)
        self._found.add(points[checked.discriminatory])
        self._checked += len(points)
        self._spend(len(points) * self._check.cost)
        return checked

    def _effects(self, points: Points) -> tuple[Points, Points]:
        self._spend(len(points))
        return step_effects(self._model, self._coding, points)

    def _spend(self, queries: int) -> None:
        self._asked += queries
        self._left -= queries
