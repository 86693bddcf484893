"""What a user can choose, each parameter declared once: its type, default, meaning and range.

A dataclass that derives from :class:`Parameters` and says with :func:`parameter` what
its fields are checks their values, documents them, and gives the command line its options
(:mod:`testsgd.cli.options`) and a call its keywords (:func:`show_parameters`).
"""

from __future__ import annotations

import inspect
import math
import textwrap
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import Field, dataclass, field, fields
from difflib import get_close_matches
from functools import cache
from numbers import Integral, Real
from types import MappingProxyType, NoneType, UnionType
from typing import (
    Any,
    ClassVar,
    Literal,
    TypeVar,
    Union,
    get_args,
    get_origin,
    get_type_hints,
)

from testsgd.errors import ParameterError

P = TypeVar("P", bound="Parameters")
F = TypeVar("F", bound=Callable[..., Any])

_KINDS: dict[Any, tuple[type, str]] = {
    int: (Integral, "a whole number"),
    float: (Real, "a number"),
    bool: (bool, "True or False"),
    str: (str, "a text"),
}

# Larger whole numbers do not fit into what counts, draws and measures.
LARGEST = 2**63 - 1
# Of processors to work on, of seeds of libraries that make models, and of samples that are drawn to
# estimate from.
MOST_JOBS = 1024
LARGEST_SEED = 2**32 - 1
MOST_SAMPLES = 10**7


@dataclass(frozen=True, kw_only=True)
class Parameter:
    """The meaning of a parameter and its range.

    Attributes
    ----------
    help : str
        What it is, for docstrings and for the command line; other parameters in backticks.
    at_least, above, at_most, below : float or None
        The range of a number, with and without its ends.
    example : str
        What to give instead of a wrong value, such as "a share such as 0.05".
    described : bool
        Whether a data set's description may say it if the user does not.
    flags : tuple of str
        The option's names on the command line, if its name there is not the parameter's.
    repeated : bool
        Whether the option is given once for each of several texts, which may have commas in them.
    call_type : type or None
        What a call takes, if that is more than the field holds.
    call_help : str
        What that means.
    """

    help: str
    at_least: float | None = None
    above: float | None = None
    at_most: float | None = None
    below: float | None = None
    example: str = ""
    described: bool = False
    flags: tuple[str, ...] = ()
    repeated: bool = False
    call_type: Any = None
    call_help: str = ""

    @property
    def range(self) -> str:
        """The range in words, as it follows "is not"."""
        low = self.at_least if self.above is None else self.above
        high = self.at_most if self.below is None else self.below
        if high is None:
            return f"{'above' if self.at_least is None else 'at least'} {low:g}"
        if (self.above is None) == (self.below is None):
            # A large whole number is not rounded.
            return f"between {low:g} and {high if isinstance(high, int) else f'{high:g}'}"
        left = "[" if self.above is None else "("
        right = "]" if self.below is None else ")"
        return f"in {left}{low:g}, {high:g}{right}"

    def holds(self, value: float) -> bool:
        """Return whether a number is in the range."""
        return (
            (self.at_least is None or value >= self.at_least)
            and (self.above is None or value > self.above)
            and (self.at_most is None or value <= self.at_most)
            and (self.below is None or value < self.below)
        )


@dataclass(frozen=True)
class Declared:
    """A parameter of a class: its name, type and default, and its declaration."""

    name: str
    kind: Any  # int, float, bool, str, a Literal or a tuple of str
    optional: bool
    default: Any
    parameter: Parameter

    @property
    def choices(self) -> tuple[str, ...]:
        """The values of a Literal; empty of others."""
        return get_args(self.kind) if get_origin(self.kind) is Literal else ()

    @property
    def type_text(self) -> str:
        """The type, as numpydoc writes it."""
        return _type_text(self.kind | None if self.optional else self.kind)

    @property
    def annotation(self) -> Any:
        """The type of the keyword of a call."""
        if self.parameter.call_type is not None:
            return self.parameter.call_type
        return self.kind | None if self.optional else self.kind

    @property
    def call_text(self) -> str:
        """The type and the default of the keyword of a call, as numpydoc writes them."""
        if self.default is None:
            return f"{_type_text(self.annotation, none=False)}, optional"
        default = f'"{self.default}"' if isinstance(self.default, str) else repr(self.default)
        return f"{_type_text(self.annotation)}, default {default}"

    def check(self, value: Any) -> None:
        """Raise a :class:`ParameterError` unless the value has the type and is in the range."""
        if value is None and self.optional:
            return
        if self.choices:
            if value not in self.choices:
                raise self._error(
                    f"{value!r} is not known", f"choose one of {', '.join(self.choices)}"
                )
        elif self.kind in _KINDS:
            # A number without an end that is out of the range is better said so.
            if isinstance(value, Integral):
                check_size(value, where=self.name)
            kind, words = _KINDS[self.kind]
            if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
                raise self._error(f"{value!r} is not {words}", f"give {words}")
            if isinstance(value, Real) and not self.parameter.holds(float(value)):
                example = self.parameter.example or words
                raise self._error(f"{value} is not {self.parameter.range}", f"give {example}")
            check_size(value, where=self.name)

    def _error(self, what: str, remedy: str) -> ParameterError:
        return ParameterError(what, where=self.name, remedy=remedy, name=self.name)


def check_size(value: Any, *, where: str) -> None:
    """Raise a :class:`ParameterError` if a number is too large to count with, or has no end.

    Parameters
    ----------
    value : object
        What is no number passes.
    where : str
        The parameter, or the option.

    Examples
    --------
    >>> check_size(10, where="runs")
    >>> check_size(10**400, where="runs")
    Traceback (most recent call last):
    testsgd.errors.ParameterError: runs: ...
    """
    if isinstance(value, Integral):
        # It may have more digits than Python writes.
        if abs(int(value)) > LARGEST:
            what = "the number is too large"
            remedy = f"give at most {LARGEST}" if int(value) > 0 else f"give at least {-LARGEST}"
            raise ParameterError(what, where=where, remedy=remedy, name=where)
    elif isinstance(value, Real) and not math.isfinite(value):
        remedy = "give a finite number"
        raise ParameterError(f"{value} is no finite number", where=where, remedy=remedy, name=where)


def largest_below(value: int, holds: Callable[[int], bool]) -> int:
    """Return the largest number below another for which something holds; 0 if there is none.

    Parameters
    ----------
    value : int
    holds : callable
        Whether it does; if for a number, then for all smaller ones.

    Examples
    --------
    >>> largest_below(10**30, lambda number: number * number < 200)
    14
    """
    low, high = 0, value
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if holds(middle) else (low, middle)
    return low


class Parameters:
    """A dataclass of what a user can choose; every value is checked against its declaration."""

    # A summary that holds parameters is read with these names and no others.
    __pydantic_config__: ClassVar[dict[str, Any]] = {"extra": "forbid"}

    def __init_subclass__(cls) -> None:
        cls.__doc__ = _documented(cls)

    def __post_init__(self) -> None:
        cls: Any = type(self)
        for name, declared in declared_parameters(cls).items():
            declared.check(getattr(self, name))


def parameter(
    default: Any,
    help: str,  # noqa: A002 - as typer calls it
    *,
    at_least: float | None = None,
    above: float | None = None,
    at_most: float | None = None,
    below: float | None = None,
    example: str = "",
    described: bool = False,
    flags: tuple[str, ...] = (),
    repeated: bool = False,
    call_type: Any = None,
    call_help: str = "",
) -> Any:
    """Return a dataclass's field with its default; the other keywords are as for `Parameter`."""
    declaration = Parameter(
        help=help,
        at_least=at_least,
        above=above,
        at_most=at_most,
        below=below,
        example=example,
        described=described,
        flags=flags,
        repeated=repeated,
        call_type=call_type,
        call_help=call_help,
    )
    return field(default=default, metadata={"parameter": declaration, "description": help})


@cache
def declared_parameters(cls: type) -> Mapping[str, Declared]:
    """Return the parameters of a class of :class:`Parameters` in their order, by name.

    Examples
    --------
    >>> from testsgd.auditing import AuditParameters
    >>> theta = declared_parameters(AuditParameters)["theta"]
    >>> theta.type_text, theta.default, theta.parameter.range
    ('float or None', None, 'between 0 and 1')
    """
    return MappingProxyType(_declared(cls, {item.name: item for item in fields(cls)}))


def parameters_of(cls: type[P], chosen: Mapping[str, Any], *, where: str) -> P:
    """Return a class's parameters with the values that a user chose by name.

    Raises
    ------
    ParameterError
        If there is no such parameter, or a value is out of its range.
    """
    check_names(cls, chosen, where=where)
    return cls(**chosen)


def check_names(
    cls: type[Parameters], chosen: Iterable[str], *, where: str, keywords: Iterable[str] = ()
) -> None:
    """Raise an error if something is chosen that is no parameter of a class.

    Parameters
    ----------
    cls : type of Parameters
    chosen : iterable of str
        Names that a user gave.
    where : str
        What was called.
    keywords : iterable of str
        What the call takes beside the parameters; a name may be a misspelt one of these.

    Raises
    ------
    ParameterError
        If there is no such parameter.

    Examples
    --------
    >>> from testsgd.auditing import AuditParameters
    >>> check_names(AuditParameters, ["min_rws"], where="audit")
    Traceback (most recent call last):
    ...
    testsgd.errors.ParameterError: audit: there is no parameter 'min_rws'; 'min_rows' is near; ...
    """
    known = {item.name for item in fields(cls)}  # type: ignore[arg-type]  # all are dataclasses
    for name in chosen:
        if name not in known:
            near = get_close_matches(name, [*keywords, *sorted(known)], n=1)
            meant = f"{near[0]!r} is near; " if near else ""
            raise ParameterError(
                f"there is no parameter {name!r}",
                where=where,
                remedy=f"{meant}the parameters are {', '.join(sorted(known))}",
                name=name,
            )


def show_parameters(
    *classes: type, only: Mapping[type, str] = MappingProxyType({})
) -> Callable[[F], F]:
    """Return a decorator that shows parameters in place of a function's ``**parameters``.

    ``help``, completion and :func:`inspect.signature` then show each parameter as a keyword with
    its type and default. What the function does stays as it is.

    Parameters
    ----------
    *classes : type
        Classes of :class:`Parameters`. Of a name that several have the first one's type and
        default are shown; a keyword that the function has itself stays as it is.
    only : mapping of type to str
        Sentences about the parameters that only one of these classes has.

    Returns
    -------
    callable
        It returns the function that it gets.

    Examples
    --------
    >>> from testsgd.auditing import AuditParameters
    >>> @show_parameters(AuditParameters)
    ... def count(rows, **parameters):
    ...     return len(rows)
    >>> str(inspect.signature(count).parameters["theta"])
    'theta: float | None = None'
    """

    def show(function: F) -> F:
        signature = inspect.signature(function)
        own = [item for item in signature.parameters.values() if item.kind is not item.VAR_KEYWORD]
        (rest,) = signature.parameters.keys() - {item.name for item in own}
        shown: dict[str, Declared] = {}
        for cls in classes:
            for name, declared in declared_parameters(cls).items():
                shown.setdefault(name, declared)
        further = [item for item in shown.values() if item.name not in signature.parameters]
        keywords = [
            inspect.Parameter(
                item.name,
                inspect.Parameter.KEYWORD_ONLY,
                default=item.default,
                annotation=item.annotation,
            )
            for item in further
        ]
        changed: Any = function
        changed.__signature__ = signature.replace(parameters=[*own, *keywords])
        entries = [line for item in further for line in _entry(item, classes, only)]
        changed.__doc__ = _with_entries(function.__doc__, rest, entries)
        return function

    return show


def _entry(item: Declared, classes: Sequence[type], only: Mapping[type, str]) -> list[str]:
    """Return a parameter's lines in the docstring of a call."""
    texts = [item.parameter.help, item.parameter.call_help]
    having = [cls for cls in classes if item.name in declared_parameters(cls)]
    if len(having) == 1:
        texts.append(only.get(having[0], ""))
    for cls in classes:
        other = declared_parameters(cls).get(item.name, item)
        if other.default != item.default:
            texts.append(f"The default of `{cls.__name__}` is {other.default!r}.")
    return [f"{item.name} : {item.call_text}", *_indented(" ".join(filter(None, texts)))]


def _with_entries(docstring: str | None, rest: str, entries: Sequence[str]) -> str | None:
    """Return a docstring with entries in place of that of ``**rest``."""
    if docstring is None:  # as under python -OO
        return None
    lines = inspect.cleandoc(docstring).splitlines()
    if f"**{rest}" not in lines:
        return docstring
    start = lines.index(f"**{rest}")
    end = start + 1
    while end < len(lines) and lines[end].startswith(" "):
        end += 1
    return "\n".join([*lines[:start], *entries, *lines[end:]])


def _type_text(kind: Any, *, none: bool = True) -> str:
    """Return a type as numpydoc writes it, without None if that goes without saying."""
    if get_origin(kind) in (Union, UnionType):
        texts = [_type_text(part) for part in get_args(kind) if none or part is not NoneType]
        return " or ".join(filter(None, [", ".join(texts[:-1]), texts[-1]]))
    if get_origin(kind) is Literal:
        return "{" + ", ".join(f'"{choice}"' for choice in get_args(kind)) + "}"
    if kind is NoneType:
        return "None"
    origin = get_origin(kind)
    return str(kind.__name__) if origin is None else f"{origin.__name__.lower()} of str"


def _indented(text: str) -> list[str]:
    return textwrap.wrap(text, 92, initial_indent="    ", subsequent_indent="    ")


def _declared(cls: type, items: Mapping[str, Any]) -> dict[str, Declared]:
    """Return the declared parameters among the fields of a class, by name and in order."""
    hints = get_type_hints(cls)
    declared = {}
    for name, item in items.items():
        if not isinstance(item, Field) or "parameter" not in item.metadata:
            continue
        kinds = [kind for kind in get_args(hints[name]) if kind is not NoneType]
        optional = NoneType in get_args(hints[name])
        declared[name] = Declared(
            name=name,
            kind=kinds[0] if optional else hints[name],
            optional=optional,
            default=item.default,
            parameter=item.metadata["parameter"],
        )
    return declared


def _documented(cls: type) -> str:
    """Return a class's docstring with the section of its attributes after the first paragraph."""
    lines = ["Attributes", "----------"]
    # The class is not yet a dataclass.
    for declared in _declared(cls, vars(cls)).values():
        lines.append(f"{declared.name} : {declared.type_text}")
        lines += _indented(declared.parameter.help)
    summary, _, rest = inspect.cleandoc(cls.__doc__ or "").partition("\n\n")
    return "\n\n".join(part for part in (summary, "\n".join(lines), rest) if part)
