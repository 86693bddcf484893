"""What is imported when: nothing heavy to be imported or to show help, each extra only if used."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

HEAVY = ["pandas", "numpy", "tensorflow", "keras", "sklearn", "pydantic", "pyarrow", "scipy"]

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
        [sys.executable, "-c", program], capture_output=True, text=True, cwd=folder, check=False
    )


def loaded_by(program: str, folder: Path) -> list[str]:
    finished = run(program + REPORT.format(heavy=HEAVY), folder)
    assert finished.returncode == 0, finished.stderr
    loaded: list[str] = json.loads(finished.stderr.splitlines()[-1])
    return loaded


def test_importing_the_package_imports_nothing_heavy(tmp_path: Path) -> None:
    assert loaded_by("import testsgd; testsgd.__version__; dir(testsgd)", tmp_path) == []


@pytest.mark.parametrize("arguments", [["--help"], ["--version"]])
def test_help_imports_nothing_heavy(arguments: list[str], tmp_path: Path) -> None:
    assert loaded_by(RUN.format(arguments=arguments), tmp_path) == []


@pytest.mark.parametrize("command", ["audit", "train", "report", "data"])
def test_the_help_of_a_command_imports_nothing_heavy(command: str, tmp_path: Path) -> None:
    # Some versions of typer import pydantic themselves to look at a command's options.
    loaded = loaded_by(RUN.format(arguments=[command, "--help"]), tmp_path)
    assert set(loaded) <= {"pydantic"}


def test_an_audit_of_a_network_imports_no_tensorflow(tmp_path: Path) -> None:
    loaded = loaded_by(RUN.format(arguments=["audit", "demo"]), tmp_path)
    assert "tensorflow" not in loaded
    assert "keras" not in loaded
    assert (tmp_path / "reports" / "demo" / "report.html").is_file()


def test_without_any_extra_an_audit_works(tmp_path: Path) -> None:
    program = BLOCK.format(blocked=["tensorflow", "keras", "pyarrow", "polars"])
    arguments = ["audit", "demo", "--format", "html,md,json,csv", "--quiet"]
    finished = run(program + RUN.format(arguments=arguments) + "sys.exit(code)", tmp_path)
    assert (finished.returncode, finished.stdout, finished.stderr) == (0, "", "")
    assert len(list((tmp_path / "reports" / "demo").iterdir())) == 4


@pytest.mark.parametrize(
    ("arguments", "extra"),
    [
        (["audit", "demo", "--format", "html,parquet"], "parquet"),
        (["train", "demo"], "tensorflow"),
    ],
)
def test_a_missing_extra_is_named_with_its_install_line(
    arguments: list[str], extra: str, tmp_path: Path
) -> None:
    program = BLOCK.format(blocked=["tensorflow", "keras", "pyarrow"])
    finished = run(program + RUN.format(arguments=arguments) + "sys.exit(code)", tmp_path)
    assert finished.returncode == 2
    assert finished.stdout == ""
    assert finished.stderr.count("\n") == 1
    assert f"pip install 'testsgd[{extra}]'" in finished.stderr
    assert list(tmp_path.iterdir()) == []
