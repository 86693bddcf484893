"""The program with servers that wait for what does not come a fifth as long as they do otherwise.

python tests/serving/impatient_program.py ARGUMENTS
"""

from __future__ import annotations

import sys

from testsgd.cli.main import run
from testsgd.serving import connections, guard

HEAD_SECONDS = connections.HEAD_SECONDS / 5
BODY_SECONDS = guard.BODY_SECONDS / 5


if __name__ == "__main__":
    connections.HEAD_SECONDS = HEAD_SECONDS
    # The default of an argument is taken when the class is made.
    defaults = guard.Guard.__init__.__kwdefaults__
    assert defaults is not None
    defaults["body_seconds"] = BODY_SECONDS
    run(sys.argv[1:])
