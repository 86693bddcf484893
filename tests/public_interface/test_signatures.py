"""The calls show their parameters: as keywords, in the help, and to type checkers."""

from __future__ import annotations

import inspect
import pydoc
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import FunctionType
from typing import Any, Unpack, get_type_hints

import pytest

import testsgd
from testsgd.auditing import (
    AuditOptions,
    AuditParameters,
    audit_decisions,
    audit_undescribed,
)
from testsgd.errors import ParameterError
from testsgd.metrics import (
    MetricOptions,
    MetricParameters,
    PredictionOptions,
    audit_counts,
    audit_rows_elsewhere,
)
from testsgd.mitigation import FrontierOptions, FrontierParameters
from testsgd.parameters import Parameters, declared_parameters, parameter, show_parameters

CLASSES = {
    testsgd.audit: [AuditParameters],
    audit_decisions: [AuditParameters],
    audit_undescribed: [AuditParameters],
    testsgd.audit_metrics: [MetricParameters],
    testsgd.audit_predictions: [AuditParameters, MetricParameters],
    testsgd.fair_frontier: [FrontierParameters],
}
OPTIONS = {
    testsgd.audit: AuditOptions,
    audit_decisions: AuditOptions,
    audit_undescribed: AuditOptions,
    testsgd.audit_metrics: MetricOptions,
    testsgd.audit_predictions: PredictionOptions,
    testsgd.fair_frontier: FrontierOptions,
}
PEOPLE = {"sex": ["f", "m"] * 50}


@dataclass(frozen=True, kw_only=True)
class Few(Parameters):
    """A few parameters."""

    size: int = parameter(1, "How large.")
    name: str = parameter("a", "How called.")


calls = pytest.mark.parametrize("call", CLASSES, ids=lambda call: call.__name__)


def test_an_audit_shows_its_parameters_with_types_and_defaults() -> None:
    shown = inspect.signature(testsgd.audit).parameters
    assert str(shown["theta"]) == "theta: float | None = None"
    assert str(shown["min_rows"]) == "min_rows: int | None = None"
    assert str(shown["fail_above"]) == "fail_above: float | None = None"
    assert str(shown["overlap"]) == "overlap: float = 0.8"
    assert str(shown["mode"]) == "mode: Literal['auto', 'exact', 'sampled'] = 'auto'"
    assert shown["condition_on"].annotation == str | Sequence[str]
    assert shown["nondeterministic"].annotation == bool | int | None


def test_an_audit_of_metrics_shows_its_own() -> None:
    shown = inspect.signature(testsgd.audit_metrics).parameters
    assert str(shown["min_rows"]) == "min_rows: int = 50"
    assert str(shown["fail_below"]) == "fail_below: float | None = None"
    assert "theta" not in shown


@calls
def test_each_parameter_is_a_keyword_and_the_functions_own_stay(call: Callable[..., Any]) -> None:
    shown = inspect.signature(call).parameters
    own = inspect.signature(_as_written(call)).parameters
    names = {name for cls in CLASSES[call] for name in declared_parameters(cls)}
    assert set(shown) == {*own, *names} - {"parameters"}
    assert [name for name in shown if name in own] == [name for name in own if name in shown]
    for name in names:
        declared = [declared_parameters(cls).get(name) for cls in CLASSES[call]]
        first = next(item for item in declared if item is not None)
        assert shown[name].kind is inspect.Parameter.KEYWORD_ONLY
        assert (shown[name].default, shown[name].annotation) == (first.default, first.annotation)


def _as_written(call: Callable[..., Any]) -> Callable[..., Any]:
    """Return the function as it is written."""
    written: Any = call
    return FunctionType(written.__code__, {})


@calls
def test_the_help_lists_each_parameter_once(call: Callable[..., Any]) -> None:
    lines = (inspect.getdoc(call) or "").splitlines()
    section = lines[lines.index("Parameters") : lines.index("Returns")]
    entries = [line.partition(" :")[0] for line in section if line[:1].isalpha() and " :" in line]
    for cls in CLASSES[call]:
        for name, item in declared_parameters(cls).items():
            assert entries.count(name) == 1
            if call is not testsgd.audit_predictions:  # it has one type of what both classes have
                assert f"{name} : {item.call_text}" in section
    assert "**parameters" not in section
    shown = pydoc.render_doc(call, renderer=pydoc.plaintext)
    assert "\n    seed : int, default 0\n        Same seed, same result.\n" in shown


def test_the_help_says_what_else_a_call_takes() -> None:
    shown = inspect.getdoc(testsgd.audit) or ""
    assert "\ncondition_on : str or sequence of str, default ()\n" in shown
    assert "one text with commas" in shown
    assert "\nnondeterministic : bool or int, optional\n" in shown


def test_the_help_names_the_default_of_the_other_class() -> None:
    shown = inspect.getdoc(testsgd.audit_predictions) or ""
    assert "\ntop : int, default 100\n" in shown
    assert "The default of `MetricParameters` is 20." in shown


@pytest.mark.parametrize(
    "call", [audit_counts, audit_rows_elsewhere], ids=lambda call: call.__name__
)
def test_audits_of_rows_elsewhere_show_the_parameters_of_metrics(call: Callable[..., Any]) -> None:
    shown = inspect.signature(call).parameters
    assert str(shown["reference"]) == "reference: str = 'rest'"
    assert "parameters" not in shown
    assert "reference : str" in (inspect.getdoc(call) or "")


@calls
def test_checkers_read_what_the_signature_shows(call: Callable[..., Any]) -> None:
    assert get_type_hints(call)["parameters"] == Unpack[OPTIONS[call]]


@pytest.mark.parametrize(
    ("options", "cls"),
    [
        (AuditOptions, AuditParameters),
        (MetricOptions, MetricParameters),
        (FrontierOptions, FrontierParameters),
    ],
)
def test_the_options_are_the_parameters_by_name_and_type(options: type, cls: type) -> None:
    declared = declared_parameters(cls)
    assert get_type_hints(options) == {name: item.annotation for name, item in declared.items()}
    assert list(get_type_hints(options)) == list(declared)
    assert not options.__required_keys__  # type: ignore[attr-defined]


def test_the_options_of_predictions_are_those_of_both() -> None:
    both = get_type_hints(MetricOptions) | get_type_hints(AuditOptions)
    assert get_type_hints(PredictionOptions) == both


def test_an_unknown_keyword_is_refused_with_the_list() -> None:
    refused = [
        lambda: testsgd.audit(None, None, "demo", thta=0.1),
        lambda: testsgd.audit_predictions([0, 1] * 50, sensitive_features=PEOPLE, thta=0.1),
    ]
    for call in refused:
        with pytest.raises(ParameterError, match="there is no parameter 'thta'") as caught:
            call()
        assert "fail_above" in str(caught.value)
        assert "theta" in str(caught.value)
    with pytest.raises(ParameterError, match="there is no parameter 'theta'") as caught:
        testsgd.audit_metrics([0, 1] * 50, sensitive_features=PEOPLE, theta=0.1)
    assert "fail_below" in str(caught.value)


def test_a_call_takes_names_with_commas_and_true() -> None:
    decided = testsgd.audit_predictions(
        [0, 1] * 100,
        sensitive_features={"sex": ["f", "m"] * 100},
        other_features={"town": ["a", "b", "b", "a"] * 50, "age": [*range(20, 60)] * 5},
        condition_on="town, age",
        equal_rows="each",
        progress=lambda *_: None,
    )
    assert decided.summary.parameters.condition_on == ("town", "age")
    with pytest.raises(ParameterError, match="nondeterministic"):
        AuditParameters(nondeterministic=True)
    rows = testsgd.generate_demo(rows=300, seed=1)[["gender", "income"]]
    asked = testsgd.audit(
        lambda frame: (frame["income"] > 40).map({True: "yes", False: "no"}),
        rows,
        sensitive_features=["gender"],
        nondeterministic=True,
    )
    assert asked.summary.parameters.nondeterministic == 5


def test_progress_of_predictions_is_shown_and_given_on(monkeypatch: pytest.MonkeyPatch) -> None:
    given: list[Any] = []
    monkeypatch.setattr(
        "testsgd.metrics.call.audit_decisions", lambda *_, progress, **__: given.append(progress)
    )
    testsgd.audit_predictions([0, 1] * 50, sensitive_features=PEOPLE, progress=print)
    assert given == [print]
    result = testsgd.audit_predictions(
        [0, 1] * 50, sensitive_features=PEOPLE, metrics="selection_rate", progress=print
    )
    assert isinstance(result, testsgd.MetricsResult)
    assert "progress" in inspect.signature(testsgd.audit_predictions).parameters


def test_a_keyword_of_the_function_stays_as_it_is() -> None:
    @show_parameters(Few)
    def call(rows: Any, *, name: str = "own", **rest: Any) -> Any:
        """Return what it gets.

        Parameters
        ----------
        rows : object
            The rows.
        **rest
            Those of a class,
            over two lines.

        Returns
        -------
        object
        """
        return rows, name, rest

    shown = inspect.signature(call).parameters
    assert list(shown) == ["rows", "name", "size"]
    assert shown["name"].default == "own"
    assert call.__doc__ is not None
    lines = call.__doc__.splitlines()
    assert lines[5:10] == [
        "    The rows.",
        "size : int, default 1",
        "    How large.",
        "",
        "Returns",
    ]
    assert call(1, size=2) == (1, "own", {"size": 2})


@pytest.mark.parametrize(
    ("misspelt", "near"),
    [("sensitive_featurs", "sensitive_features"), ("min_rws", "min_rows"), ("outcom", "outcome")],
)
def test_a_misspelt_keyword_is_named_with_the_nearest_one(misspelt: str, near: str) -> None:
    people = testsgd.generate_demo(rows=100, seed=0)[["gender", "income"]]
    with pytest.raises(ParameterError) as caught:
        testsgd.audit(lambda rows: rows["income"] > 40, people, **{misspelt: ["gender"]})
    assert repr(misspelt) in caught.value.what
    assert repr(near) in str(caught.value.remedy)


@pytest.mark.parametrize(
    ("misspelt", "near"),
    [("favorable", "favourable"), ("min_rws", "min_rows"), ("treshold", "threshold")],
)
@pytest.mark.parametrize("options", [{}, {"metrics": "selection_rate"}])
def test_a_misspelt_keyword_of_predictions_is_named_with_the_nearest_one(
    misspelt: str, near: str, options: dict[str, Any]
) -> None:
    people = testsgd.generate_demo(rows=100, seed=0)
    with pytest.raises(ParameterError) as caught:
        testsgd.audit_predictions(
            people["granted"], sensitive_features=people[["gender"]], **options, **{misspelt: 1}
        )
    assert repr(misspelt) in caught.value.what
    assert repr(near) in str(caught.value.remedy)
