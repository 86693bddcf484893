"""What a user can choose is declared once: checked, documented, and an option of the command."""

from __future__ import annotations

import inspect
from importlib import import_module

import pytest
from hypothesis import given
from hypothesis import strategies as st

from testsgd.cli.main import COMMANDS, load_command
from testsgd.errors import ParameterError
from testsgd.parameters import Parameter, declared_parameters

MODULES = {name: import_module(f"testsgd.cli.{name.replace('-', '_')}") for name in COMMANDS}
# All of what the class declares is an option of the command.
CLASSES = {
    name: getattr(module, name).parameters
    for name, module in MODULES.items()
    if name != "compare" and hasattr(getattr(module, name, None), "parameters")
}


@pytest.mark.parametrize("command", CLASSES)
def test_each_parameter_is_an_option_and_is_documented(command):
    declared = declared_parameters(CLASSES[command])
    options = {option.name: option for option in load_command(command).params}
    assert declared.keys() <= options.keys()
    documented = inspect.getdoc(CLASSES[command])
    for name, item in declared.items():
        assert f"\n{name} : {item.type_text}\n" in documented
        if name != "nondeterministic":  # the command asks for it by two options of its own
            assert options[name].help


@pytest.mark.parametrize("command", CLASSES)
def test_each_parameter_of_a_class_is_declared(command):
    assert set(declared_parameters(CLASSES[command])) == set(
        inspect.signature(CLASSES[command]).parameters
    )


@pytest.mark.parametrize("command", CLASSES)
def test_a_value_of_another_type_is_refused(command):
    for name, declared in declared_parameters(CLASSES[command]).items():
        wrong = [object()] if "tuple" not in declared.type_text else []
        wrong += [True] if declared.kind in (int, float) else []
        wrong += [0.5] if declared.kind is int else []
        wrong += [] if declared.optional or not wrong else [None]
        for value in wrong:
            with pytest.raises(ParameterError) as caught:
                CLASSES[command](**{name: value})
            assert caught.value.where == name


@given(
    low=st.none() | st.integers(-3, 3),
    high=st.none() | st.integers(4, 8),
    open_low=st.booleans(),
    open_high=st.booleans(),
    value=st.integers(-5, 10) | st.floats(-5, 10),
)
def test_a_range_holds_what_it_says(low, high, open_low, open_high, value):
    limits = {
        ("above" if open_low else "at_least"): low,
        ("below" if open_high else "at_most"): high,
    }
    holds = Parameter(help="", **limits).holds(value)
    above = low is None or value > low or (value == low and not open_low)
    below = high is None or value < high or (value == high and not open_high)
    assert holds == (above and below)


def commands():
    """Return all commands, those of groups too, by their names."""
    found = {}
    for name in COMMANDS:
        command = load_command(name)
        parts = getattr(command, "commands", {})
        found |= {f"{name} {part}": parts[part] for part in parts} or {name: command}
    return found


@pytest.mark.parametrize("command", commands().values(), ids=commands())
def test_what_all_commands_share(command):
    options = {flag: option for option in command.params for flag in option.opts}
    assert "Exit codes: 0 " in command.help or "Exit codes: those" in command.help
    if "--format" in options:
        assert {"--out", "--quiet"} <= options.keys()
    for flag in ("--seed", "--jobs"):
        if flag in options:
            assert options[flag].default == {"--seed": 0, "--jobs": None}[flag]
