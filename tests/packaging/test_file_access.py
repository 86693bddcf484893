"""The check that only ``testsgd/io`` opens, reads, writes and removes files finds them."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import pytest

SCRIPT = Path(__file__).resolve().parents[2] / ".ci" / "file_access.py"


@pytest.fixture(scope="module")
def check() -> Any:
    spec = importlib.util.spec_from_file_location("file_access", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    "line",
    [
        "open(path)",
        "mine = open",
        "texts = map(open, paths)",
        "path.open()",
        "os.open(path, 0)",
        "Path(path).read_bytes()",
        "texts = map(Path.read_text, paths)",
        "path.write_bytes(picture)",
        "write = path.write_text",
        "journal.unlink(missing_ok=True)",
        "shutil.rmtree(folder)",
    ],
)
def test_each_way_to_a_file_is_found(check: Any, line: str, tmp_path: Path) -> None:
    assert len(list(check.accesses(line))) == 1
    (tmp_path / "io").mkdir()
    (tmp_path / "io" / "door.py").write_text(line)
    assert check.main(tmp_path) == 0
    (tmp_path / "other.py").write_text(f"# A comment.\n{line}\n")
    assert check.main(tmp_path) == 1


def test_what_is_allowed_is_so_once_only(check: Any, tmp_path: Path) -> None:
    module = tmp_path / "report" / "html.py"
    module.parent.mkdir()
    module.write_text("script.read_text()\n")
    assert check.main(tmp_path) == 0
    module.write_text("script.read_text()\nmine.read_text()\n")
    assert check.main(tmp_path) == 1


def test_the_package_keeps_to_it(check: Any) -> None:
    assert check.main() == 0
    assert not list(check.accesses("count = journal.open + 1"))
    assert not list(check.accesses("open = 3\ncount = open + 1"))
