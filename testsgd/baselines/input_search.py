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

from testsgd.baselines.baseline import Deadline
from testsgd.baselines.coding import Points, RowCoding
from testsgd.models import Model, NetworkModel
from testsgd.sampling import BATCH_ROWS

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Checked:
    """Which of n inputs are discriminatory, with their outputs and their farthest variants."""

    # Where some variant is decided otherwise than the input; shape (n,).
    discriminatory: NDArray[np.bool_]
    # For a network its output's sum, above 0 where the decision is in favour of its positive
    # label; for any other model 1 or 0; shape (n,).
    own: Floats
    farthest: Points  # The variant whose output is farthest from the input's; shape (n, features).


class InputCheck:
    """A check of inputs: a model is asked about them and their variants in sensitive features.

    `variants` are the combinations of sensitive values to try, in the order of
    ``coding.sensitive``; `queries` counts the rows the model was asked about.
    """

    def __init__(self, model: Model, coding: RowCoding, variants: Points) -> None:
        self._model = model
        self._coding = coding
        self._variants = variants
        self.queries = 0

    @property
    def cost(self) -> int:
        """Rows that the model is asked about to check one input."""
        return len(self._variants) + 1

    @property
    def block(self) -> int:
        """How many inputs are checked at once."""
        return max(1, BATCH_ROWS // self.cost)

    def check(self, points: Points) -> Checked:
        """Return which of the inputs (n, features) are discriminatory, with their outputs."""
        size = len(self._variants)
        count = len(points)
        discriminatory = np.zeros(count, dtype=bool)
        own = np.zeros(count)
        farthest = points.copy()
        for start in range(0, count, self.block):
            rows = slice(start, start + self.block)
            part = points[rows]
            varied = np.repeat(part, size, axis=0)
            varied[:, self._coding.sensitive] = np.tile(self._variants, (len(part), 1))
            # In one go, so that a network's sums of the same input are rounded alike.
            outputs = self._outputs(np.concatenate([part, varied]))
            base = outputs[: len(part)]
            others = outputs[len(part) :].reshape(len(part), size)
            own[rows] = base
            discriminatory[rows] = ((others > 0) != (base > 0)[:, None]).any(axis=1)
            choice = np.abs(others - base[:, None]).argmax(axis=1)
            farthest[rows] = varied.reshape(len(part), size, -1)[np.arange(len(part)), choice]
        return Checked(discriminatory, own, farthest)

    def _outputs(self, points: Points) -> Floats:
        """Return the outputs of the model for points (n, features); shape (n,)."""
        self.queries += len(points)
        frame = self._coding.frame(points)
        if isinstance(self._model, NetworkModel):
            sums = self._model.output_sums(self._model.encoding.encode(frame))
            return sums.astype(np.float64) - self._model.sigmoid.decision_threshold
        return self._model.decisions(frame).astype(np.float64)


class Found:
    """A set of discriminatory inputs, distinct in the features that are not sensitive."""

    def __init__(self, coding: RowCoding) -> None:
        self._places = coding.insensitive
        self._seen: set[bytes] = set()

    def __len__(self) -> int:
        return len(self._seen)

    def add(self, points: Points) -> None:
        """Add discriminatory inputs, shape (n, features); those that are known are not added."""
        # Equal numbers have equal bytes once -0.0 is 0.0; there are no payloads in our NaN.
        rows = np.ascontiguousarray(points[:, self._places] + 0.0)
        self._seen.update(row.tobytes() for row in rows)


def input_gradients(model: NetworkModel, inputs: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return the gradients of a network's last sum by its encoded inputs, shape (n, width).

    With layers of weights W_1, ..., W_k and the derivatives d_i of the activations between them,
    a gradient is W_1 diag(d_1) W_2 ... diag(d_(k-1)) W_k, computed from the last layer backwards.
    """
    slopes: list[NDArray[np.bool_] | None] = []
    sums = model.first_sums(inputs)
    for before, layer in zip(model.layers, model.layers[1:], strict=False):
        slopes.append(sums > 0 if before.activation == "relu" else None)
        values = np.maximum(sums, 0) if before.activation == "relu" else sums
        sums = values @ layer.weights + layer.bias
    gradients = np.ones((len(inputs), 1), dtype=np.float32)
    for layer, slope in zip(reversed(model.layers[1:]), reversed(slopes), strict=True):
        gradients = gradients @ layer.weights.T
        if slope is not None:
            gradients = gradients * slope
    return gradients @ model.layers[0].weights.T


def step_effects(model: NetworkModel, coding: RowCoding, points: Points) -> tuple[Floats, Floats]:
    """Return the change of a network's last sum by a step up or down of each feature.

    Both arrays have the shape of the points (n, features); the change is that to first order. It is
    0 for sensitive features and for those that the network does not take. For a category the
    step is to its neighbour in the declared order, so both of its inputs change.
    """
    inputs = model.encoding.encode(coding.frame(points))
    gradients = input_gradients(model, inputs)
    ones = np.ones(points.shape, dtype=np.int64)
    up, down = (
        _effects(model, coding, gradients, inputs, coding.moved(points, direction * ones))
        for direction in (1, -1)
    )
    return up, down


def _effects(
    model: NetworkModel,
    coding: RowCoding,
    gradients: NDArray[np.float32],
    inputs: NDArray[np.float32],
    moved: Points,
) -> Floats:
    """Return the gradients (n, width) times the change of each feature's inputs: (n, features)."""
    changes = gradients * (model.encoding.encode(coding.frame(moved)) - inputs)
    effects = np.zeros(moved.shape)
    for index in coding.insensitive:
        name = coding.names[index]
        if model.encoding.takes(name):
            start = model.encoding.offset(name)
            own = slice(start, start + model.encoding.of(name).width)
            effects[:, index] = changes[:, own].sum(axis=1)
    return effects


# The guided search starts from one row for each 40 checks that it can afford, within these bounds.
# The rows are moved together, at most this many times before new ones are drawn.
_CHECKS_A_START = 40
_STARTS = (20, 500)
_GLOBAL_STEPS = 10
# Steps of a walk from one hit.
_LOCAL_STEPS = 50


@dataclass(frozen=True)
class SearchOutcome:
    """The outcome of a search: how many inputs it found, checked and asked about."""

    found: int  # Distinct discriminatory inputs.
    checked: int  # Inputs that were checked.
    queries: int  # Rows the model was asked about; a gradient counts as one.
    finished: bool  # False: its time was up before its queries.

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
    """Search among inputs that are drawn uniformly from the domain."""
    discriminatory = Found(coding)
    wanted = max(1, queries // check.cost)
    done = asked = 0
    while done < wanted and not (done and deadline.passed):
        points = coding.uniform(generator, min(check.block, wanted - done))
        discriminatory.add(points[check.check(points).discriminatory])
        done += len(points)
        asked += len(points) * check.cost
    return SearchOutcome(
        found=len(discriminatory), checked=done, queries=asked, finished=done >= wanted
    )


def guided_search(
    check: InputCheck,
    coding: RowCoding,
    model: NetworkModel,
    *,
    queries: int,
    generator: np.random.Generator,
    deadline: Deadline,
) -> SearchOutcome:
    """Search by a network's gradients; the phases are described at the top of the module."""
    return _GuidedSearch(check, coding, model, queries, generator, deadline).run()


@dataclass
class _GuidedSearch:
    """One run of :func:`guided_search`: the inputs found and the number of queries left."""

    check: InputCheck
    coding: RowCoding
    model: NetworkModel
    left: int  # Queries.
    generator: np.random.Generator
    deadline: Deadline
    checked: int = 0
    asked: int = 0

    def __post_init__(self) -> None:
        self.found = Found(self.coding)
        self.starts = int(np.clip(self._affordable // _CHECKS_A_START, *_STARTS))

    def run(self) -> SearchOutcome:
        """Alternate between both phases until the queries are used up."""
        while self._affordable > 0 and not (self.checked and self.deadline.passed):
            hits, checks = self._approach()
            if len(hits):
                self._walk(hits, checks)
        return SearchOutcome(
            found=len(self.found),
            checked=self.checked,
            queries=self.asked,
            finished=self._affordable <= 0,
        )

    @property
    def _affordable(self) -> int:
        """How many inputs can still be checked, with two gradients each."""
        return self.left // (self.check.cost + 2)

    def _approach(self) -> tuple[Points, Points]:
        """Move rows towards the boundary; return the hits, and the farthest variant of each."""
        rows = self.generator.integers(0, len(self.coding.table), self.starts)
        points = self.coding.points(rows.astype(np.intp))
        hits, variants = [points[:0]], [points[:0]]
        for _ in range(_GLOBAL_STEPS):
            points = points[: self._affordable]
            if not len(points) or (self.checked and self.deadline.passed):
                break
            checked = self._examine(points)
            hit = checked.discriminatory
            hits.append(points[hit])
            variants.append(checked.farthest[hit])
            points = points[~hit]
            if not len(points):
                break
            points = self.coding.moved(
                points, self._towards(points, checked.farthest[~hit], checked.own[~hit])
            )
        return np.concatenate(hits), np.concatenate(variants)

    def _towards(self, points: Points, variants: Points, own: Points) -> NDArray[np.int64]:
        """Return the direction in which each feature brings row and variant nearer the boundary."""
        wanted = np.where(own > 0, -1.0, 1.0)[:, None]
        up, down = self._effects(points)
        up_variant, down_variant = self._effects(variants)
        gains = [
            np.where((wanted * row > 0) & (wanted * variant > 0), wanted * (row + variant), 0.0)
            for row, variant in ((up, up_variant), (down, down_variant))
        ]
        directions = np.where(gains[0] > gains[1], 1, np.where(gains[1] > 0, -1, 0))
        # Where no feature serves, ADF too takes a step at random.
        stuck = ~directions.any(axis=1)
        directions[stuck] = self.generator.choice([-1, 1], (int(stuck.sum()), points.shape[1]))
        directions[:, self.coding.sensitive] = 0
        return np.asarray(directions, dtype=np.int64)

    def _walk(self, points: Points, variants: Points) -> None:
        """Walk on from hits by steps of single features."""
        indices = self.coding.insensitive
        if not len(indices):
            return
        for _ in range(_LOCAL_STEPS):
            size = self._affordable
            points, variants = points[:size], variants[:size]
            if not len(points) or self.deadline.passed:
                return
            saliency = np.zeros((len(points), len(indices)))
            for both in (points, variants):
                up, down = self._effects(both)
                saliency += np.maximum(np.abs(up), np.abs(down))[:, indices]
            feature = indices[self._choose(saliency)]
            directions = np.zeros(points.shape, dtype=np.int64)
            directions[np.arange(len(points)), feature] = self.generator.choice(
                [-1, 1], len(points)
            )
            tried = self.coding.moved(points, directions)
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
        drawn = self.generator.random((len(saliency), 1))
        # Rounding may leave the last limit a little below 1.
        chosen = np.minimum((limits < drawn).sum(axis=1), saliency.shape[1] - 1)
        return np.asarray(chosen, dtype=np.intp)

    def _examine(self, points: Points) -> Checked:
        """Check inputs and count them."""
        checked = self.check.check(points)
        self.found.add(points[checked.discriminatory])
        self.checked += len(points)
        self._spend(len(points) * self.check.cost)
        return checked

    def _effects(self, points: Points) -> tuple[Points, Points]:
        self._spend(len(points))
        return step_effects(self.model, self.coding, points)

    def _spend(self, queries: int) -> None:
        self.asked += queries
        self.left -= queries
