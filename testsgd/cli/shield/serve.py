"""``testsgd shield serve``: a shield over HTTP."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from testsgd.cli.console import DONE, print_line
from testsgd.cli.options import QuietOption, VerboseOption
from testsgd.cli.shield.options import (
    FsyncOption,
    JournalOption,
    ProcessorsOption,
    ShieldArgument,
    SpecificationOption,
)


def serve(
    shield: ShieldArgument,
    host: Annotated[
        str, typer.Option(help="Address to listen at; only this machine can reach the default.")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="Port to listen at; 0: any that is free.")] = 8080,
    journal: JournalOption = None,
    fsync: FsyncOption = False,
    specification: SpecificationOption = None,
    jobs: ProcessorsOption = 1,
    quiet: QuietOption = False,
    verbose: VerboseOption = False,
) -> int:
    """Answer for a shield over HTTP, until it is interrupted.

    POST /decide takes {"group": "female", "recommendation": 1, "cost": 2.5, "id": "a7"} and gives
    the decision, POST /observe takes {"label": 1, "id": "a7"}; cost and id may be left out. GET
    /state says where the shield stands, GET /healthz that it is there. There is no check of who
    asks: put it behind something that does if others can reach the address.
    """
    from testsgd import api
    from testsgd.serving import serve as listen

    def announce(address: str) -> None:
        if not quiet:
            print_line(f"Serving on {address}")
            sys.stdout.flush()

    with api.load_shield(
        shield, specification=specification, journal=journal, fsync=fsync, jobs=jobs
    ) as loaded:
        try:
            listen(loaded, host=host, port=port, announce=announce)
        except KeyboardInterrupt:
            # That is how it ends.
            return DONE
    return DONE
