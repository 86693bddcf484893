"""Programs that are run to see which modules they load."""

from __future__ import annotations

import json
import subprocess
import sys
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
