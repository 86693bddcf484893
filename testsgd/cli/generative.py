"""``testsgd generative``: assess outputs of a generative model, and enforce that groups appear."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from testsgd.cli import console, options

if TYPE_CHECKING:
    from testsgd.generative import GenerativeResult

SpecificationOption = Annotated[
    Path,
    typer.Option(
        "--spec", help="The TOML file that says which groups there are and what must hold."
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
    out: Annotated[
        Path | None, typer.Option(help="Folder for the reports. (default: none are written)")
    ] = None,
    formats: options.FormatOption = "html,md,json",
    quiet: options.QuietOption = False,
    verbose: options.VerboseOption = False,
) -> int:
    """Assess outputs that you have: which groups appear, how often, and how far apart.

    An output is an object such as {"prompt": "The nurse was tired, so", "output": " she slept."};
    where its groups are known already, they are keys: {"gender": "female"}. Exit codes: 0 every
    requirement is kept, 1 one is broken, 2 bad input, 3 not enough outputs to judge.
    """
    from testsgd.generative import GenerativeResult, assess_generative

    wanted = options.listed(formats)
    GenerativeResult.check_formats(wanted)
    if out is not None:
        console.check_writable(out)
    return _finish(assess_generative(outputs, spec, before=before), out, wanted, quiet=quiet)


def _finish(result: GenerativeResult, out: Path | None, formats: list[str], *, quiet: bool) -> int:
    """Write the reports, print the verdict, and return the exit code."""
    written = [] if out is None else result.write(out, formats)
    if not quiet:
        console.print_verdict(result.verdict)
        console.print_files(written)
    return result.exit_code


def serve(
    spec: SpecificationOption,
    upstream: Annotated[
        str,
        typer.Option(help="Address of the OpenAI-compatible server of the model, up to /v1."),
    ],
    state: Annotated[
        str | None,
        typer.Option(
            help="A file that keeps where every sequence stands; if it is there, it goes on. "
            "(default: memory, gone at the end)"
        ),
    ] = None,
    host: Annotated[
        str, typer.Option(help="Address to listen at; only this machine can reach the default.")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="Port to listen at; 0: any that is free.")] = 8080,
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
    /metrics and /healthz are for programs. There is no check of who asks: put it behind something
    that does if others can reach the address.

    Exit codes: 0 interrupted, which is how it ends, 2 bad input.
    """
    from testsgd.generative import Enforcer
    from testsgd.serving import serve_generative

    def announce(address: str) -> None:
        if not quiet:
            console.print_line(f"Serving on {address}")
            sys.stdout.flush()

    enforcer = Enforcer(spec, state=state)
    try:
        serve_generative(
            enforcer,
            upstream=upstream,
            host=host,
            port=port,
            announce=announce,
            max_body=max_body,
            max_requests=max_requests,
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
app.command("serve")(serve)
