"""What the tests of kills share: an order to the server, and a look at the files."""

from __future__ import annotations

import itertools
import json
import signal
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

# What both kinds of kill look like from outside; none can be caught by the package.
KILLED = {-signal.SIGKILL, -signal.SIGXFSZ}

# Imported once, before anything is forked; none of them starts threads.
WARM = [
    "testsgd.cli.audit",
    "testsgd.cli.certify",
    "testsgd.cli.generative",
    "testsgd.cli.main",
    "testsgd.cli.mitigate",
    "testsgd.cli.monitor",
    "testsgd.cli.report",
    "testsgd.cli.shield",
    "testsgd.cli.train",
    "testsgd.auditing.call",
    "testsgd.auditing.report.layout",
    "testsgd.certification.call",
    "testsgd.certification.proving.compiled_analysis",
    "testsgd.certification.report.layout",
    "testsgd.certification.run",
    "testsgd.generative.call",
    "testsgd.generative.enforcer",
    "testsgd.generative.report.layout",
    "testsgd.metrics.call",
    "testsgd.metrics.models",
    "testsgd.mitigation.frontiers.call",
    "testsgd.mitigation.frontiers.outcome",
    "testsgd.mitigation.frontiers.run",
    "testsgd.mitigation.frontiers.thresholds",
    "testsgd.models.refitting.find",
    "testsgd.models.training",
    "testsgd.monitoring.call",
    "testsgd.shielding.call",
    "h5py",
    "nltk.tokenize",
    "sklearn.linear_model",
    "sklearn.pipeline",
    "sklearn.compose",
]


@dataclass
class Ended:
    """How a child ended: its exit code, negative if a signal ended it, and what it said."""

    code: int
    out: str
    err: str
    steps: int
    seconds: float

    @property
    def killed(self) -> bool:
        return self.code in KILLED


@dataclass
class Killer:
    """Runs commands in a folder, in children of a process that has imported the package."""

    folder: Path
    process: subprocess.Popen[str]
    kills: int = 0
    seconds: float = 0.0
    _numbers: Any = field(default_factory=itertools.count)

    def run(
        self,
        *arguments: str | Path,
        folder: Path | None = None,
        stdin: Path | None = None,
        kill_at: int | None = None,
        kill_at_bytes: int | None = None,
        prepared_by: str = "",
        program: str = "",
    ) -> Ended:
        """Run a command, or the function `program` (module:function), and wait for its end."""
        said = self.folder / f".said-{next(self._numbers)}"
        order = {
            "arguments": [str(argument) for argument in arguments],
            "folder": str(folder or self.folder),
            "stdin": str(stdin or "/dev/null"),
            "stdout": f"{said}.out",
            "stderr": f"{said}.err",
            "kill_at": kill_at,
            "kill_at_bytes": kill_at_bytes,
            "prepared_by": prepared_by,
            "program": program,
        }
        sent, received = self._pipes()
        sent.write(json.dumps(order) + "\n")
        sent.flush()
        answer = json.loads(received.readline())
        out, err = (Path(order[name]).read_text(encoding="utf-8") for name in ("stdout", "stderr"))
        ended = Ended(answer["code"], out, err, answer["steps"], answer["seconds"])
        self.kills += ended.killed
        self.seconds += ended.seconds
        return ended

    def _pipes(self) -> tuple[IO[str], IO[str]]:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        return self.process.stdin, self.process.stdout


def start_server() -> subprocess.Popen[str]:
    """Start the process whose children are killed."""
    server = Path(__file__).with_name("forking_server.py")
    return subprocess.Popen(
        [sys.executable, str(server), *WARM],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


def spread(total: int, most: int) -> list[int]:
    """Return at most so many of the numbers from 1 to `total`, evenly spread, with both ends."""
    if total <= most:
        return list(range(1, total + 1))
    return sorted({1 + round(index * (total - 1) / (most - 1)) for index in range(most)})


def files_of(folder: Path) -> dict[str, bytes]:
    """Return the files of a folder that are not hidden."""
    if not folder.exists():
        return {}
    return {
        path.name: path.read_bytes()
        for path in sorted(folder.iterdir())
        if path.is_file() and not path.name.startswith(".")
    }
