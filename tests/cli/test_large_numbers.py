"""Numbers beyond what an option can mean are refused before anything runs, in one line."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple, get_args, get_type_hints

import command_line
import pytest

from testsgd.auditing import AuditParameters
from testsgd.certification import CertificationParameters
from testsgd.cli.main import COMMANDS, load_command
from testsgd.errors import ParameterError
from testsgd.metrics.parameters import MetricParameters
from testsgd.mitigation.parameters import MitigationParameters
from testsgd.monitoring.simulation.call import _check_effort
from testsgd.monitoring.simulation.parameters import MonitorSimulationParameters
from testsgd.parameters import Parameters, declared_parameters
from testsgd.shielding import ShieldSpecification
from testsgd.shielding.simulation import check_simulated
from testsgd.truth import EVERY_WORLD, WORLD_SIZES, TruthSettings

folder, testsgd, fails = command_line.folder, command_line.testsgd, command_line.fails

Fails = Callable[..., str]

HUGE = (10**25, 10**400)


class Option(NamedTuple):
    """An option for a number, and what its command needs beside it."""

    command: tuple[str, ...]
    flag: str
    needed: tuple[str, ...]
    kind: type


def options_of(command: Any, *names: str) -> Iterator[Option]:
    """Yield the options for numbers of a command, or of the commands of a group."""
    for name, inner in getattr(command, "commands", {}).items():
        yield from options_of(inner, *names, name)
    if hasattr(command, "commands"):
        return
    kinds = get_type_hints(inspect.unwrap(command.callback))
    needed: list[str] = []
    for option in command.params:
        if option.required:
            is_option = option.opts[0].startswith("-")
            needed += [option.opts[0], "x"] if is_option else ["x"]
    for option in command.params:
        hint = kinds.get(option.name)
        for kind in {int, float} & {hint, *get_args(hint)}:
            yield Option(names, option.opts[0], tuple(needed), kind)


OPTIONS = [option for name in COMMANDS for option in options_of(load_command(name), name)]


def test_there_are_options_for_numbers() -> None:
    assert {option.kind for option in OPTIONS} == {int, float}
    assert {option.command[0] for option in OPTIONS} >= {"audit", "certify", "shield", "bench"}


@pytest.mark.parametrize("option", OPTIONS, ids=lambda option: " ".join(option[0] + option[1:2]))
def test_huge_numbers_are_refused(option: Option, fails: Fails) -> None:
    for number in (*HUGE, -HUGE[0], -HUGE[1]) if option.kind is int else (HUGE[1], "nan"):
        message = fails(*option.command, *option.needed, f"{option.flag}={number}")
        assert option.flag in message
        assert len(message) < 300


EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
LOANS = "loans-demographic-parity.toml"
# Options, the one that is named, and what is asked for beside it.
MONITOR = (
    ("--days", "--runs=10"),
    ("--people-a-day", "--days=10"),
    ("--runs", "--days=10"),
    ("--days", "--runs=100000"),
    ("--runs", "--days=9223372036854775807"),
)
SHIELD = (("--runs", "--length=8"), ("--periods", "--length=8"), ("--runs", "--periods=10000"))


def most_that(message: str) -> int:
    """Return the number that an error says would do."""
    return int(message.rpartition("at most ")[2].replace(",", " ").split()[0])


@pytest.mark.parametrize(("flag", "beside"), MONITOR)
@pytest.mark.parametrize("number", [10**12, 10**18])
def test_simulations_of_monitors_without_an_end_are_refused(
    flag: str, beside: str, number: int, fails: Fails
) -> None:
    words = ("monitor", "simulate", EXAMPLES / "monitors" / LOANS, beside)
    message = fails(*words, flag, str(number))
    most = most_that(message)
    assert 1 <= most < number


@pytest.mark.parametrize("name", ["runs", "days", "people_a_day"])
def test_the_number_that_an_error_says_would_do(name: str) -> None:
    with pytest.raises(ParameterError) as refused:
        _check_effort(MonitorSimulationParameters(**{name: 10**12}), 5)
    most = most_that(str(refused.value))
    _check_effort(MonitorSimulationParameters(**{name: most * 99 // 100}), 5)
    with pytest.raises(ParameterError):
        _check_effort(MonitorSimulationParameters(**{name: most * 101 // 100}), 5)


@pytest.mark.parametrize(("flag", "beside"), SHIELD)
def test_simulations_of_shields_without_an_end_are_refused(
    flag: str, beside: str, fails: Fails
) -> None:
    words = ("shield", "simulate", EXAMPLES / "shields" / "screening-periods.toml", beside)
    message = fails(*words, flag, str(10**12))
    assert 1 <= most_that(message) < 10**12


BENCH = (
    ("--runs", ()),
    ("--runs", ("--worlds", "all")),
    ("--runs", ("--populations", "null", "--sizes", "1000")),
    ("--baseline-runs", ()),
    ("--baseline-runs", ("--runs", str(10**12))),
    ("--sizes", ()),
)


@pytest.mark.parametrize(("flag", "beside"), BENCH)
@pytest.mark.parametrize("number", [10**11, 10**18])
def test_benchmarks_without_an_end_are_refused(
    flag: str, beside: tuple[str, ...], number: int, fails: Fails
) -> None:
    message = fails("bench", "truth", *beside, flag, str(number))
    most = most_that(message)
    name = flag[2:].replace("-", "_")
    assert name in message
    options: dict[str, Any] = {"sizes": (1_000,), name: (most,) if name == "sizes" else most}
    TruthSettings(**options, populations=("null",))


def test_simulations_of_usual_sizes_are_not_refused() -> None:
    specification = ShieldSpecification.read(EXAMPLES / "shields" / LOANS)
    check_simulated(specification, runs=10**6, periods=10)
    _check_effort(MonitorSimulationParameters(runs=1000, days=365), 5)
    TruthSettings(runs=20_000)
    TruthSettings(populations=(), worlds=EVERY_WORLD, sizes=WORLD_SIZES, runs=2_000)


@pytest.mark.parametrize("size", [f"{10**400}GB", f"{10**25}", "9" * 5000], ids=str.__len__)
def test_huge_amounts_of_memory_are_refused(size: str, fails: Fails) -> None:
    assert "--max-file-memory" in fails("audit", "demo", "--max-file-memory", size)


@pytest.mark.parametrize("number", [*HUGE, 10**5000, -(10**400)], ids=["25", "400", "5000", "-400"])
@pytest.mark.parametrize(
    "kind", [AuditParameters, CertificationParameters, MonitorSimulationParameters]
)
def test_huge_numbers_are_refused_in_calls(kind: type[Parameters], number: int) -> None:
    names = [item.name for item in declared_parameters(kind).values() if item.kind is int]
    assert names
    for name in names:
        with pytest.raises(ParameterError) as refused:
            kind(**{name: number})
        assert refused.value.where == name


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        (AuditParameters, "jobs"),
        (AuditParameters, "replicates"),
        (AuditParameters, "stability"),
        (CertificationParameters, "jobs"),
        (CertificationParameters, "samples"),
        (MetricParameters, "replicates"),
        (MitigationParameters, "seed"),
    ],
)
def test_what_no_library_can_hold_is_refused(kind: type[Parameters], name: str) -> None:
    with pytest.raises(ParameterError) as refused:
        kind(**{name: 10**12})
    # The largest that may be is said, digit by digit.
    kind(**{name: int(str(refused.value).rpartition(" and ")[2].partition(";")[0])})


@pytest.mark.parametrize("option", [option for option in OPTIONS if option.flag == "--jobs"])
def test_processors_that_no_machine_has_are_refused(option: Option, fails: Fails) -> None:
    assert "--jobs" in fails(*option.command, *option.needed, "--jobs", "1000000")


@pytest.mark.parametrize("number", [10**400, float("inf"), float("nan")], ids=["400", "inf", "nan"])
def test_numbers_without_an_end_are_refused_in_calls(number: float) -> None:
    for kind in (AuditParameters, CertificationParameters, MonitorSimulationParameters):
        for item in declared_parameters(kind).values():
            if item.kind is float:
                with pytest.raises(ParameterError):
                    kind(**{item.name: number})
