"""The shield at run time: asks its policy, writes its journal, counts, and starts periods."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping
from fractions import Fraction
from math import inf
from pathlib import Path
from typing import Any

from testsgd.errors import (
    GuaranteeBrokenError,
    HorizonEndedError,
    LabelError,
    ParameterError,
    UnknownGroupError,
)
from testsgd.fairness.conditioned_groups import NO_GROUP
from testsgd.shielding.inputs import InputDistribution
from testsgd.shielding.running.journal import (
    Journal,
    decision_line,
    final_line,
    label_line,
    period_line,
    replay,
)
from testsgd.shielding.running.periods import PeriodLog, PeriodPolicy, PeriodReport, first_solution
from testsgd.shielding.running.state import (
    CountedDecision,
    CounterLayout,
    ShieldState,
    Tally,
)
from testsgd.shielding.specification import ShieldSpecification
from testsgd.shielding.synthesis import Solution, Storage

_COST = "give a finite number, 0 or more"


class Shield:
    """Decides on the recommendations of a decision maker, so that a bound on the bias is kept.

    A shield counts its decisions by group. For every recommendation it looks up whether it must be
    changed, in the solution that was found beforehand. :func:`testsgd.synthesize_shield` and
    :func:`testsgd.load_shield` make one.

    Parameters
    ----------
    specification : ShieldSpecification
        What is kept, for which groups and until when.
    inputs : InputDistribution
        What the shield expects; it was synthesised for this.
    solution : Solution
        Of the (first) period.
    journal : pathlib.Path, optional
        Where every decision is written before it is handed out. If the file has decisions, they
        are taken up first, so that a shield goes on where it stopped.
    fsync : bool
        Whether a line of the journal is on the disc before its decision is handed out.
    storage : {"auto", "whole", "windows"}
        How the decisions of later periods are stored, if they are synthesised anew.
    jobs : int
        Threads for the synthesis of later periods.

    Raises
    ------
    InfeasibleShieldError
        If the horizon is finite and no shield exists.
    JournalError
        If the journal cannot be used, or does not fit.

    Notes
    -----
    A shield is for one thread at a time: with several, put a lock around the calls. Ids of events
    are kept in memory for the whole run.

    The method is that of Cano, Henzinger, Könighofer, Kueffner and Mallik, Fairness Shields:
    Safeguarding against Biased Decision Makers.

    Examples
    --------
    >>> specification = ShieldSpecification.from_dict({
    ...     "name": "loans", "fairness": {"property": "demographic_parity", "bound": "1/10"},
    ...     "groups": {"names": ["a", "b"]}, "horizon": {"length": 4}})
    >>> shield = Shield.synthesize(specification)
    >>> [shield.decide(group, 1) for group in "aaab"], shield.bias
    ([1, 1, 1, 1], Fraction(0, 1))
    """

    def __init__(
        self,
        specification: ShieldSpecification,
        inputs: InputDistribution,
        solution: Solution,
        *,
        journal: Path | None = None,
        fsync: bool = False,
        storage: Storage = "auto",
        jobs: int = 1,
    ) -> None:
        self.specification = specification
        self.inputs = inputs
        self._policy = PeriodPolicy(specification, inputs, solution, storage=storage, jobs=jobs)
        fairness = specification.fairness_property
        self._horizon = specification.horizon.length
        self._labelled = fairness.labelled
        self._places = {name: index for index, name in enumerate(inputs.groups)}
        self._costs = tuple(map(float, inputs.costs))
        self._last_cost = len(self._costs) - 1
        layout = CounterLayout.of(fairness, groups=len(inputs.groups))
        self._state = ShieldState(layout, labelled=self._labelled)
        self._log = PeriodLog(specification, layout)
        self._broken: GuaranteeBrokenError | None = None
        # Whether the promise can be kept from the state that was asked for last.
        self._kept_from: tuple[object, bool] | None = None
        self._journal: Journal | None = None
        if journal is not None:
            opened = Journal(Path(journal), digest=specification.digest(inputs), fsync=fsync)
            try:
                replay(
                    opened,
                    self._state,
                    self._policy,
                    decide=self.decide,
                    observe=self.observe,
                    overrule=self._take_up_final,
                    close_period=self._log_period,
                )
                opened.repair_end()
            except BaseException:
                opened.take_back()
                raise
            self._journal = opened

    @classmethod
    def synthesize(
        cls,
        specification: ShieldSpecification,
        *,
        folder: Path | None = None,
        storage: Storage = "auto",
        jobs: int = 1,
        journal: Path | None = None,
        fsync: bool = False,
    ) -> Shield:
        """Return the cheapest shield of a specification, as :func:`testsgd.synthesize_shield` does.

        Parameters
        ----------
        specification : ShieldSpecification
        folder : pathlib.Path, optional
            The path of a log in the specification is relative to this folder; if not given, to the
            folder of the specification's file.
        storage, jobs, journal, fsync
            As for :func:`testsgd.synthesize_shield`.

        Returns
        -------
        Shield

        Raises
        ------
        InfeasibleShieldError
            If there is no such shield; names the smallest bound that can be kept.
        SpecificationError, DataError
            If the inputs are wrong.
        JournalError
            If the journal cannot be used, or does not fit.
        """
        inputs = specification.input_distribution(folder)
        solution = first_solution(specification, inputs, storage=storage, jobs=jobs)
        return cls(
            specification,
            inputs,
            solution,
            journal=journal,
            fsync=fsync,
            storage=storage,
            jobs=jobs,
        )

    def save(self, path: Path) -> int:
        """Write the shield to a file, whole or not at all, without what it has decided.

        Parameters
        ----------
        path : pathlib.Path
            The file, which :meth:`load` reads; one that exists is replaced.

        Returns
        -------
        int
            The bytes of the file.

        Raises
        ------
        ConfigurationError
            If the file cannot be written.
        """
        from testsgd.shielding.running.shield_file import write_shield

        solution = self._policy.first_solution()
        return write_shield(Path(path), self.specification, self.inputs, solution)

    @classmethod
    def load(
        cls,
        path: Path,
        *,
        specification: ShieldSpecification | None = None,
        folder: Path | None = None,
        journal: Path | None = None,
        fsync: bool = False,
        jobs: int = 1,
    ) -> Shield:
        """Return a shield that is read from a file, as :func:`testsgd.load_shield` does.

        Parameters
        ----------
        path : pathlib.Path
            The file.
        specification : ShieldSpecification, optional
            What the shield must have been made for.
        folder : pathlib.Path, optional
            The path of a log in this specification is relative to this folder; if not given, to the
            folder of the specification's file.
        journal, fsync, jobs
            As for :func:`testsgd.load_shield`.

        Returns
        -------
        Shield

        Raises
        ------
        ShieldFileError
            If the file is no shield, of another version, or of another specification.
        JournalError
            If the journal is damaged, or is another shield's.
        """
        from testsgd.shielding.running.shield_file import check_specification, read_shield

        saved = read_shield(Path(path))
        if specification is not None:
            check_specification(Path(path), saved, specification, folder)
        return cls(
            saved.specification,
            saved.inputs,
            saved.solution,
            journal=journal,
            fsync=fsync,
            jobs=jobs,
        )

    def _check_known_fields(self, person: Mapping[str, Any]) -> None:
        """Refuse a field that no group is about: it may be a slip for one that some are about."""
        known = self.specification.groups.fields
        unknown = [str(name) for name in person if name not in known]
        if unknown and known:
            remedy = f"give {', '.join(known)}; null for what is not known"
            what = f"the person has an unknown field {unknown[0][:80]!r}"
            raise ParameterError(what, where="group", remedy=remedy, name=unknown[0])

    def decide(
        self,
        group: str | Mapping[str, Any],
        recommendation: int,
        cost: float | None = None,
        *,
        event: str | None = None,
    ) -> int:
        """Return the decision on a recommendation, and count it.

        The recommendation is changed if the policy changes it at this cost in the present state.
        With a journal the decision is written before it is returned.

        Parameters
        ----------
        group : str or mapping of str to value
            The person's group; or the fields of the person, where groups are by expressions.
        recommendation : {0, 1}
            0 rejects, 1 accepts.
        cost : float, optional
            What it costs to change the recommendation, at least 0; may be left out if the inputs
            have only one cost. The policy takes a cost as the next higher one that it knows, or as
            the highest.
        event : str, optional
            The caller's name of this decision. Asked again, the shield gives the same decision and
            counts nothing, so after a failure it is safe to ask again.

        Returns
        -------
        int
            0 rejects, 1 accepts.

        Raises
        ------
        LabelError
            If the true label of the decision before is not known yet.
        UnknownGroupError
            If the group is unknown and the specification refuses unknown groups.
        HorizonEndedError
            If there are no more periods.
        GuaranteeBrokenError
            If this is the last decision of a period and the counters are not as guaranteed; and at
            every decision after that.
        ParameterError
            If the recommendation is not 0 or 1, the cost is missing or not a finite number of at
            least 0, or the event was decided before with another group or recommendation.
        JournalError
            If the journal cannot be written; nothing is decided then.
        """
        if recommendation != 0 and recommendation != 1:
            raise _bad("recommendation", recommendation, "give 0 (reject) or 1 (accept)")
        recommendation = int(recommendation)
        state = self._state
        # Most groups are names, and to ask for the abstract class takes long.
        if type(group) is not str and isinstance(group, Mapping):
            self._check_known_fields(group)
            group = self.specification.group_of(group)
        try:
            index = self._places.get(group)
        except TypeError:
            index = None
        if event is not None:
            if not isinstance(event, str):
                raise _bad("event", event, "give its id as a text")
            before = state.decided(event, index, recommendation)
            if before is not None:
                return before
        if self._broken is not None:
            raise self._broken
        if state.waiting is not None:
            raise LabelError(
                "the last decision waits for its label",
                where="decide",
                remedy="give the label first (0 if it never became known)",
            )
        if index is None:
            return self._pass_unknown(group, recommendation, event)
        if cost is None:
            if self._last_cost:
                what = f"the cost is missing, and it could be any of {len(self._costs)}"
                raise ParameterError(what, where="cost", remedy=_COST)
            price = self._costs[0]
            level = 0
        else:
            try:
                if not 0 <= cost < inf:  # false for NaN too
                    raise _bad("cost", cost, _COST)
                price = float(cost)
            except OverflowError:
                # It may have more digits than Python writes.
                raise ParameterError("the cost is too large", where="cost", remedy=_COST) from None
            except (TypeError, ValueError):
                raise _bad("cost", cost, _COST) from None
            level = 0
            if self._last_cost:
                level = min(bisect_left(self._costs, price), self._last_cost)
        if state.step == self._horizon:
            self._next_period()
        changed = level < self._policy.changes(state.step, state.counts, index, recommendation)
        decision = 1 - recommendation if changed else recommendation
        if self._journal is not None:
            known = None if cost is None else price
            self._journal.write(decision_line(group, recommendation, known, decision, event))
        state.count(index, recommendation, decision, price, event)
        if state.step == self._horizon:
            self._close_period()
        return decision

    def observe(
        self,
        label: int | None = None,
        *,
        event: str | None = None,
        decision: int | None = None,
    ) -> None:
        """Count the true label of the last decision, or what a person decided in the end.

        A person may overrule the shield: the counters then follow the person, and
        :attr:`guarantee` says whether the bound can still be promised.

        Parameters
        ----------
        label : {0, 1}, optional
            The true label; 0 if it never became known.
        event : str, optional
            The id of the decision. With it the same label may be given again, which counts nothing.
        decision : {0, 1}, optional
            The final decision, of any event of this period by its id, or else of the last one. The
            same again counts nothing.

        Raises
        ------
        LabelError
            If labels play no part in the property, the label is not 0 or 1, no decision waits for
            it, the event had another label, or neither a label nor a decision is given.
        ParameterError
            If the final decision is not 0 or 1, there was no such decision, or its period is over.
        JournalError
            If the journal cannot be written; nothing is counted then.

        Examples
        --------
        >>> import testsgd
        >>> shield = testsgd.synthesize_shield({
        ...     "fairness": {"property": "demographic_parity", "bound": "1/4"},
        ...     "groups": {"names": ["a", "b"]}, "horizon": {"length": 4}})
        >>> [shield.decide(group, 1) for group in "aab"]
        [1, 1, 1]
        >>> shield.observe(decision=0)
        >>> shield.counts, shield.overruled, shield.guarantee
        (((0, 2), (1, 0)), 1, 'lost since decision 3')
        """
        if decision is not None:
            self._observe_final(decision, label, event)
        if label is not None:
            self._observe_label(label, event)
        elif decision is None:
            remedy = "give the true label, or what a person decided in the end"
            raise LabelError("neither a label nor a decision is given", remedy=remedy)

    def _observe_label(self, label: int, event: str | None) -> None:
        """Count the true label of the last decision."""
        if not self._is_new_label(label, event):
            return
        label = int(label)
        if self._journal is not None:
            self._journal.write(label_line(label, event))
        self._state.reveal(label)
        if self._state.step == self._horizon:
            self._close_period()

    def _is_new_label(self, label: int, event: str | None) -> bool:
        """Return whether a label has to be counted, or raise a LabelError if it is wrong."""
        if not self._labelled:
            what = f"labels play no part in {self.specification.fairness_property.name}"
            raise LabelError(what, where="label", remedy="give no labels")
        if label != 0 and label != 1:
            what = f"the label is {label!r}"
            raise LabelError(what, where="label", remedy="give 0 or 1", label=label)
        return self._state.is_new_label(int(label), event)

    def _observe_final(self, decision: int, label: int | None, event: str | None) -> None:
        """Count what a person decided in the end, if that is new; a wrong label changes nothing."""
        if decision != 0 and decision != 1:
            raise _bad("decision", decision, "give 0 (reject) or 1 (accept)")
        final = int(decision)
        if label is not None:
            self._is_new_label(label, event)
        counted = self._state.to_overrule(final, event)
        if counted is None:
            return
        lost_since = self._lost_since(counted, final)
        if self._journal is not None:
            self._journal.write(final_line(final, lost_since, event))
        self._count_final(counted, final, lost_since)

    def _lost_since(self, counted: CountedDecision, final: int) -> int | None:
        """Return since when the promise is lost if a person's decision counts; None: it is not."""
        state = self._state
        counts = state.counts_with(counted, final)
        waiting = (counted.group, final) if counted.waits else state.waiting
        if self._policy.can_keep(state.step, state.with_each_label(counts, waiting)):
            return None
        was_lost = state.lost_since is not None and not self._can_keep()
        return state.lost_since if was_lost else state.step

    def _count_final(self, counted: CountedDecision, final: int, lost_since: int | None) -> None:
        """Count a person's decision; the report of a period that has just ended is made anew."""
        state = self._state
        is_logged = state.step == self._horizon and state.waiting is None
        state.overrule(counted, final, lost_since)
        if is_logged:
            self._log.reopen()
            self._log_period()

    def _take_up_final(self, final: int, event: str | None, lost_since: int | None) -> None:
        """Count a person's decision that the journal has."""
        counted = self._state.to_overrule(final, event)
        if counted is None:
            raise ValueError("a person's decision changes nothing")
        self._count_final(counted, final, lost_since)

    def _can_keep(self) -> bool:
        """Return whether the promise of this period can be kept from the present state on."""
        state = self._state
        present = (state.period, state.step, state.counts, state.waiting)
        if self._kept_from is None or self._kept_from[0] != present:
            tallies = state.with_each_label(state.counts, state.waiting)
            self._kept_from = (present, self._policy.can_keep(state.step, tallies))
        return self._kept_from[1]

    def _can_be_due(self) -> bool:
        """Return whether the assumption of this period holds, or can hold at its end."""
        state = self._state
        tallies = state.with_each_label(state.counts, state.waiting)
        denominators = [state.layout.totals(tally)[1] for tally in tallies]
        return self._policy.can_be_due(state.step, denominators)

    def prepare(self) -> None:
        """Start the next period now if one is due, so that no decision waits for its synthesis.

        Raises
        ------
        JournalError
            If the journal cannot be written.
        """
        state = self._state
        if state.step == self._horizon and state.waiting is None and not self.ended:
            self._next_period()

    def close(self) -> None:
        """Close the journal; the shield cannot decide any more if it had one."""
        if self._journal is not None:
            self._journal.close()

    def __enter__(self) -> Shield:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        # Of what failed before anything was decided, no journal is left.
        if kind is not None and self._journal is not None:
            self._journal.take_back()
        self.close()

    @property
    def pending(self) -> bool:
        """Whether the last decision waits for its label."""
        return self._state.waiting is not None

    @property
    def last_event(self) -> str | None:
        """Id of the last decision, None if it had none."""
        return self._state.last_event

    @property
    def step(self) -> int:
        """Decisions of this period."""
        return self._state.step

    @property
    def period(self) -> int:
        """Number of the period, from 0; a new one starts with its first decision."""
        return self._state.period

    @property
    def counts(self) -> tuple[Tally, ...]:
        """How often each kind of event happened in this period, a tuple a group."""
        return self._state.layout.by_group(self._state.counts)

    @property
    def bias(self) -> Fraction:
        """Bias of the whole run; a decision that waits counts as if its label were 0."""
        numerators, denominators = self._state.totals
        return self.specification.requirement.bias(numerators, denominators)

    @property
    def period_bias(self) -> Fraction:
        """Bias of this period alone."""
        numerators, denominators = self._state.layout.totals(self._state.counts)
        return self.specification.requirement.bias(numerators, denominators)

    @property
    def interventions(self) -> int:
        """Recommendations of the whole run that were changed."""
        return self._state.interventions

    @property
    def total_cost(self) -> float:
        """Cost of these changes."""
        return self._state.total_cost

    @property
    def overruled(self) -> int:
        """Decisions of the whole run that a person changed afterwards."""
        return self._state.overruled

    @property
    def guarantee(self) -> str:
        """What is left of the promise of this period; see also `guarantee_over_periods`.

        "holds", "lost since decision N" if a person overruled the shield so that the bound cannot
        be kept any more for all who may come, "assumption failed" if what the promise of a period
        rests on has failed or can hold in no continuation, so that nothing is promised for it,
        or "none" if no shield exists for the period. What is lost holds again if the people who
        come make it possible again.
        """
        if not self.active:
            return "none"
        if not self._can_be_due():
            return "assumption failed"
        if self._state.lost_since is None or self._can_keep():
            return "holds"
        return f"lost since decision {self._state.lost_since}"

    @property
    def guarantee_over_periods(self) -> str | None:
        """What is left of the promise of a periodic shield, which is about all periods together.

        "holds" as long as what it rests on was so, or "lost since period N", from 0: in that period
        the assumption failed, a person overruled the shield so that the bound was not kept, or no
        shield existed for the bound. A static shield's promise stays lost, because a later period
        does not make up for an earlier one; a dynamic shield takes the history into account, and
        its promise holds again once a shield for the bound exists. None for a finite horizon.
        """
        if self.specification.horizon.shield == "finite":
            return None
        since = self._log.unpromised_since()
        is_dynamic = self._policy.is_solved_each_period
        is_over = self._state.step == self._horizon and self._state.waiting is None
        if since is not None and (is_over or not is_dynamic):
            return f"lost since period {since}"
        if self.guarantee == "holds" and self.promised == self.specification.bound:
            return "holds"
        return f"lost since period {self._state.period if since is None else since}"

    @property
    def unknown(self) -> int:
        """Events of unknown groups, which were passed through."""
        return self._state.unknown

    @property
    def active(self) -> bool:
        """Whether a shield exists for this period; otherwise recommendations pass."""
        return self._policy.active

    @property
    def promised(self) -> Fraction | None:
        """The bound that is promised for this period; None: no shield exists for it."""
        return self._policy.bound

    @property
    def ended(self) -> bool:
        """Whether there is nothing more to decide."""
        state = self._state
        most_periods = self._policy.most_periods
        is_last = most_periods is not None and state.period + 1 >= most_periods
        return state.step == self._horizon and is_last

    @property
    def expected_cost(self) -> float | None:
        """Expected cost of the changes left in this period; None if it is not at its start."""
        return self._policy.expected_cost if self._state.step == 0 else None

    @property
    def period_reports(self) -> tuple[PeriodReport, ...]:
        """Reports of the finished periods, in their order."""
        return self._log.reports()

    def to_dict(self) -> dict[str, Any]:
        """Return the state as JSON has it; a bias as text, because it is exact."""
        return self._state.to_dict() | {
            "active": self.active,
            "guarantee": self.guarantee,
            "guarantee_over_periods": self.guarantee_over_periods,
            "promised": None if self.promised is None else str(self.promised),
            "ended": self.ended,
            "bias": str(self.bias),
            "period_bias": str(self.period_bias),
            "period_reports": [report.to_dict() for report in self._log.reports()],
        }

    def _pass_unknown(self, group: str, recommendation: int, event: str | None) -> int:
        """Return the recommendation for an unknown group, or raise an UnknownGroupError."""
        if not isinstance(group, str) or self.specification.groups.unknown == "refuse":
            known = self.inputs.groups
            names = ", ".join(map(repr, known))
            remedy = f'give one of {names}, or let others pass (groups.unknown = "pass")'
            what = f"the group {group!r} is unknown"
            raise UnknownGroupError(
                "the person is in none of the groups" if group == NO_GROUP else what,
                where="group",
                remedy=remedy,
                group=group,
                groups=known,
            )
        self._check_goes_on()
        if self._journal is not None:
            self._journal.write(decision_line(group, recommendation, None, recommendation, event))
        self._state.count_unknown(recommendation, event)
        return recommendation

    def _check_goes_on(self) -> None:
        if self.ended:
            decisions = (self._state.period + 1) * self._horizon
            what = f"all {decisions} decisions that the shield was made for are made"
            remedy = 'begin a new shield, or specify what comes then (horizon.after = "next")'
            raise HorizonEndedError(what, where="decide", remedy=remedy, decisions=decisions)

    def _next_period(self) -> None:
        """Start the next period; write it to the journal if its policy depends on the history."""
        self._check_goes_on()
        self._policy.begin(self._state)
        if self._journal is not None and self._policy.is_solved_each_period:
            promised = self._policy.bound
            is_specified = promised == self.specification.bound
            self._journal.write(
                period_line(
                    self._state.period + 1,
                    active=promised is not None,
                    bound=None if is_specified else promised,
                )
            )
        self._state.next_period()

    def _close_period(self) -> None:
        """Log the period, once the label of its last decision is known, and check its counters."""
        state = self._state
        if state.waiting is not None:
            return
        self._log_period()
        if state.lost_since is not None:
            # A person's decision took the promise away; the report of the period says so.
            return
        if not self._policy.is_kept(*state.layout.totals(state.counts)):
            self._broken = GuaranteeBrokenError(
                f"the guarantee of period {state.period} is broken: its bias is {self.period_bias}",
                where="shield",
                remedy="trust this shield no more: synthesise it again from its specification",
                period=state.period,
                counts=self.counts,
            )
            raise self._broken

    def _log_period(self) -> None:
        """Add the period to the log, once the label of its last decision is known."""
        if self._state.waiting is None:
            self._log.close(self._state, self._policy)


def _bad(name: str, value: object, remedy: str) -> ParameterError:
    return ParameterError(f"the {name} is {value!r}", where=name, remedy=remedy, **{name: value})
