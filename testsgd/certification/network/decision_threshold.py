"""Where the decision turns, and how near to it the rounding of the output's activation decides.

The last layer's sum s decides by ``sigmoid(s) > t``. In exact arithmetic that is ``s > logit(t)``.
A model computes the sigmoid in floating point, with unit roundoff u (2^-24 or 2^-53), and so may
answer otherwise near ``logit(t)``. How near is bounded here; s itself is taken as the model has it.

Let S(s) be the computed sigmoid. The program compares it with t', which is t or t rounded to the
model's precision: ``|t' - t| <= u t <= u``.

1. ``|S(s) - sigmoid(s)| <= 12 u``. Proof for a program that computes ``1 / (1 + exp(-s))`` with an
   exponential that is wrong by at most 4 units in the last place, so by a share of at most 8 u (the
   libraries in use promise less). Let ``x = exp(-s)``. The computed one is ``x (1 + a)``,
   ``|a| <= 8 u``, the denominator is ``(1 + x + a x)(1 + b)``, ``|b| <= u``, and the quotient is
   ``(1 + c) / ((1 + x)(1 + a x / (1 + x))(1 + b))``, ``|c| <= u``. As ``x / (1 + x) < 1``, it
   differs from ``1 / (1 + x)``, which is below 1, by a share of at most
   ``(1 + u) / ((1 - 8 u)(1 - u)) - 1 < 10.1 u``. If ``exp(-s)`` overflows, S(s) is
   0 and sigmoid(s) below 2^-127, which is below u; if it is taken for 0, S(s) is 1 and
   1 - sigmoid(s) below 2^-100.
   TensorFlow and ONNX Runtime compute float32 by rational functions instead. That they keep to the
   same bound, with room to spare, is no proof but measured: see the test of the turning point.
2. So the answer can be wrong only if ``|sigmoid(s) - t| <= 13 u``. Let ``E = 13 u``.
3. sigmoid is increasing, so ``sigmoid(s) > t + E`` for every ``s > logit(t + E)``, and
   ``sigmoid(s) < t - E`` for every ``s < logit(t - E)``. Outside of
   ``[logit(t - E), logit(t + E)]`` the answer is that of exact arithmetic. For t near 0 or 1 one of
   the two does not exist; then there is no bound, and such a threshold is refused.
4. The tolerance is the larger distance of the two from logit(t), computed in float64 with 2 E in
   place of E. This widens the interval, on each side, by at least E times the least derivative of
   logit, which is 4: by at least 52 u. It covers that ``t + 2 E`` is rounded to float64, which
   moves it by 2^-54 at most. log, log1p and the subtractions are wrong by at most 8 roundings of
   numbers below 37, as t and 1 - t are above 2^-53; so ``8 * 37 * 2^-53`` is added.

A model that ends in ``1 - sigmoid(z)`` is written with the sum ``s = -z``, as in exact arithmetic
``1 - sigmoid(z)`` is ``sigmoid(s)``. That z is negated rounds nothing. The model computes
``1 - S(z)``, and the subtraction rounds by at most u. So E is 14 u there; all else is the same.

For several classes, softmax makes ``exp(s_k - max)`` and divides all by one number. The difference
d from the largest sum is rounded once. The largest gives 1, or at least ``1 - 8 u``. Another class
can tie with it, or come before it, only if its quotient, rounded, is at least that of the largest:
``exp(d) (1 + 8 u)(1 + u) >= (1 - 8 u)(1 - u)``, so ``d >= -18.1 u``, so the two sums are not
further from each other than ``18.2 u``. 32 u is used.
"""

from __future__ import annotations

import math
from typing import Literal

import numpy as np

from testsgd.certification.network.feedforward import Decision, Precision
from testsgd.certification.network.parts import unit_roundoff
from testsgd.errors import ParameterError

# Of the proof above: twice 13 u, twice 14 u, and the 32 u of sums of several classes.
_SCORE_ERROR = 26
_COMPLEMENT_ERROR = 28
_SUM_DIFFERENCE = 32


def sigmoid_decision(
    threshold: float, labels: tuple[str, ...], precision: Precision, *, complement: bool = False
) -> Decision:
    """Decide by ``sigmoid(sum) > threshold``, between 0 and 1 and not too near to them.

    `complement`: the model computes it as ``1 - sigmoid(-sum)``.
    """
    error = (_COMPLEMENT_ERROR if complement else _SCORE_ERROR) * unit_roundoff(precision)
    if not error < threshold < 1 - error:
        raise ParameterError(
            f"{threshold} is not between 0 and 1, or too near to them for {precision}",
            where="threshold",
            remedy="give a score such as 0.5",
        )
    middle = _logit(threshold)
    slack = 8 * 37 * 2.0**-53
    tolerance = slack + max(_logit(threshold + error) - middle, middle - _logit(threshold - error))
    output: Literal["complement", "sigmoid"] = "complement" if complement else "sigmoid"
    return Decision("threshold", middle, tolerance, labels, output, threshold)


def softmax_decision(labels: tuple[str, ...], precision: Precision) -> Decision:
    """Decide for the first class of the largest softmax."""
    tolerance = _SUM_DIFFERENCE * unit_roundoff(precision)
    return Decision("argmax", 0.0, tolerance, labels, "softmax")


def plain_decision(threshold: float, labels: tuple[str, ...], precision: Precision) -> Decision:
    """Decide by ``sum > threshold``; only the threshold itself may have been rounded."""
    if not math.isfinite(threshold):
        raise ParameterError(
            f"{threshold} is no finite number", where="threshold", remedy="give a number such as 0"
        )
    rounded = float(np.asarray(threshold, dtype=precision))
    tolerance = abs(rounded - threshold)
    return Decision("threshold", float(threshold), tolerance, labels, "plain", float(threshold))


def _logit(share: float) -> float:
    return math.log(share) - math.log1p(-share)
