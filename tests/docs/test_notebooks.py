"""The notebooks of the docs run, and what they show is what is in their files."""

from __future__ import annotations

import base64
import importlib.util
import json
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

DOCS = Path(__file__).resolve().parents[2] / "docs"
NOTEBOOKS = sorted((DOCS / "notebooks").glob("*.ipynb"))
LARGEST_PICTURE = 70_000


@pytest.fixture(scope="module")
def hook() -> ModuleType:
    """Return the module that executes notebooks, which is no part of a package."""
    specification = importlib.util.spec_from_file_location(
        "notebooks_hook", DOCS / "_hooks/notebooks.py"
    )
    assert specification is not None
    assert specification.loader is not None
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


def document(path: Path) -> dict[str, Any]:
    read: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return read


def outputs_of(path: Path) -> list[dict[str, Any]]:
    return [output for cell in document(path)["cells"] for output in cell.get("outputs", [])]


@pytest.mark.slow
@pytest.mark.plot
@pytest.mark.skops
@pytest.mark.fairlearn
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_what_a_notebook_shows_is_current(path: Path, hook: ModuleType) -> None:
    for package in ("nbclient", "nbformat", "ipykernel", "matplotlib", "skops", "fairlearn"):
        pytest.importorskip(package)
    committed = hook.read_notebook(path)
    # A cell that raises an error raises one here.
    assert hook.shown_texts(hook.executed(committed)) == hook.shown_texts(committed), (
        "run `make notebooks` and look at what changed"
    )


def test_there_are_five_and_the_page_links_each() -> None:
    page = (DOCS / "notebooks.md").read_text(encoding="utf-8")
    assert len(NOTEBOOKS) == 5
    assert [path.name for path in NOTEBOOKS if f"(notebooks/{path.name})" not in page] == []


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_is_short_and_shows_results(path: Path) -> None:
    cells = document(path)["cells"]
    assert 6 <= len(cells) <= 12
    assert cells[0]["cell_type"] == "markdown"
    shown = outputs_of(path)
    # Neither errors nor warnings.
    assert {output["output_type"] for output in shown} <= {"stream", "execute_result"}
    assert {output.get("name", "stdout") for output in shown} == {"stdout"}
    pages = ["".join(output.get("data", {}).get("text/html", "")) for output in shown]
    assert any("testsgd-result" in page for page in pages)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_keeps_nothing_of_one_run(path: Path) -> None:
    notebook = document(path)
    assert set(notebook["metadata"]) == {"kernelspec", "language_info"}
    assert "version" not in notebook["metadata"]["language_info"]
    for cell in notebook["cells"]:
        assert cell["metadata"] == {}
        assert cell.get("execution_count") is None
    for output in outputs_of(path):
        assert output.get("execution_count") is None
        assert output.get("metadata", {}) == {}


def test_pictures_are_there_and_small() -> None:
    pictures = [
        base64.b64decode(output["data"]["image/png"])
        for path in NOTEBOOKS
        for output in outputs_of(path)
        if "image/png" in output.get("data", {})
    ]
    assert pictures
    assert all(picture.startswith(b"\x89PNG") for picture in pictures)
    assert max(map(len, pictures)) < LARGEST_PICTURE


def test_progress_that_was_written_over_is_left_out(hook: ModuleType) -> None:
    nbformat = pytest.importorskip("nbformat")
    code = nbformat.v4.new_code_cell("audit()", execution_count=3)
    # A line of progress, written over and cleared, and a line that stays.
    code.outputs = [
        nbformat.v4.new_output("stream", name="stderr", text="\rat work: 10%\r           \r"),
        nbformat.v4.new_output("stream", name="stdout", text="first\nat work\rdone\n"),
        nbformat.v4.new_output("execute_result", {"text/plain": "5"}, execution_count=3),
    ]
    notebook = nbformat.v4.new_notebook(cells=[code], metadata={"widgets": {"of": "one run"}})
    tidied = hook.tidied(notebook)
    assert hook.shown_texts(tidied) == [(0, "stdout", "first\ndone\n"), (0, "text/plain", "5")]
    assert tidied.cells[0].execution_count is None
    assert tidied.cells[0].outputs[-1].execution_count is None
    assert "widgets" not in tidied.metadata
