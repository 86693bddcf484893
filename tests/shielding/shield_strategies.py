"""Random small problems of shields, for the package and for the oracle alike."""

from __future__ import annotations

from fractions import Fraction

from exhaustive import CUSTOM, NAMED, Events, Game, Inputs, bounded
from hypothesis import strategies as st

from testsgd.fairness import NAMED_PROPERTIES, FairnessProperty
from testsgd.shielding.synthesis import ShieldProblem, finite_problem

# Fractions that small counters hit exactly, and some just beside.
THRESHOLDS = st.one_of(
    st.sampled_from([Fraction(*pair) for pair in ((0, 1), (1, 1), (1, 2), (1, 3), (2, 3), (1, 4))]),
    st.fractions(min_value=0, max_value=1, max_denominator=12),
    st.sampled_from([Fraction(1, 2), Fraction(1, 3), Fraction(2, 3)]).map(
        lambda one: one - Fraction(1, 10**9)
    ),
)


@st.composite
def inputs(draw: st.DrawFn, *, groups: int | None = None, most_costs: int = 3) -> Inputs:
    """Weights with zeros, costs that may be 0, label probabilities 0 and 1 included."""
    if groups is None:
        groups = draw(st.sampled_from([2, 2, 3]))
    costs = draw(
        st.lists(st.integers(0, 6), min_size=1, max_size=most_costs, unique=True).map(sorted)
    )
    shape = groups * 2 * len(costs)
    weights = draw(st.lists(st.integers(0, 4), min_size=shape, max_size=shape).filter(any))
    eighths = draw(
        st.lists(st.sampled_from([0, 8, 4, 1, 6]), min_size=2 * groups, max_size=2 * groups)
    )
    return Inputs(tuple(weights), tuple(costs), tuple(eighths), groups)


def longest(events: Events, groups: int) -> int:
    """The horizon up to which trying everything is quick."""
    people = groups * 2 * (2 if events.labelled else 1)
    return {4: 5, 6: 4, 8: 3, 12: 3}[people]


@st.composite
def problems(
    draw: st.DrawFn, *, names: tuple[str, ...] = (*NAMED, *CUSTOM), most_costs: int = 3
) -> tuple[Game, ShieldProblem]:
    """A bound on the bias at the end of a horizon."""
    name = draw(st.sampled_from(names))
    events = NAMED.get(name) or CUSTOM[name]
    given = draw(inputs(most_costs=most_costs))
    horizon = draw(st.integers(1, longest(events, given.groups)))
    bound = draw(THRESHOLDS)
    empty_group = draw(st.sampled_from(["vacuous", "zero"]))
    judge = bounded(bound, measure=events.measure, empty_group=empty_group)
    distribution = given.distribution(labelled=events.labelled)
    problem = finite_problem(fairness_of(name), bound, empty_group, distribution, horizon)
    return Game(events, judge, given, horizon), problem


def fairness_of(name: str) -> FairnessProperty:
    """The package's property of a name, or one made of the oracle's events."""
    return NAMED_PROPERTIES[name] if name in NAMED else CUSTOM[name].as_property(name)
