"""``testsgd monitor``: watch over a stream of decisions."""

from __future__ import annotations

import typer

from testsgd.cli.monitor.run import run

app = typer.Typer(
    name="monitor",
    help="Watch over a stream of decisions, and say when groups are treated differently.",
    no_args_is_help=True,
)


@app.callback()
def _group() -> None:
    """Watch over a stream of decisions, and say when groups are treated differently."""


app.command("run")(run)
