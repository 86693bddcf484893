"""``testsgd shield run``: events on the standard input, decisions on the standard output."""

from __future__ import annotations

import json
import sys

from testsgd.cli.console import DONE, USAGE_ERROR, print_line
from testsgd.cli.options import VerboseOption
from testsgd.cli.shield.options import (
    FsyncOption,
    JournalOption,
    ProcessorsOption,
    ShieldArgument,
    SpecificationOption,
)
from testsgd.errors import JournalError, TestSGDError


def run(
    shield: ShieldArgument,
    journal: JournalOption = None,
    fsync: FsyncOption = False,
    specification: SpecificationOption = None,
    jobs: ProcessorsOption = 1,
    verbose: VerboseOption = False,
) -> int:
    """Decide about events, one JSON object a line, as they come.

    A line is a recommendation, {"group": "female", "recommendation": 1, "cost": 2.5, "id": "a7"},
    or the true label of a decision, {"label": 1, "id": "a7"}; cost and id may be left out. Each is
    answered by one line, at once. A line that is wrong is answered by {"error": ...}, changes
    nothing, and makes the exit code 2 at the end.
    """
    from testsgd import api
    from testsgd.serving import answer, parsed, refusal

    code = DONE
    with api.load_shield(
        shield, specification=specification, journal=journal, fsync=fsync, jobs=jobs
    ) as loaded:
        for line in sys.stdin.buffer:
            if not line.strip():
                continue
            try:
                given = answer(loaded, parsed(line))
            except JournalError:
                # What cannot be written down must not be decided.
                raise
            except TestSGDError as error:
                given, code = refusal(error), USAGE_ERROR
            _print(given)
    return code


def _print(given: dict[str, object]) -> None:
    print_line(json.dumps(given, allow_nan=False))
    sys.stdout.flush()
