"""The enforcer with requests that overlap: in whatever order outputs come, deadlines are kept."""

from __future__ import annotations

import json
import random
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from enforced_models import (
    agrees,
    enforcer,
    label_of,
    made,
    obedient,
    only,
    people,
    recount,
    wanted_label,
)
from hypothesis import given, settings
from hypothesis import strategies as st

from testsgd.generative import Enforcer, Ticket, assess_generative
from testsgd.generative.stores.sqlite import SQLiteStore


@contextmanager
def closed_at_the_end(enforced: Enforcer) -> Iterator[Enforcer]:
    try:
        yield enforced
    finally:
        enforced.close()


@st.composite
def betas_and_steps(draw: st.DrawFn) -> tuple[list[int], list[tuple[str, int, int]]]:
    """Draw betas, and steps: begin, finish or give back, which open ticket, the natural label."""
    values = draw(st.integers(2, 4))
    betas = draw(st.lists(st.integers(values, 9), min_size=values, max_size=values))
    kinds = st.sampled_from(["begin", "begin", "finish", "finish", "back", "twice"])
    step = st.tuples(kinds, st.integers(0, 9), st.integers(0, values))
    return betas, draw(st.lists(step, max_size=80))


def play(
    enforced: Enforcer, steps: list[tuple[str, int, int]], *, back: str
) -> tuple[list[Ticket], dict[str, int]]:
    """Let an obedient model serve overlapping requests; return what began, and the labels.

    `back`: which tickets may be given back: ``"unasked"`` or ``"any"``.
    """
    begun: list[Ticket] = []
    open_ones: list[Ticket] = []
    labels: dict[str, int] = {}
    for kind, which, natural in steps:
        if kind == "begin":
            begun.append(enforced.begin("Draw", ticket=f"t{len(begun)}"))
            open_ones.append(begun[-1])
        elif kind == "twice" and labels:
            known = [ticket for ticket in begun if ticket.id in labels]
            ticket = known[which % len(known)]
            # An output that comes again changes nothing, whatever it is.
            enforced.finish(ticket, f"v{wanted_label(ticket) or 1}")
            enforced.give_back(ticket)
        elif open_ones:
            ticket = open_ones.pop(which % len(open_ones))
            if kind == "back" and (back == "any" or not ticket.wanted):
                enforced.give_back(ticket)
            else:
                output = obedient(ticket, natural)
                labels[ticket.id] = label_of(output)
                enforced.finish(ticket, output)
    for ticket in reversed(open_ones):
        output = obedient(ticket, 1)
        labels[ticket.id] = label_of(output)
        enforced.finish(ticket, output)
    return begun, labels


@settings(max_examples=200)
@given(betas_and_steps())
def test_no_deadline_is_missed_in_any_interleaving(
    drawn: tuple[list[int], list[tuple[str, int, int]]],
) -> None:
    betas, steps = drawn
    enforced = enforcer(betas)
    begun, labels = play(enforced, steps, back="unasked")
    in_order = [labels[ticket.id] for ticket in begun if ticket.id in labels]
    assert not any(recount(in_order, betas).misses)
    if begun:
        status = only(enforced)
        assert agrees(status, in_order)
        assert status.state.slots == ()
        assert status.state.returned == len(begun) - len(in_order)
        assert status.state.asked == status.state.obeyed


@settings(max_examples=100)
@given(betas_and_steps())
def test_what_is_counted_is_in_the_order_of_the_beginnings(
    drawn: tuple[list[int], list[tuple[str, int, int]]],
) -> None:
    betas, steps = drawn
    enforced = enforcer(betas)
    begun, labels = play(enforced, steps, back="any")
    if begun:
        in_order = [labels[ticket.id] for ticket in begun if ticket.id in labels]
        assert agrees(only(enforced), in_order)
    tickets = [json.loads(line)["ticket"] for line in enforced.journal()]
    assert tickets == [ticket.id for ticket in begun if ticket.id in labels]


def test_many_requests_that_begin_before_any_output() -> None:
    for values in (2, 3, 5):
        enforced = enforcer([values] * values)
        begun = [enforced.begin("Draw") for _ in range(7 * values)]
        for ticket in reversed(begun):
            finished = enforced.finish(ticket, obedient(ticket, 1))
            assert not finished.missed
        state = only(enforced).state
        assert state.outputs == 7 * values
        assert state.misses == (0,) * values


def test_an_output_that_is_awaited_holds_back_the_count() -> None:
    enforced = enforcer([9, 9])
    first, second, third = (enforced.begin("Draw") for _ in range(3))
    enforced.finish(third, "v2")
    enforced.finish(second, "v1")
    assert only(enforced).state.outputs == 0
    enforced.finish(first, "v1")
    assert only(enforced).state.counts == (2, 1)
    assert agrees(only(enforced), [1, 1, 2])


def test_a_missed_deadline_is_said_once_by_the_output_that_lets_it_be_counted() -> None:
    enforced = enforcer([2, 2], tries=0)
    first, second, third = (enforced.begin("Draw") for _ in range(3))
    assert enforced.finish(third, "v1").missed == ()
    assert enforced.finish(second, "v1").missed == ()
    assert enforced.finish(first, "v1").missed == (("kind", "v2"),)
    assert enforced.finish(first, "v1").missed == ()
    assert agrees(only(enforced), [1, 1, 1])


class Clock:
    """A clock that the test sets."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def test_a_ticket_whose_time_is_over_is_given_back() -> None:
    clock = Clock()
    enforced = enforcer([3, 3], clock=clock, ticket_seconds=10)
    lost, kept = enforced.begin("Draw"), enforced.begin("Draw")
    enforced.finish(kept, "v1")
    clock.now = 10.0
    enforced.finish(enforced.begin("Draw"), "v2")
    assert only(enforced).state.outputs == 0
    clock.now = 10.5
    last = enforced.begin("Draw")
    state = only(enforced).state
    assert (state.expired, state.returned, state.outputs) == (1, 0, 2)
    enforced.finish(last, "v1")
    # The output that comes late is the last of the sequence.
    assert enforced.finish(lost, "v2").is_delivered
    assert agrees(only(enforced), [1, 2, 1, 2])
    assert [json.loads(line)["ticket"] for line in enforced.journal()][-1] == lost.id
    enforced.finish(lost, "v1")
    assert agrees(only(enforced), [1, 2, 1, 2])


def test_a_ticket_that_is_given_back_after_its_time_is_counted_as_expired_only() -> None:
    clock = Clock()
    enforced = enforcer([3, 3], clock=clock, ticket_seconds=1)
    lost = enforced.begin("Draw")
    clock.now = 2.0
    enforced.finish(enforced.begin("Draw"), "v1")
    enforced.give_back(lost)
    enforced.finish(lost, "v2")
    state = only(enforced).state
    assert (state.expired, state.returned, state.counts) == (1, 0, (1, 0))
    assert state.slots == ()


def test_an_output_that_disobeys_after_it_was_counted_is_no_further_try() -> None:
    enforced = enforcer([2, 2], tries=5)
    enforced.finish(enforced.begin("Draw"), "v1")
    ticket = enforced.begin("Draw")
    enforced.finish(ticket, "v2")
    enforced.finish(ticket, "v1")
    assert only(enforced).state.retries == 0
    assert agrees(only(enforced), [1, 2])


def store_of(kind: str, folder: Path) -> Any:
    return None if kind == "memory" else SQLiteStore(folder / "fair.sqlite")


@pytest.mark.parametrize("kind", ["memory", "sqlite"])
def test_threads_lose_nothing(kind: str, tmp_path: Path) -> None:
    betas, each, threads = [4, 6, 9], 40, 8
    with closed_at_the_end(enforcer(betas, state=store_of(kind, tmp_path))) as enforced:
        labels: dict[str, int] = {}
        failures: list[BaseException] = []

        def serve(number: int) -> None:
            choose = random.Random(number)
            try:
                for index in range(each):
                    ticket = enforced.begin("Draw", ticket=f"{number}-{index}")
                    if not ticket.wanted and choose.random() < 0.2:
                        enforced.give_back(ticket)
                        continue
                    output = obedient(ticket, choose.choice([0, 1, 1, 1, 2]))
                    labels[ticket.id] = label_of(output)
                    enforced.finish(ticket, output)
            except BaseException as error:
                failures.append(error)

        workers = [threading.Thread(target=serve, args=(number,)) for number in range(threads)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
        assert not failures
        state = only(enforced).state
        journal = [json.loads(line) for line in enforced.journal()]
        # Each output once, with its own label, in the order of the beginnings.
        assert {line["ticket"]: label_of(line["kind"] or "") for line in journal} == labels
        assert len(journal) == len(labels)
        assert state.slots == ()
        assert state.returned == threads * each - len(labels)
        assert agrees(only(enforced), [label_of(line["kind"] or "") for line in journal])
        assert state.misses == (0, 0, 0)
        for number in range(threads):
            own = [int(line["ticket"].split("-")[1]) for line in journal
                   if line["ticket"].startswith(f"{number}-")]  # fmt: skip
            assert own == sorted(own)


def test_two_enforcers_share_a_file(tmp_path: Path) -> None:
    betas = [3, 4, 5]
    first = enforcer(betas, state=store_of("sqlite", tmp_path))
    second = enforcer(betas, state=store_of("sqlite", tmp_path))
    with closed_at_the_end(first), closed_at_the_end(second):
        labels = []
        for index in range(60):
            one, other = (first, second) if index % 2 else (second, first)
            ticket = one.begin("Draw")
            output = obedient(ticket, 1)
            # A ticket may be finished by another process than the one in which it began.
            assert not other.finish(ticket, output).missed
            labels.append(label_of(output))
        assert agrees(only(first), labels)
        assert agrees(only(second), labels)


@pytest.mark.parametrize("kind", ["memory", "sqlite"])
def test_the_journal_is_a_log_that_can_be_assessed(kind: str, tmp_path: Path) -> None:
    with closed_at_the_end(
        enforcer([4, 5, 7], state=store_of(kind, tmp_path), tries=1)
    ) as enforced:
        choose = random.Random(11)
        open_ones: list[Ticket] = []
        for _ in range(300):
            open_ones.append(enforced.begin("Draw"))
            while len(open_ones) > choose.randint(0, 4):
                ticket = open_ones.pop(choose.randrange(len(open_ones)))
                natural = choose.choice([0, 1, 1, 1, 2])
                # It obeys in four of five cases.
                output = f"v{natural}" if choose.random() < 0.2 else obedient(ticket, natural)
                again = enforced.finish(ticket, output).again
                if again is not None:
                    enforced.finish(again, output)
        for ticket in open_ones:
            enforced.give_back(ticket)
        state = only(enforced).state
        assert state.slots == ()
        assert sum(state.misses) > 0
        path = tmp_path / "journal.jsonl"
        lines = list(enforced.journal())
        path.write_text("\n".join(lines), encoding="utf-8")
        result = assess_generative(path, enforced.specification)
    (sequence,) = result.summary.sequences
    assert tuple(value.count for value in sequence.values) == state.counts
    assert sequence.unrelated == state.unrelated
    assert [value.kept for value in sequence.values] == [not missed for missed in state.misses]
    written = [json.loads(line) for line in lines]
    for number, value in enumerate(sequence.values):
        assert sum(value.name in line["missed"] for line in written) == state.misses[number]
        # An unrelated output has been asked for a value too, but is not in the sequence.
        assert value.obeyed == state.obeyed[number]
        unrelated = sum(
            line["kind"] is None and (line["asked"] or {}).get("kind") == value.name
            for line in written
        )
        assert value.asked == state.asked[number] - unrelated
    assert result.exit_code == 1


def test_a_state_is_resumed_after_its_process_was_killed(tmp_path: Path) -> None:
    first = enforcer([3, 3], state=store_of("sqlite", tmp_path))
    first.finish(first.begin("Draw"), "v1")
    # What is on the disc while the process lives is all that a killed one leaves.
    (tmp_path / "left").mkdir()
    for path in tmp_path.glob("fair.sqlite*"):
        (tmp_path / "left" / path.name).write_bytes(path.read_bytes())
    first.close()
    with closed_at_the_end(enforcer([3, 3], state=store_of("sqlite", tmp_path / "left"))) as second:
        assert agrees(only(second), [1])
        second.finish(second.begin("Draw"), "v1")
        assert wanted_label(second.begin("Draw")) == 2


def test_the_journal_of_several_requirements_is_assessed_one_by_one() -> None:
    enforced = people(
        {"grouping": "gender", "name": "all", "beta": 9},
        {"grouping": "gender", "name": "nurses", "when": {"job": "nurse"}, "beta": 3},
        {"grouping": "gender", "name": "cooks", "when": {"job": "cook"}, "beta": 4},
        {"grouping": "age", "name": "ages", "beta": 5},
    )
    choose = random.Random(12)
    for jobs in (["person"], ["nurse", "cook"]):
        for _ in range(60):
            ticket = enforced.begin(f"A {choose.choice(jobs)}")
            enforced.finish(ticket, made(ticket, choose.choice([1, 1, 2]), choose.choice([1, 2])))
        states = {one.requirement.name: one.state for one in enforced.status()}
        journal = [json.loads(line) for line in enforced.journal()]
        result = assess_generative(journal, enforced.specification)
        for sequence in result.summary.sequences:
            if sequence.name not in states:
                assert sequence.related == 0
                continue
            state = states[sequence.name]
            assert tuple(value.count for value in sequence.values) == state.counts
            assert tuple(value.asked for value in sequence.values) == state.asked
            assert [value.kept for value in sequence.values] == [not one for one in state.misses]
