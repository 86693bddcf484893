"""The arguments and options of commands: those that several have, and those of parameters."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import wraps
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any, get_type_hints

import typer

from testsgd.errors import ParameterError
from testsgd.parameters import LARGEST, MOST_JOBS, Declared, check_size, declared_parameters

DatasetArgument = Annotated[
    str,
    typer.Argument(
        metavar="NAME_OR_SPEC",
        help="A data set of the catalogue, or the TOML file that describes yours.",
    ),
]

AuditedArgument = Annotated[
    list[str],
    typer.Argument(
        metavar="NAME_OR_SPEC",
        help="A data set of the catalogue, the TOML file that describes yours, a file of rows "
        "(.csv, .tsv, .jsonl, .parquet, .feather), several with rows of one table, or a database.",
    ),
]

DataOption = Annotated[
    Path | None,
    typer.Option("--data", help="A file of rows or texts, in place of the data set's own."),
]

ModelOption = Annotated[
    str | None,
    typer.Option(
        "--model",
        help="A catalogue name; a file: .keras, .onnx, .skops, .json or .ubj (XGBoost), .txt "
        "(LightGBM), .cbm (CatBoost), .joblib or .pkl; a folder of MLflow; an HTTP address; 'cmd:' "
        "and a command; or package.module:callable. (default: the network trained for the data "
        "set)",
    ),
]

TrustPickleOption = Annotated[
    bool,
    typer.Option(
        "--trust-pickle",
        help="Read a pickled --model (.joblib, .pkl), a folder of MLflow, or all types of a "
        ".skops file, which runs the code that is in it.",
    ),
]

TermsOption = Annotated[
    Path | None,
    typer.Option(help="For texts: a TOML file of sensitive terms, in place of the paper's."),
]

DomainOption = Annotated[
    str | None,
    typer.Option(
        metavar="SPEC",
        help="The range of every input: a data set of the catalogue, the TOML file that describes "
        "yours, a TOML file of ranges, or FILE.json:KEY. (default: the data set that the model was "
        "trained on, if it is known)",
    ),
]

NetworkThresholdOption = Annotated[
    float | None,
    typer.Option(
        help="A score above it counts as the one label. (default: the model's own, mostly 0.5)"
    ),
]

# Of commands that serve.
HostOption = Annotated[
    str, typer.Option(help="Address to listen at; only this machine can reach the default.")
]

PortOption = Annotated[int, typer.Option(help="Port to listen at; 0: any that is free.")]

AllowHostOption = Annotated[
    list[str] | None,
    typer.Option(help="Another name that the server is asked by, such as that of a proxy."),
]

TokenFileOption = Annotated[
    Path | None,
    typer.Option(help="A file with the token that requests must have. (default: none)"),
]

_MAX_CONNECTIONS = (
    "Most connections at a time; beyond it those are closed that wait longest for a request."
)
MaxConnectionsOption = Annotated[int, typer.Option(min=1, help=_MAX_CONNECTIONS)]

# Of a command that also has --max-requests.
MaxConnectionsForRequestsOption = Annotated[
    int | None,
    typer.Option(min=1, help=f"{_MAX_CONNECTIONS} (default: 100 more than twice --max-requests)"),
]

# What is listed with commas may be listed by giving the option again, too; :func:`listed` reads it.
SensitiveOption = Annotated[
    list[str] | None,
    typer.Option(
        help="Of a file of rows: the sensitive features, with commas or one by one. A name with "
        "a comma stands in double quotes: '\"race, ethnicity\",sex'."
    ),
]

LabelOption = Annotated[
    str | None, typer.Option(help="Of a file of rows: the column with the true labels.")
]

EncodingOption = Annotated[
    str | None,
    typer.Option(
        help="Of a file of rows as text: how it is encoded, such as latin-1. (default: UTF-8)"
    ),
]

LimitOption = Annotated[
    int | None, typer.Option(help="Take a random sample of so many rows or texts.")
]

SeedOption = Annotated[int, typer.Option(help="Same seed, same result.")]

JobsOption = Annotated[
    int | None, typer.Option(help="Processors to work on; changes no result. (default: all)")
]

FavourableOption = Annotated[
    list[str] | None,
    typer.Option(
        "--favorable",
        "--favourable",
        help="The label whose rate is compared, or several together, with commas or one by one.",
    ),
]

OutcomeOption = Annotated[
    str | None,
    typer.Option(
        "--outcome",
        metavar="benefit|harm|neither",
        help="What it is for a person to be given that label; reports name the side first that is "
        "worse off. (default: the description's, or benefit)",
    ),
]

ThresholdOption = Annotated[
    float, typer.Option(help="A score above it counts as the favourable label.")
]

FormatOption = Annotated[
    list[str] | None,
    typer.Option(
        "--format", help="Which reports, with commas: html, md, json. (default: html,md,json)"
    ),
]
FORMATS = "html,md,json"

QuietOption = Annotated[bool, typer.Option("--quiet", help="Print errors only.")]

# Of commands that take a specification with groups.
AuditedGroupsOption = Annotated[
    Path | None,
    typer.Option(
        "--groups",
        metavar="result.json",
        help="The JSON result of an audit of rows: the first group that it found, or that its "
        "--group named, and its complement stand in place of the groups of the specification. "
        "(default: the specification has groups)",
    ),
]

# Of commands that measure how long each step takes.
VerboseTimingsOption = Annotated[
    bool, typer.Option("--verbose", help="Print timings too; show internal errors whole.")
]

VerboseOption = Annotated[bool, typer.Option("--verbose", help="Show internal errors whole.")]


def listed(texts: str | Collection[str] | None, default: str = "") -> list[str]:
    """Return what a user lists with commas or by giving an option several times, each item once.

    In double quotes an item may have commas, and blanks at its ends. `default` is what is listed if
    nothing is given.

    >>> listed(["sex, race", "age", "sex"]), listed(None, "html,md")
    (['sex', 'race', 'age'], ['html', 'md'])
    >>> listed('"pay, gross" , " age "')
    ['pay, gross', ' age ']
    """
    given = [texts] if isinstance(texts, str) else texts or [default]
    items = [_item(found) for text in given for found in _ITEM.finditer(text)]
    return list(dict.fromkeys(item for item in items if item))


# What stands between commas: an item in double quotes, perhaps with more behind it, or a bare one.
_ITEM = re.compile(r'\s*(?:"(?P<quoted>(?:[^"]|"")*)(?:"|$)(?P<more>[^,]*)|(?P<bare>[^,]*))(?:,|$)')


def _item(found: re.Match[str]) -> str:
    """Return an item of a list as it is meant: blanks are part of it within double quotes only."""
    if found["quoted"] is None:
        return found["bare"].strip()
    return found["quoted"].replace('""', '"') + found["more"].rstrip()


def one_or_several(texts: Collection[str] | None) -> str | list[str] | None:
    """Return the text of an option that is given once, or those of one given several times.

    Unlike :func:`listed` it splits none: a label may have commas, and only the data say so.
    """
    several = list(texts or ())
    return several if len(several) > 1 else next(iter(several), None)


def processors(jobs: int | None) -> int:
    """Return the number of processors that is asked for, by default all."""
    import joblib

    return int(joblib.cpu_count()) if jobs is None else jobs


def given_on_the_command_line(context: typer.Context, values: Mapping[str, Any]) -> dict[str, Any]:
    """Return those options of the running command that its user wrote, by name."""
    given = {}
    for name, value in values.items():
        source = context.get_parameter_source(name)
        if source is not None and not source.name.startswith("DEFAULT"):
            given[name] = value
    return given


def check_numbers(command: Any) -> None:
    """Let a command refuse numbers that are too large before it runs; its callback is replaced."""
    run: Callable[..., Any] = command.callback
    flags = {option.name: option.opts[0] for option in command.params}

    @wraps(run)
    def checking(**arguments: Any) -> Any:
        for name, value in arguments.items():
            for number in value if isinstance(value, list | tuple) else (value,):
                check_size(number, where=flags.get(name, name))
        jobs = arguments.get("jobs")
        if isinstance(jobs, int) and jobs > MOST_JOBS:
            remedy = f"give at most {MOST_JOBS}"
            raise ParameterError(f"{jobs} is too large", where="--jobs", remedy=remedy)
        return run(**arguments)

    command.callback = checking


def check_given_once(command: Any) -> None:
    """Let a command refuse an option of one value that is given twice; its parser is replaced.

    Else the last value counts, and the others would be passed over without a word.
    """
    of_values = [option for option in command.params if option.param_type_name == "option"]
    of_values = [option for option in of_values if not option.is_flag and not option.count]
    parse: Callable[..., Any] = command.parse_args

    def parsing(context: Any, arguments: list[str]) -> Any:
        for option in of_values:
            times = _times_given(arguments, option, of_values)
            if times > 1 and not option.multiple:
                raise ParameterError(
                    f"it is given {times} times, and takes one value",
                    where=option.opts[0],
                    remedy="give it once",
                )
        return parse(context, arguments)

    command.parse_args = parsing


def _times_given(arguments: Sequence[str], wanted: Any, of_values: Sequence[Any]) -> int:
    """Return how often an option is among arguments; what stands behind an option is its value."""
    names = {name for option in of_values for name in option.opts}
    words = iter(arguments)
    times = 0
    for word in words:
        if word == "--":
            break
        name, _, value = word.partition("=")
        times += name in wanted.opts
        if name in names and not value and "=" not in word:
            next(words, None)
    return times


def with_options(
    parameters: Any,
    *,
    but: Collection[str] = (),
    only: Collection[str] = (),
    notes: Mapping[str, str] = MappingProxyType({}),
) -> Callable[[Callable[..., int]], Callable[..., int]]:
    """Add an option to a command for each parameter that a class declares, in place of ``**``.

    The command gets their values by name. `but` and `only` choose among the parameters;
    `notes` are sentences for the help of some of them. The options stand in the help before that of
    ``--out``.
    """

    def decorate(command: Callable[..., int]) -> Callable[..., int]:
        def run(**values: Any) -> int:
            for name in names:
                if values[name]:
                    # A list of nothing is given, too, and is refused as such.
                    values[name] = listed(values[name]) or [""]
            return command(**values)

        chosen = {
            name: declared
            for name, declared in declared_parameters(parameters).items()
            if name not in but and (not only or name in only)
        }
        names = [name for name, declared in chosen.items() if _lists_names(declared)]
        hints = get_type_hints(command, include_extras=True)
        own = [
            item.replace(annotation=hints[name])
            for name, item in inspect.signature(command).parameters.items()
            if item.kind is not inspect.Parameter.VAR_KEYWORD
        ]
        before = [item.name for item in own].index("out")
        added = [_option(item, notes.get(name, "")) for name, item in chosen.items()]
        items = [*own[:before], *added, *own[before:]]
        run.__doc__, run.__name__ = command.__doc__, command.__name__
        run.parameters = parameters  # type: ignore[attr-defined]  # for tests of all commands
        run.__annotations__ = {item.name: item.annotation for item in items} | {"return": int}
        run.__signature__ = inspect.Signature(  # type: ignore[attr-defined]  # typer reads it
            [item.replace(kind=inspect.Parameter.KEYWORD_ONLY) for item in items]
        )
        return run

    return decorate


def _lists_names(declared: Declared) -> bool:
    """Return whether an option is given names, with commas or one by one."""
    is_value = declared.choices or declared.kind in (int, float, bool, str)
    return not is_value and not declared.parameter.repeated


def _option(declared: Declared, note: str) -> inspect.Parameter:
    """Return a parameter of a command, annotated as typer wants it; `note` ends its help."""
    name = declared.name
    default = declared.default
    kind: Any = declared.kind
    if declared.parameter.repeated or _lists_names(declared):
        kind = list[str]
        default = None
    elif declared.choices:
        # What is not among them is refused by the parameters themselves.
        kind = str
    flags = declared.parameter.flags or (f"--{name.replace('_', '-')}",)
    if kind is bool and default:
        flags = tuple(f"{flag}/--no-{flag.removeprefix('--')}" for flag in flags)
    help_text = re.sub(
        r"`(\w+)`", lambda match: "--" + match[1].replace("_", "-"), declared.parameter.help
    )
    if note:
        help_text += f" {note}"
    if declared.parameter.described:
        help_text += f" (default: the description's, or {default or 'none'})"
        default = None
    option = typer.Option(*flags, help=help_text, metavar="|".join(declared.choices) or None)
    optional = declared.optional or default is None
    return inspect.Parameter(
        name,
        inspect.Parameter.KEYWORD_ONLY,
        default=default,
        annotation=Annotated[kind | None if optional else kind, option],
    )


_SIZE = re.compile(r"\s*(?P<number>\d+(?:\.\d+)?)\s*(?P<unit>[kmgt]?)(?P<binary>i?)b?\s*", re.I)


def byte_count(text: str, where: str) -> int:
    """Read an amount of memory in bytes from a number with a unit.

    >>> byte_count("8GB", "--memory-limit"), byte_count("1.5 KiB", "--memory-limit")
    (8000000000, 1536)
    """
    match = _SIZE.fullmatch(text)
    size = 0.0
    if match is not None:
        power = " kmgt".index(match["unit"].lower() or " ")
        size = float(match["number"]) * (1024 if match["binary"] else 1000) ** power
    if match is None or size > LARGEST:
        raise ParameterError(
            f"{text!r} is no amount of memory", where=where, remedy="give one such as 8GB"
        )
    return int(size)
