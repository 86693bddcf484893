"""``testsgd certify``: prove for which share of all people a network is individually fair."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Annotated, Any

import typer

from testsgd.certification.parameters import CertificationParameters
from testsgd.cli import console, options
from testsgd.cli.console import progress_lines
from testsgd.cli.default_folders import default_folder
from testsgd.errors import ParameterError
from testsgd.io import moved_together

if TYPE_CHECKING:
    from rich.text import Text

    from testsgd.certification import CertificationResult
    from testsgd.certification.outcome import Moment
    from testsgd.certification.report.summary import CounterexampleSummary


# A share's name, its colour, and how its part of the bar is drawn; the second where a terminal has
# nothing but ASCII.
_PARTS = (
    ("certified", "proved fair", "green", "█", "#"),
    ("falsified", "proved unfair", "red", "▓", "x"),
    ("undecided", "undecided", "bright_black", "░", "."),
)

# From here on the three figures stand in one line.
_WIDE = 70


@contextmanager
def live_shares(quiet: bool, time: float | None) -> Iterator[Callable[[Moment], None] | None]:
    """Show what is proved so far on the standard error; without a terminal a line now and then.

    `time`: seconds after which the search stops, if it does. `callable or None`: to be called with
    a moment of the certification.
    """
    if quiet:
        yield None
        return
    if not sys.stderr.isatty():
        from testsgd.certification.search_progress import SearchProgress

        search = SearchProgress(time)
        with progress_lines(search.text):
            yield search.take
        return
    from rich.console import Console
    from rich.live import Live

    console = Console(stderr=True)
    latest: list[Moment] = []
    start = monotonic()
    limit = time

    def picture() -> Text:
        width = console.width
        plain = not console.encoding.lower().startswith("utf")
        if not latest:
            return _text("reading the model and the domain", "dim")
        # Between two moments the clock goes on.
        passed = latest[0].seconds + monotonic() - start
        return shares_picture(latest[0], passed, limit, width=width, plain=plain)

    def show(moment: Moment) -> None:
        nonlocal start, limit
        if not latest and time is not None:
            # A search that goes on from a checkpoint begins with the seconds of its earlier runs.
            limit = moment.seconds + time
        latest[:] = [moment]
        start = monotonic()

    with Live(
        get_renderable=picture, console=console, transient=True, refresh_per_second=8
    ) as live:
        live.refresh()
        yield show


def shares_picture(
    moment: Moment, seconds: float, time: float | None, *, width: int, plain: bool
) -> Text:
    """Draw the three shares as a bar with their figures."""
    from testsgd.certification.search_progress import shares_in_words

    figures = _text("")
    bar = _text("")
    after = "   " if width >= _WIDE else "\n"
    columns = max(10, min(width, 80))
    done = 0
    passed = 0.0
    texts = shares_in_words(moment.shares)
    for name, words, colour, filled, ascii_filled in _PARTS:
        share = getattr(moment.shares, name)
        figures.append(f"{words} ", "bold").append(texts[name], colour).append(after)
        passed += share
        end = min(columns, round(passed * columns))
        bar.append((ascii_filled if plain else filled) * (end - done), colour)
        done = end
    limit = ""
    hint = "Ctrl-C gives the result so far"
    if time is not None:
        limit = f" of {time:,.0f}"
        if seconds > time:
            # What is left to do has no limit, and takes some seconds.
            seconds = time
            hint = "drawing samples of the rest"
    boxes = "box" if moment.boxes == 1 else "boxes"
    return (
        figures.append("" if after == "\n" else "\n")
        .append_text(bar)
        .append(f"\n{moment.boxes:,} {boxes}, {seconds:,.0f}{limit} s; {hint}", "dim")
    )


def _text(words: str, style: str = "") -> Text:
    from rich.text import Text

    return Text(words, style=style)


_SHOWN = 5
_LONGEST = 600


@options.with_options(CertificationParameters)
def certify(
    model: Annotated[
        str,
        typer.Argument(
            metavar="MODEL",
            help="A data set of the catalogue, for the network trained for it; a .keras, .h5, "
            ".onnx, .skops or .nnet file; or package.module:object.",
        ),
    ],
    domain: options.DomainOption = None,
    protected: Annotated[
        list[str] | None,
        typer.Option(
            help="The protected inputs, with commas or one by one; several are changed together. "
            "(default: those that the domain names; of a data set its sensitive features, those "
            "with the most values left out if there are too many combinations)"
        ),
    ] = None,
    compare: Annotated[
        list[str] | None,
        typer.Option(
            metavar="VALUES",
            help="Which values of the protected input to compare, with commas; NAME=VALUES if "
            "several are protected. (default: all of the domain's)",
        ),
    ] = None,
    weight: Annotated[
        str,
        typer.Option(
            help="What a share is a share of: volume (all points count the same, or as the "
            "domain weighs them) or data (as often as the data's values of each input)."
        ),
    ] = "volume",
    data: Annotated[
        Path | None,
        typer.Option(help="With --weight data: a file of rows, in place of the data set's own."),
    ] = None,
    threshold: options.NetworkThresholdOption = None,
    checkpoint: Annotated[
        Path | None,
        typer.Option(
            help="A file that keeps what was proved: written after 2 seconds, then at pauses of at "
            "most 30, and at the end."
        ),
    ] = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on from the checkpoint, if there is one.")
    ] = False,
    export_regions: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="A .csv or .parquet file for all boxes with what is proved of each; the report "
            "has the largest regions. Not with a checkpoint to go on from, which has no boxes.",
        ),
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="Folder for the reports. (default: reports/NAME-certified)")
    ] = None,
    formats: Annotated[
        list[str] | None,
        typer.Option(
            "--format", help="Which reports: html,md,json,csv,junit. (default: html,md,json)"
        ),
    ] = None,
    quiet: options.QuietOption = False,
    verbose: options.VerboseTimingsOption = False,
    **parameters: Any,
) -> int:
    """Prove for which share of all people in a domain a network is individually fair.

    Fair to a person is a network whose decision does not change when only what is protected
    changes. Ctrl-C ends the search, and the result says what was proved until then.

    Exit codes: 0 done, 1 a limit is proved to be broken, 2 bad input, 3 neither proved to be kept
    nor to be broken.
    """
    from testsgd.certification import CertificationResult, protected_names
    from testsgd.certification import certify as run

    wanted = options.listed(formats, options.FORMATS)
    CertificationResult.check_formats(wanted)
    folder = out or default_folder("reports", f"{_name_of(model)}-certified")
    console.check_reports_writable(folder, CertificationResult, wanted)
    if checkpoint is not None:
        console.check_writable(checkpoint.parent)
    if export_regions is not None:
        console.check_writable(export_regions.parent)
    names = protected_names(protected) if protected else None
    # On a command line there is no None.
    parameters["time_limit"] = parameters["time_limit"] or None
    with (
        moved_together(export_regions, folder),
        live_shares(quiet, parameters["time_limit"]) as progress,
    ):
        result = run(
            model,
            domain,
            protected=names,
            protected_values=compared_values(compare, protected=names),
            weight=weight,
            data=data,
            threshold=threshold,
            checkpoint=checkpoint,
            resume=resume,
            export_regions=export_regions,
            progress=progress or False,
            **parameters,
        )
        written = result.write(folder, wanted)
    if export_regions is not None:
        written.append(export_regions)
    if not quiet:
        _print_result(result, written, verbose)
    return result.exit_code


def _name_of(model: str) -> str:
    """Name a model for a folder: the file's name, or its folder's if all files are called so."""
    if ":" in model and not Path(model).exists():
        return model.rpartition(":")[2]
    path = Path(model)
    return path.parent.name if path.stem == "model" and path.parent.name else path.stem


def compared_values(
    compare: list[str] | None, *, protected: Sequence[str] | None
) -> list[str] | dict[str, list[str]] | None:
    """Read the values to compare: of the one protected input, or by name.

    `protected` are the names that are given of the protected inputs, if there are any.
    """
    if not compare:
        return None
    named: dict[str, list[str]] = {}
    plain: list[str] = []
    for item in compare:
        name, sign, values = item.partition("=")
        if sign:
            named.setdefault(name.strip(), []).extend(options.listed(values))
        else:
            plain.extend(options.listed(item))
    if named and plain:
        raise ParameterError(
            "some values are given with the name of their input and some without",
            where="--compare",
            remedy="give NAME=VALUES for each protected input",
        )
    if plain and protected is not None and len(protected) > 1:
        raise ParameterError(
            f"the values {', '.join(plain)} are given without the name of their input",
            where="--compare",
            remedy=f"give NAME=VALUES for some of {', '.join(protected)}",
        )
    return named or plain


def _print_result(result: CertificationResult, written: list[Path], verbose: bool) -> None:
    from testsgd.certification.report.layout import counted_cases, short_region_table

    summary = result.summary
    if any(region.rules for region in summary.regions):
        console.print_block(short_region_table(summary, _SHOWN))
    console.print_verdict(summary.verdict)
    if summary.counterexamples:
        if (counted := counted_cases(summary)) is not None:
            console.print_line(counted)
        _print_counterexample(summary.counterexamples[0], summary.domain.protected)
    if summary.method == "bounded" and summary.stopped == "time" and find_spec("numba") is None:
        console.print_line(
            "Narrow networks of ReLU layers are searched many times as fast with machine code: "
            "pip install numba."
        )
    if verbose:
        what = "boxes looked at" if summary.method == "bounded" else "people tried"
        console.print_line(f"  {summary.boxes:,} {what} in {summary.seconds:.3f} s of searching")
    console.print_files(written)


def _print_counterexample(example: CounterexampleSummary, protected: list[str]) -> None:
    from testsgd.certification.report.wording import named_combination, value_text

    person = ", ".join(f"{name} = {value_text(value)}" for name, value in example.person.items())
    if len(person) > _LONGEST:
        person = "the same in everything else; the report lists them"
    first = example.answers[0]
    other = next(item for item in example.answers if item.decision != first.decision)
    answers = [
        f"“{item.decision}” for {named_combination(protected, item.protected)}"
        for item in (first, other)
    ]
    console.print_line(f"An example: {' but '.join(answers)}, both with {person}.")
