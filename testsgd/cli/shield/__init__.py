"""``testsgd shield``: make a shield, let it decide, simulate what it does, serve it."""

from __future__ import annotations

import typer

from testsgd.cli.shield.run import run
from testsgd.cli.shield.serve import serve
from testsgd.cli.shield.simulate import simulate
from testsgd.cli.shield.synthesize import synthesize

app = typer.Typer(
    name="shield",
    help="Keep a bound on the bias of a sequence of decisions, at the least expected cost.",
    no_args_is_help=True,
)
app.command("synthesize")(synthesize)
app.command("run")(run)
app.command("simulate")(simulate)
app.command("serve")(serve)
