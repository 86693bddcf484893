"""Programs that are run to see which modules they load."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

HEAVY = [
    "pandas", "numpy", "tensorflow", "keras", "sklearn", "pydantic", "pyarrow", "scipy", "skops",
    "fairlearn", "divexplorer", "sliceline", "aif360", "onnx", "numba", "starlette", "uvicorn",
]  # fmt: skip

EXTRAS = [
    "tensorflow",
    "keras",
    "pyarrow",
    "polars",
    "skops",
    "fairlearn",
    "divexplorer",
    "sliceline",
    "aif360",
]
EXTRAS += ["onnx", "starlette", "uvicorn", "httpx", "aiohttp", "prometheus_client", "redis"]
EXTRAS += ["onnxruntime", "xgboost", "lightgbm", "catboost", "torch", "mlflow"]
EXTRAS += ["duckdb", "dask"]
EXTRAS += ["psycopg", "openai", "litellm", "matplotlib"]

BLOCK = """
import sys

class Blocked:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {blocked!r}:
            raise ImportError(f"{{name}} is blocked")
        return None

sys.meta_path.insert(0, Blocked())
"""

RUN = """
from testsgd.cli.main import _run
code = _run({arguments!r})
"""

# Several commands one after the other, and what each of them gave and said.
RUN_ALL = """
import contextlib, io, json
from testsgd.cli.main import _run

ended = []
for arguments in {commands!r}:
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = _run(arguments)
    ended.append([code, out.getvalue(), err.getvalue()])
print(json.dumps(ended))
"""

REPORT = """
import json, sys
loaded = sorted(name for name in {heavy!r} if name in sys.modules)
print(json.dumps(loaded), file=sys.stderr)
"""


def run(program: str, folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        stdin=subprocess.DEVNULL,
        text=True,
        cwd=folder,
        check=False,
    )


def loaded_by(program: str, folder: Path) -> list[str]:
    finished = run(program + REPORT.format(heavy=HEAVY), folder)
    assert finished.returncode == 0, finished.stderr
    loaded: list[str] = json.loads(finished.stderr.splitlines()[-1])
    return loaded


def run_all(
    program: str, commands: Sequence[Sequence[str]], folder: Path
) -> list[tuple[int, str, str]]:
    """Run commands in one process, after a program.

    Return the exit code of each, its output and its standard error.
    """
    finished = run(program + RUN_ALL.format(commands=[list(line) for line in commands]), folder)
    assert (finished.returncode, finished.stderr) == (0, "")
    return [(code, out, err) for code, out, err in json.loads(finished.stdout)]
