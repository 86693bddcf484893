"""The built wheel carries all it needs: installed alone, without extras, it runs the main job."""

from __future__ import annotations

import json
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from testsgd.data import PLANTED_GROUP, catalogue

ROOT = Path(__file__).resolve().parents[2]
PIP = (sys.executable, "-m", "pip", "--disable-pip-version-check")

pytestmark = pytest.mark.wheel


def run(*command: str | Path, folder: Path) -> str:
    finished = subprocess.run(
        [str(part) for part in command], cwd=folder, capture_output=True, text=True, check=False
    )
    assert finished.returncode == 0, finished.stderr
    return finished.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the wheel from the checkout."""
    pytest.importorskip("build")
    folder = tmp_path_factory.mktemp("dist")
    run(
        sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", folder, ROOT,
        folder=ROOT,
    )  # fmt: skip
    return next(folder.glob("*.whl"))


@pytest.fixture(scope="module")
def testsgd(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Install the wheel, and nothing but what it asks for, into a new environment."""
    folder = tmp_path_factory.mktemp("environment")
    # Without a pip of its own, and compiled when it is imported: most of it never is.
    run(sys.executable, "-m", "venv", "--without-pip", folder, folder=folder)
    pip = (*PIP, "--python", folder / "bin" / "python")
    run(*pip, "install", "--quiet", "--no-compile", wheel, folder=folder)
    return folder / "bin" / "testsgd"


def test_wheel_carries_the_catalogue_the_networks_and_the_schemas(wheel: Path) -> None:
    names = set(zipfile.ZipFile(wheel).namelist())

    # The full comments of wikitalk are not at hand, so that no network could be trained on them.
    for name in catalogue():
        assert f"testsgd/_bundled/datasets/{name}.toml" in names
        assert (f"testsgd/_bundled/models/{name}/model.keras" in names) == (name != "wikitalk")
    assert "testsgd/_bundled/datasets/terms/table-1.toml" in names
    assert "testsgd/auditing/report/audit-2.json" in names
    assert "testsgd/report/templates/document.html.j2" in names
    assert "testsgd/py.typed" in names
    assert not any(name.endswith((".csv", ".data", ".tsv", ".xz", ".gz")) for name in names)


@pytest.mark.slow
def test_installed_wheel_runs_the_main_job(testsgd: Path, tmp_path: Path) -> None:
    printed = run(testsgd, "audit", "demo", folder=tmp_path)

    report = tmp_path / "reports" / "demo" / "report.html"
    result = json.loads((report.parent / "result.json").read_text())
    assert str(report.relative_to(tmp_path)) in printed
    assert result["groups"][0]["text"] == PLANTED_GROUP


def test_installed_wheel_has_no_extra(testsgd: Path, tmp_path: Path) -> None:
    installed = run(*PIP, "--python", testsgd.parent / "python", "list", folder=tmp_path)
    assert "testsgd" in installed

    for package in ("tensorflow", "keras", "pyarrow"):
        assert package not in installed


def test_installed_wheel_names_the_extra_it_lacks(testsgd: Path, tmp_path: Path) -> None:
    finished = subprocess.run(
        [str(testsgd), "train", "demo"], cwd=tmp_path, capture_output=True, text=True, check=False
    )

    assert finished.returncode == 2
    assert finished.stderr.count("\n") == 1
    assert "pip install 'testsgd[tensorflow]'" in finished.stderr
