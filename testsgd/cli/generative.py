"""``testsgd generative``: assess outputs of a generative model, and enforce that groups appear."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from testsgd.cli import console, options
from testsgd.errors import ParameterError
from testsgd.io import (
    LineFile,
    adding_lines,
    check_replaceable,
    escape_controls,
    files_together,
    is_mixed,
    keeping_inputs,
    loads_json,
    write_bytes,
    write_text,
    writing_to,
)

if TYPE_CHECKING:
    from testsgd.generative import GenerativeSpecification, WaitingOutputs
    from testsgd.generative.calibration import Obedience
    from testsgd.generative.upstream import Upstream

SpecificationOption = Annotated[
    Path,
    typer.Option(
        "--spec", help="The TOML file that says which groups there are and what must hold."
    ),
]

SeedOption = Annotated[
    int, typer.Option(help="Sent with the first output; each further has the next.")
]

UpstreamOption = Annotated[
    str,
    typer.Option(help="Address of the model, with the interface of OpenAI, up to /v1."),
]

PicturesOption = Annotated[
    bool,
    typer.Option(
        "--pictures", help="Show the first pictures that the log names; each at most 64 kB."
    ),
]

BeforeOption = Annotated[
    Path | None,
    typer.Option(help="An earlier result.json, which the report shows beside this one."),
]


def assess(
    outputs: Annotated[
        Path,
        typer.Argument(
            metavar="OUTPUTS",
            help="The outputs in their order: .jsonl with an object a line, .json or .csv.",
        ),
    ],
    spec: SpecificationOption,
    before: BeforeOption = None,
    pictures: PicturesOption = False,
    out: Annotated[
        Path | None, typer.Option(help="Folder for the reports. (default: none are written)")
    ] = None,
    formats: options.FormatOption = None,
    quiet: options.QuietOption = False,
    verbose: options.VerboseOption = False,
) -> int:
    """Assess outputs that you have: which groups appear, how often, and how far apart.

    An output is an object such as {"prompt": "The nurse was tired, so", "output": " she slept."};
    where its groups are known already, they are keys: {"gender": "female"}. Exit codes: 0 every
    requirement is kept over the outputs of all prompts, neutral or not, 1 one is broken, 2 bad
    input, 3 not enough outputs to judge.
    """
    from testsgd.generative import GenerativeResult

    wanted = options.listed(formats, options.FORMATS)
    GenerativeResult.check_formats(wanted)
    if out is not None:
        console.check_reports_writable(out, GenerativeResult, wanted)
    return _assess(
        outputs, spec, before=before, pictures=pictures, out=out, formats=wanted, quiet=quiet
    )


def ask(
    spec: SpecificationOption,
    upstream: UpstreamOption,
    number: Annotated[
        int,
        typer.Option(
            "-n", "--number", min=1, help="Outputs that are asked for; prompts take turns."
        ),
    ] = 200,
    out: Annotated[Path, typer.Option(help="Folder for the outputs and the reports.")] = Path(
        "outputs"
    ),
    before: BeforeOption = None,
    pictures: PicturesOption = False,
    seed: SeedOption = 0,
    formats: options.FormatOption = None,
    quiet: options.QuietOption = False,
    verbose: options.VerboseOption = False,
) -> int:
    """Ask a model for outputs to the prompts of a specification, and assess them.

    The outputs are written to outputs.jsonl as they come, pictures as files beside it; started
    again, what is there is kept and the rest is asked for.

    Exit codes: those of assess.
    """
    from testsgd.generative import GenerativeResult, GenerativeSpecification
    from testsgd.generative.upstream import Upstream

    specification = GenerativeSpecification.read(spec)
    wanted = options.listed(formats, options.FORMATS)
    GenerativeResult.check_formats(wanted)
    console.check_reports_writable(out, GenerativeResult, wanted)
    out.mkdir(parents=True, exist_ok=True)
    log = out / "outputs.jsonl"
    with (
        Upstream(upstream, specification.upstream) as model,
        console.progress_bar(quiet) as progress,
    ):
        _ask_for_outputs(specification, model, number, log=log, seed=seed, progress=progress)
    return _assess(
        log, specification, before=before, pictures=pictures, out=out, formats=wanted, quiet=quiet
    )


def _ask_for_outputs(
    specification: GenerativeSpecification,
    model: Upstream,
    number: int,
    *,
    log: Path,
    seed: int,
    progress: Any,
) -> None:
    """Add outputs to a log until it has as many as are wanted."""
    from testsgd.generative import ModelRequest
    from testsgd.generative.outputs import read_log

    prompts = specification.required_prompts()
    if is_mixed(log.parent):
        # What a killed process was moving there is moved now.
        with files_together(log.parent):
            pass
    if log.exists():
        _drop_cut_line(log, prompts)
    with adding_lines(log, remedy="choose another folder with --out") as add:
        # Read while no other process can add to it.
        known = read_log(log) if log.stat().st_size > 0 else []
        for index, kept in enumerate(known):
            expected = prompts[index % len(prompts)]
            if not isinstance(kept, dict) or kept.get("prompt") != expected:
                raise ParameterError(
                    "the outputs there are to other prompts",
                    where=f"{log}, line {index + 1}",
                    remedy="choose another folder with --out",
                )
        for index in range(len(known), number):
            # Now, and not after all the outputs before it.
            check_replaceable(_picture(log, index))
        last = len(known) - 1
        if known and _is_unfinished(known[last], log, last):
            request = ModelRequest(prompts[last % len(prompts)])
            output, _ = model.ask(request, seed=seed + last)
            if isinstance(output, bytes):
                with _picture_written(output, log, last):
                    pass
        for index in range(len(known), number):
            prompt = prompts[index % len(prompts)]
            output, asked = model.ask(ModelRequest(prompt), seed=seed + index)
            record: dict[str, Any] = {"prompt": prompt, "output": output}
            if asked:
                record["asked"] = asked
            _keep(record, add, log, index)
            if progress is not None:
                progress("asking", index + 1, number)


def _drop_cut_line(log: Path, prompts: Sequence[str]) -> None:
    """Remove a last line that was cut short when its process was killed; its output is lost."""
    with writing_to(log, "choose another folder with --out"), LineFile(log) as file:
        cut = file.cut_line()
        # Anything else is no line of this log, and is left for its reader to refuse.
        for prompt in prompts if cut else ():
            beginning = f'{{"prompt": {json.dumps(prompt, ensure_ascii=False)}, '.encode()
            if cut.startswith(beginning) or beginning.startswith(cut):
                file.drop_cut_line()
                return


def _picture(log: Path, index: int) -> Path:
    """Return the file of an output that is a picture."""
    return log.with_name(f"output-{index + 1:05}.png")


def _keep(record: dict[str, Any], add: Callable[[str], None], log: Path, index: int) -> None:
    """Add an output to the log; a picture is a file beside it, and the log has the file's name.

    The log names a picture before it is in its place, so that a picture there that it does not name
    is somebody else's.
    """
    picture = record["output"]
    if isinstance(picture, str):
        add(json.dumps(record, ensure_ascii=False))
        return
    with _picture_written(picture, log, index) as name:
        add(json.dumps({**record, "output": name}, ensure_ascii=False))


@contextmanager
def _picture_written(picture: bytes, log: Path, index: int) -> Iterator[str]:
    """Write a picture, and move it to its place when the block succeeds."""
    target = _picture(log, index)
    with files_together(log.parent) as staging:
        write_bytes(staging / target.name, picture)
        check_replaceable(target)
        yield target.name


def _is_unfinished(record: Any, log: Path, index: int) -> bool:
    """Return whether the log names a picture that a killed process did not move to its place."""
    picture = _picture(log, index)
    is_picture = isinstance(record, dict) and record.get("output") == picture.name
    return is_picture and not picture.exists()


def calibrate(
    spec: SpecificationOption,
    upstream: UpstreamOption,
    number: Annotated[
        int,
        typer.Option("-n", "--number", min=1, help="Outputs for each way, requirement and value."),
    ] = 10,
    confirm: Annotated[
        int,
        typer.Option(min=1, help="Outputs of the best way, for each requirement and value."),
    ] = 40,
    ways: Annotated[
        list[str] | None,
        typer.Option(help="Ways to try, with commas. (default: all that the specification has)"),
    ] = None,
    seed: SeedOption = 0,
    out: Annotated[
        Path | None, typer.Option(help="A JSON file for the counts. (default: none is written)")
    ] = None,
    quiet: options.QuietOption = False,
    verbose: options.VerboseOption = False,
) -> int:
    """Measure how well a model obeys each way of asking, and print what to write down.

    Each way is tried, and the best one once more: its obedience is that of the second time, since
    the best of several also was lucky. Printed are the counts, and the lines of the table
    enforcement with the best way and the obedience that the look-ahead can count on.

    Exit codes: 0 done, 2 bad input.
    """
    from testsgd.generative import GenerativeSpecification
    from testsgd.generative.calibration import calibrate as measure
    from testsgd.generative.specification import WAYS
    from testsgd.generative.upstream import Upstream

    specification = GenerativeSpecification.read(spec)
    chosen = options.listed(ways)
    for name in chosen:
        if name not in WAYS:
            what = f"there is no way {name!r}"
            raise ParameterError(what, where="--ways", remedy=f"choose among {', '.join(WAYS)}")
    with (
        Upstream(upstream, specification.upstream) as model,
        console.progress_bar(quiet) as progress,
    ):
        found = measure(
            specification,
            lambda request, number: model.ask(request, seed=number)[0],
            tries=number,
            confirm=confirm,
            ways=[way for way in WAYS if way in chosen],
            seed=seed,
            progress=progress,
        )
    if out is not None:
        write_text(out, json.dumps(found.to_dict(), indent=1) + "\n")
    if not quiet:
        _print_obedience("How often the model obeyed", found.counts, found.confidence)
        _print_obedience("The best way, tried again", found.confirmed, found.confidence)
        console.print_line("[enforcement]")
        console.print_line(f'way = "{found.ways[0]}"')
        console.print_line(f"obedience = {found.obedience:.3f}")
    return console.DONE


def _print_obedience(title: str, counts: Sequence[Obedience], confidence: float) -> None:
    columns = [
        console.Column("way"),
        console.Column("requirement"),
        console.Column("value"),
        console.Column("obeyed", numeric=True),
        console.Column("interval", numeric=True),
    ]
    rows = []
    for one in counts:
        low, high = one.interval(confidence)
        obeyed = f"{one.obeyed} of {one.tries}"
        rows.append([one.way, one.requirement, one.value, obeyed, f"{low:.0%} to {high:.0%}"])
    console.print_table(title, columns, rows)


def neutral(
    spec: SpecificationOption,
    upstream: UpstreamOption,
    seed: SeedOption = 0,
    quiet: options.QuietOption = False,
    verbose: options.VerboseOption = False,
) -> int:
    """Find out by experiment which prompts are neutral: one value in all outputs is a hint.

    Each prompt is asked until two values came, at most as often as neutrality.samples says.

    Exit codes: 0 all prompts are neutral, 1 one is biased, 2 bad input, 3 one is undecided.
    """
    from testsgd.generative import GenerativeSpecification, judge_prompts
    from testsgd.generative.upstream import Upstream

    specification = GenerativeSpecification.read(spec)
    with (
        Upstream(upstream, specification.upstream) as model,
        console.progress_bar(quiet) as progress,
    ):
        found = judge_prompts(
            specification,
            lambda request, number: model.ask(request, seed=number)[0],
            seed=seed,
            progress=progress,
        )
    if not quiet:
        columns = [
            console.Column("prompt"),
            console.Column("grouping"),
            console.Column("judged"),
            console.Column("outputs", numeric=True),
            console.Column("of each value", numeric=True),
        ]
        rows = [
            [
                one.prompt,
                one.grouping,
                one.judged,
                str(one.outputs),
                ", ".join(str(count) for count in one.counts),
            ]
            for one in found
        ]
        console.print_table("Prompts by experiment", columns, rows)
    judged = {one.judged for one in found}
    if "biased" in judged:
        return 1
    return 3 if "undecided" in judged else console.DONE


def journal(
    spec: SpecificationOption,
    state: Annotated[str, typer.Option(help="The state of the enforcer: a file or a URL.")],
    requirement: Annotated[
        str | None, typer.Option(help="Only the outputs of this requirement. (default: all)")
    ] = None,
    tenant: Annotated[
        str | None, typer.Option(help="Only those of this tenant. (default: all)")
    ] = None,
    quiet: options.QuietOption = False,
    verbose: options.VerboseOption = False,
) -> int:
    """Print what an enforcer counted, a JSON object a line, which assess can read.

    Tickets that have expired are given back first, as by the next request. The standard error says
    how many outputs wait behind unfinished tickets and are not printed.

    Exit codes: 0 done, 2 bad input.
    """
    from testsgd.generative import Enforcer
    from testsgd.generative.stores import check_state_there

    check_state_there(state)
    # It is only read here, so that --force replaces nothing.
    with keeping_inputs([state]):
        enforcer = Enforcer(spec, state=state)
    try:
        for line in enforcer.journal():
            record = loads_json(line)
            fits = requirement in (None, record["requirement"])
            if fits and tenant in (None, record["tenant"]):
                # Escaped, so that what is read back is the same.
                console.print_line(escape_controls(line))
        waiting = enforcer.waiting(requirement=requirement, tenant=tenant)
    finally:
        enforcer.close()
    if waiting is not None:
        # Also where it is to be quiet: what is printed is not all.
        console.print_note(_waiting_note(waiting, moment=time.time()))
    return console.DONE


def _waiting_note(waiting: WaitingOutputs, *, moment: float) -> str:
    """Write how many outputs are not in the journal yet, and when they will be."""
    from testsgd.report.formatting import plural

    is_one = waiting.outputs == 1
    left = waiting.expires - moment
    what = f"{plural(waiting.outputs, 'output')} {'waits' if is_one else 'wait'} behind"
    tickets = plural(waiting.tickets, "unfinished ticket")
    if left > 0:
        last = "which expires" if waiting.tickets == 1 else "the last of which expires"
        expiry = f"{last} in {plural(math.ceil(left), 'second')}"
        remedy = "read the journal again after that"
    else:
        # With other values or betas than those of the state no ticket is given back.
        expiry = "which expired"
        remedy = "read the journal again, with the specification that it was begun with"
    return f"{what} {tickets}, {expiry}, and {'is' if is_one else 'are'} not printed; {remedy}"


def _assess(
    outputs: Path,
    specification: Path | GenerativeSpecification,
    *,
    before: Path | None,
    pictures: bool,
    out: Path | None,
    formats: list[str],
    quiet: bool,
) -> int:
    """Assess outputs, write the reports, print the verdict, and return the exit code."""
    from testsgd.generative import assess_generative

    with console.progress_bar(quiet) as progress:
        result = assess_generative(
            outputs,
            specification,
            before=before,
            pictures=True if pictures else None,
            progress=progress or False,
        )
    written = [] if out is None else result.write(out, formats)
    if not quiet:
        console.print_verdict(result.verdict)
        console.print_files(written)
    return result.exit_code


def serve(
    spec: SpecificationOption,
    upstream: UpstreamOption,
    state: Annotated[
        str | None,
        typer.Option(
            help="A file that keeps where every sequence stands; if it is there, it goes on. "
            "(default: memory, gone at the end)"
        ),
    ] = None,
    fsync: Annotated[
        bool,
        typer.Option(
            "--fsync",
            help="With a file as --state: give an output once its counting is on the disc, so that "
            "a power failure loses nothing. Slower.",
        ),
    ] = False,
    calibration: Annotated[
        Path | None,
        typer.Option(
            help="What calibrate --out wrote: the way and the obedience are taken from it."
        ),
    ] = None,
    look_ahead: Annotated[
        str | None,
        typer.Option(
            metavar="corrected|paper",
            help="Which look-ahead decides; paper: as printed. (default: the specification's)",
        ),
    ] = None,
    obedience: Annotated[
        float | None,
        typer.Option(
            help="Probability that the model gives what it is asked for; below 1, values are asked "
            "for earlier. (default: the specification's)"
        ),
    ] = None,
    host: options.HostOption = "127.0.0.1",
    port: options.PortOption = 8080,
    allow_host: options.AllowHostOption = None,
    token_file: options.TokenFileOption = None,
    max_connections: options.MaxConnectionsForRequestsOption = None,
    max_body: Annotated[
        int, typer.Option(min=1, help="Most bytes of a request; a longer one is refused.")
    ] = 1_048_576,
    max_requests: Annotated[
        int, typer.Option(min=1, help="Most requests at a time; further ones are refused.")
    ] = 1000,
    quiet: options.QuietOption = False,
    verbose: options.VerboseOption = False,
) -> int:
    """Stand before a model, and ask it for a group before its deadline passes.

    Clients use this address in place of the model's: POST /v1/chat/completions, /v1/completions
    and /v1/images/generations. A browser shows at / where every sequence stands; GET /state,
    /metrics, /healthz, /readyz and /openapi.json are for programs. With --token-file requests must
    have its token, as X-Testsgd-Token: TOKEN, beside the Authorization that the model gets; without
    it there is no check of who asks.

    Exit codes: 0 interrupted, which is how it ends, 2 bad input.
    """
    from testsgd.generative import Enforcer, GenerativeSpecification
    from testsgd.generative.calibration import calibrated
    from testsgd.serving import check_listening, check_upstream, read_token, serve_generative

    # What cannot be served makes no state, which might take the place of another file.
    check_upstream(upstream)
    check_listening(host, port)
    token = None if token_file is None else read_token(token_file)
    specification = GenerativeSpecification.read(spec)
    if calibration is not None:
        specification = calibrated(specification, calibration)
    if look_ahead is not None:
        specification = specification.with_enforcement(look_ahead=look_ahead)
    if obedience is not None:
        specification = specification.with_enforcement(obedience=obedience)
    enforcer = Enforcer(specification, state=state, fsync=fsync)
    try:
        serve_generative(
            enforcer,
            upstream=upstream,
            host=host,
            port=port,
            announce=None if quiet else console.print_address,
            max_body=max_body,
            max_requests=max_requests,
            allowed_hosts=allow_host or (),
            token=token,
            most_connections=max_connections,
        )
    except KeyboardInterrupt:
        # That is how it ends.
        return console.DONE
    finally:
        enforcer.close()
    return console.DONE


app = typer.Typer(name="generative", no_args_is_help=True)


@app.callback()
def _group() -> None:
    """Assess and enforce which groups a generative model shows, and how often."""


app.command("assess")(assess)
app.command("ask")(ask)
app.command("calibrate")(calibrate)
app.command("neutral")(neutral)
app.command("journal")(journal)
app.command("serve")(serve)
