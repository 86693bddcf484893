"""``testsgd shield``: make a shield, let it decide, simulate what it does, serve it."""

from __future__ import annotations

import json
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from testsgd.cli import console, options
from testsgd.cli.default_folders import default_folder
from testsgd.cli.specifications import write_specifications
from testsgd.errors import JournalError, ParameterError, TestSGDError
from testsgd.io import check_replaceable, moved_together
from testsgd.shielding.parameters import SimulationParameters

if TYPE_CHECKING:
    from testsgd.shielding import ShieldPlan, SimulationResult


ShieldArgument = Annotated[
    Path,
    typer.Argument(metavar="SHIELD.npz", help="The file that testsgd shield synthesize wrote."),
]

JournalOption = Annotated[
    Path | None,
    typer.Option(
        help="A file that every decision is written to before it is given; if it is there, the "
        "shield goes on from it."
    ),
]

FsyncOption = Annotated[
    bool,
    typer.Option(
        "--fsync",
        help="With --journal: wait until each decision is on the disc, so that a power failure "
        "loses none either. Slower.",
    ),
]

SpecificationOption = Annotated[
    Path | None,
    typer.Option("--spec", help="Refuse a shield that was made for another specification."),
]

BoundOption = Annotated[
    str | None,
    typer.Option(help="Another bound on the bias than the specification's, such as 0.05 or 1/20."),
]

LengthOption = Annotated[int | None, typer.Option(help="Another horizon.")]


def changes_of(bound: str | None, length: int | None) -> dict[str, str | int]:
    """Return the keys of a specification that options change."""
    changes = {"bound": bound, "length": length}
    return {name: value for name, value in changes.items() if value is not None}


def init(
    source: Annotated[
        Path,
        typer.Option("--from", metavar="result.json", help="The JSON result of an audit of rows."),
    ],
    groups: Annotated[
        int | None,
        typer.Option(
            help="How many groups at most; each has a shield. (default: the first three distinct "
            "ones, or all that the audit's --group named)"
        ),
    ] = None,
    out: Annotated[Path, typer.Option(help="Folder for the specifications.")] = Path("shields"),
    horizon: Annotated[int, typer.Option(help="Decisions after which the bound holds.")] = 100,
    bound: Annotated[
        str, typer.Option(help="The largest difference of the two rates, such as 0.05 or 1/20.")
    ] = "0.1",
    quiet: options.QuietOption = False,
    verbose: options.VerboseOption = False,
) -> int:
    """Write specifications of shields for the groups that an audit found, to be synthesised.

    Each is for one group and its complement, by expressions over the fields of a person. After an
    audit with --rows both are among these rows. The audit's metric is the selection rate, the
    true-positive rate or the false-positive rate. People and recommendations are expected as often
    as the audit counted them. What is to be filled in is said by comments. A file that is there
    already is changed with --force only.

    Exit codes: 0 done, 2 bad input.
    """
    from testsgd.shielding import shields_from_audit

    texts = shields_from_audit(source, groups=groups, horizon=horizon, bound=bound)
    write_specifications(texts, out, wanted=groups, quiet=quiet)
    return console.DONE


def synthesize(
    specification: Annotated[
        Path,
        typer.Argument(metavar="SPEC.toml", help="What is to be kept: the TOML file that says so."),
    ],
    groups: options.AuditedGroupsOption = None,
    shield: Annotated[
        Path | None, typer.Option(help="Where to write the shield. (default: NAME.npz)")
    ] = None,
    bound: BoundOption = None,
    length: LengthOption = None,
    storage: Annotated[
        str,
        typer.Option(
            help="Store the decisions whole, or find them again by windows, which takes less "
            "memory; auto: whole up to a gibibyte."
        ),
    ] = "auto",
    memory_limit: Annotated[
        str,
        typer.Option(help="Refuse a synthesis that is predicted to need more memory."),
    ] = "8GB",
    jobs: options.JobsOption = None,
    out: Annotated[
        Path | None, typer.Option(help="Folder for the reports. (default: none are written)")
    ] = None,
    formats: options.FormatOption = None,
    quiet: options.QuietOption = False,
    verbose: options.VerboseOption = False,
) -> int:
    """Find the shield that keeps a bound at the least expected cost.

    The memory that the synthesis needs is said before it begins. If there is no such shield, the
    smallest bound that can be kept is named.

    Exit codes: 0 done, 2 bad input or no such shield.
    """
    from testsgd.shielding import ShieldResult, shield_of_groups, synthesis_result

    limit = options.byte_count(memory_limit, "--memory-limit")
    wanted = options.listed(formats, options.FORMATS)
    ShieldResult.check_formats(wanted)
    # Of a specification that is wrong, the errors come first.
    target = shield or Path(f"{specification.stem}.npz")
    check_replaceable(target)
    console.check_writable(target.parent)
    if out is not None:
        console.check_reports_writable(out, ShieldResult, wanted)

    def announce(plan: ShieldPlan) -> None:
        from testsgd.report.formatting import bytes_text

        if not quiet:
            console.print_line(f"Memory that is needed: about {bytes_text(plan.predicted_bytes)}")

    with moved_together(target, out), console.progress_bar(quiet) as progress:
        result = synthesis_result(
            specification if groups is None else shield_of_groups(specification, groups),
            out=target,
            storage=storage,  # type: ignore[arg-type]  # checked there
            jobs=options.processors(jobs),
            memory_limit=limit,
            announce=announce,
            progress=progress or False,
            **changes_of(bound, length),
        )
        written = [target] if out is None else [target, *result.write(out, wanted)]
    if not quiet:
        console.print_verdict(result.verdict)
        console.print_files(written)
    return console.DONE


def advise(
    specification: Annotated[
        Path,
        typer.Argument(metavar="SPEC.toml", help="A static periodic shield's TOML file."),
    ],
    probability: Annotated[
        float, typer.Option(help="How likely the assumption is to hold in a period.")
    ] = 0.95,
    bound: BoundOption = None,
    length: LengthOption = None,
    verbose: options.VerboseOption = False,
) -> int:
    """Compute how likely the assumption of a static periodic shield is in a period.

    Computed by adding up all cases, for people drawn from the specification's table or log; nothing
    is drawn or solved. 1.0000 is written only where the assumption cannot fail.

    Exit codes: 0 done, 2 bad input.
    """
    if not 0 < probability < 1:
        what = f"the probability is {probability:g}"
        raise ParameterError(what, where="--probability", remedy="give one between 0 and 1")
    from testsgd.shielding.advice import period_advice
    from testsgd.shielding.call import shield_specification
    from testsgd.shielding.report.wording import probability_text

    wanted = shield_specification(specification, **changes_of(bound, length))
    advice = period_advice(wanted, target=probability)
    often = "as often as the others" if advice.least is None else f"{advice.least} times"
    console.print_line(
        f"Each group must be counted {often} in a period of {wanted.horizon.length}."
    )
    for (one, likely), failing in zip(advice.rows, advice.failing, strict=True):
        fails = f", fails with {failing:.2g}" if 0 < failing < 0.0001 else ""
        text = probability_text(likely)
        console.print_line(f"Period of {one}: holds with probability {text}{fails}")
    if advice.shortest is not None:
        console.print_line(f"Shortest period for {probability:g}: {advice.shortest}")
    elif advice.likeliest is not None:
        length, likely = advice.likeliest
        console.print_line(
            f"No period reaches {probability:g}: the likeliest, of {length}, holds with "
            f"probability {probability_text(likely)}. A shield static-bounded-welfare or dynamic "
            "needs less."
        )
    else:
        console.print_line(f"No period of up to 4,096 reaches {probability:g}.")
    if advice.narrowest is not None:
        console.print_line(
            f"Narrowest welfare bounds for {probability:g}: {advice.narrowest} apart"
        )
    elif wanted.horizon.welfare is not None:
        console.print_line(
            f"No welfare bounds within the bound, {wanted.bound}, reach {probability:g} in a "
            f"period of {wanted.horizon.length}."
        )
    return console.DONE


def run(
    shield: ShieldArgument,
    journal: JournalOption = None,
    fsync: FsyncOption = False,
    specification: SpecificationOption = None,
    jobs: options.JobsOption = None,
    verbose: options.VerboseOption = False,
) -> int:
    """Decide about events, one JSON object a line, as they come.

    A line is a recommendation, {"group": "female", "recommendation": 1, "cost": 2.5, "id": "a7"},
    or the true label of a decision, {"label": 1, "id": "a7"}, or what a person decided in the end,
    {"decision": 0, "id": "a7"}; cost and id may be left out. Where groups are by expressions, the
    fields of these may stand in place of the group. Each line is answered by one line, at once.
    A line that is wrong is answered by {"error": ...} and changes nothing.

    Exit codes: 0 done, 2 bad input, also if only one line was wrong.
    """
    from testsgd.serving import answer, parsed, refusal
    from testsgd.shielding import load_shield

    code = console.DONE
    cores = options.processors(jobs)
    with load_shield(
        shield, specification=specification, journal=journal, fsync=fsync, jobs=cores
    ) as loaded:
        for line in console.input_lines():
            if not line.strip():
                continue
            try:
                given = answer(loaded, parsed(line))
            except JournalError:
                # What cannot be written down must not be decided.
                raise
            except TestSGDError as error:
                given = refusal(error)
                code = console.USAGE_ERROR
            _print(given)
    return code


def _print(given: dict[str, object]) -> None:
    console.print_line(json.dumps(given, allow_nan=False))
    sys.stdout.flush()


@options.with_options(SimulationParameters)
def simulate(
    shield: Annotated[
        Path,
        typer.Argument(
            metavar="SHIELD",
            help="A shield (.npz), or the TOML file of a specification to synthesise one for.",
        ),
    ],
    log: Annotated[
        Path | None,
        typer.Option(
            help="A CSV file of people to draw from. (default: the distribution that the shield "
            "expects)"
        ),
    ] = None,
    bound: BoundOption = None,
    length: LengthOption = None,
    jobs: options.JobsOption = None,
    out: Annotated[
        Path | None,
        typer.Option(help="Folder for the reports. (default: reports/NAME-shield)"),
    ] = None,
    formats: options.FormatOption = None,
    quiet: options.QuietOption = False,
    verbose: options.VerboseOption = False,
    **parameters: Any,
) -> int:
    """Simulate runs without a shield and with it: bias, changes, cost and accuracy.

    Exit codes: 0 done, 1 a run broke a bound that is guaranteed or more runs than --fail-above are
    above it, 2 bad input.
    """
    from testsgd.shielding import SimulationResult, simulate_shield

    wanted = options.listed(formats, options.FORMATS)
    SimulationResult.check_formats(wanted)
    folder = out or default_folder("reports", f"{shield.stem}-shield")
    console.check_reports_writable(folder, SimulationResult, wanted)
    with console.progress_bar(quiet) as progress:
        result = simulate_shield(
            shield,
            log,
            jobs=options.processors(jobs),
            progress=progress or False,
            **parameters,
            **changes_of(bound, length),
        )
    written = result.write(folder, wanted)
    if not quiet:
        _print_result(result, written)
    return result.exit_code


def _print_result(result: SimulationResult, written: list[Path]) -> None:
    from testsgd.shielding.report.layout import period_table, sides_table

    summary = result.summary
    console.print_block(sides_table(summary))
    if len(summary.periods) > 1:
        console.print_block(period_table(summary))
    console.print_verdict(summary.verdict)
    console.print_files(written)


def serve(
    shield: Annotated[
        list[Path],
        typer.Argument(
            metavar="SHIELD.npz...",
            help="A shield, or several; each of several has the address /shields/NAME, by the "
            "name of its file.",
        ),
    ],
    host: options.HostOption = "127.0.0.1",
    port: options.PortOption = 8080,
    allow_host: options.AllowHostOption = None,
    token_file: options.TokenFileOption = None,
    max_connections: options.MaxConnectionsOption = 800,
    journal: Annotated[
        Path | None,
        typer.Option(
            help="A file of JSON Lines for the decisions; one that is there is gone on with. Of "
            "several shields a folder: each has a file of its name in it."
        ),
    ] = None,
    fsync: FsyncOption = False,
    specification: SpecificationOption = None,
    jobs: options.JobsOption = None,
    quiet: options.QuietOption = False,
    verbose: options.VerboseOption = False,
) -> int:
    """Answer for a shield over HTTP, or for several, until it is interrupted.

    POST /decide takes {"group": "female", "recommendation": 1, "cost": 2.5, "id": "a7"} and gives
    the decision, POST /observe takes {"label": 1, "id": "a7"} or, if a person overruled the shield,
    {"decision": 0, "id": "a7"}; cost and id may be left out. POST /batch takes {"events": [...]}.
    GET /state says where the shield stands; /healthz, /readyz, /metrics and /openapi.json are about
    the server. With --token-file requests must have its token, as Authorization: Bearer TOKEN;
    without it there is no check of who asks.

    Exit codes: 0 interrupted, which is how it ends, 2 bad input.
    """
    from testsgd.serving import read_token
    from testsgd.serving import serve as listen
    from testsgd.shielding import load_shield

    token = None if token_file is None else read_token(token_file)
    journals = _journals(shield, journal)
    with ExitStack() as stack:
        loaded = {
            path.stem: stack.enter_context(
                load_shield(
                    path,
                    specification=specification,
                    journal=journals[path],
                    fsync=fsync,
                    jobs=options.processors(jobs),
                )
            )
            for path in shield
        }
        try:
            listen(
                loaded[shield[0].stem] if len(shield) == 1 else loaded,
                host=host,
                port=port,
                allowed_hosts=allow_host or (),
                token=token,
                most_connections=max_connections,
                announce=None if quiet else console.print_address,
            )
        except KeyboardInterrupt:
            # That is how it ends.
            return console.DONE
    return console.DONE


def _journals(shields: list[Path], journal: Path | None) -> dict[Path, Path | None]:
    """Return the journal of each shield: the file that was named, or one in that folder."""
    names = [path.stem for path in shields]
    if len(set(names)) < len(names):
        raise ParameterError(
            f"two shields are called {max(names, key=names.count)!r}",
            where="shield",
            remedy="give the files different names",
        )
    if journal is None or len(shields) == 1:
        return dict.fromkeys(shields, journal)
    journal.mkdir(parents=True, exist_ok=True)
    return {path: journal / f"{path.stem}.journal" for path in shields}


app = typer.Typer(
    name="shield",
    help="Keep a bound on the bias of a sequence of decisions, at the least expected cost.",
    no_args_is_help=True,
)
app.command("init")(init)
app.command("synthesize")(synthesize)
app.command("advise")(advise)
app.command("run")(run)
app.command("simulate")(simulate)
app.command("serve")(serve)
