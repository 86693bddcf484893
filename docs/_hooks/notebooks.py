"""Execute the notebooks of ``docs/notebooks`` and write what they show back into them.

``make notebooks`` does this after a change of a notebook, or of what one shows. Equal runs give
equal files: a notebook keeps its cells and their outputs, no counts, times or versions. The cells
are edited in the notebook itself, with Jupyter or any editor that opens notebooks.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from nbformat import NotebookNode

NOTEBOOKS = Path(__file__).resolve().parents[1] / "notebooks"
SECONDS_OF_A_CELL = 300

# What an editor and a code host need to know; versions would change with the machine.
_METADATA = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {"file_extension": ".py", "mimetype": "text/x-python", "name": "python"},
}
# Run by the kernel before the first cell: results are shown without dates and seconds.
_WITHOUT_TIMES = (
    "from testsgd.io import reproducible_files as _files; "
    "_without_times = _files(); _without_times.__enter__(); del _files"
)


def notebook_files() -> list[Path]:
    """Return the files of the notebooks, in the order of their names."""
    return sorted(NOTEBOOKS.glob("*.ipynb"))


def read_notebook(path: Path) -> NotebookNode:
    """Return a notebook as it is in its file."""
    import nbformat

    return nbformat.read(path, as_version=4)


def executed(notebook: NotebookNode) -> NotebookNode:
    """Return a notebook with the outputs that its cells have now.

    Parameters
    ----------
    notebook : NotebookNode
        Its outputs are not read; it stays as it is.

    Returns
    -------
    NotebookNode
        Executed in a new kernel, in a folder of its own that is removed afterwards, and tidied.

    Raises
    ------
    nbclient.exceptions.CellExecutionError
        If a cell raises an error.
    """
    from copy import deepcopy

    from nbclient import NotebookClient

    copy = deepcopy(notebook)
    with tempfile.TemporaryDirectory() as folder:
        client = NotebookClient(
            copy,
            timeout=SECONDS_OF_A_CELL,
            kernel_name="python3",
            coalesce_streams=True,
            record_timing=False,
            resources={"metadata": {"path": folder}},
            extra_arguments=[f"--IPKernelApp.exec_lines={_WITHOUT_TIMES}"],
        )
        client.execute()
    return tidied(copy)


def tidied(notebook: NotebookNode) -> NotebookNode:
    """Return a notebook without what differs between equal runs, or between machines.

    Parameters
    ----------
    notebook : NotebookNode
        An executed notebook, which is changed.

    Returns
    -------
    NotebookNode
        The same object: no execution counts, no metadata but the language, cells named by their
        place, and no output that was only shown while a cell ran.
    """
    notebook.metadata.clear()
    notebook.metadata.update(_METADATA)
    for place, cell in enumerate(notebook.cells):
        cell.metadata.clear()
        cell.id = f"cell-{place}"
        if cell.cell_type == "code":
            cell.execution_count = None
            cell.outputs = list(_tidied_outputs(cell.outputs))
    return notebook


def _tidied_outputs(outputs: Iterable[Any]) -> Iterator[Any]:
    for output in outputs:
        if output.output_type == "stream":
            output.text = _left_of_overwriting(output.text)
            if not output.text.strip():
                continue
        if "execution_count" in output:
            output.execution_count = None
        if "metadata" in output:
            output.metadata.clear()
        yield output


def _left_of_overwriting(text: str) -> str:
    """Return what stays of lines that are written over, such as how far an audit is."""
    return "\n".join(line.rpartition("\r")[2] for line in text.split("\n"))


def shown_texts(notebook: NotebookNode) -> list[tuple[int, str, str]]:
    """Return what a notebook shows as text: the place of the cell, the kind of text, and the text.

    Of pictures and HTML there is an empty text, so that they have to be there and may differ.
    """
    shown = []
    for place, cell in enumerate(notebook.cells):
        for output in cell.get("outputs", []):
            if output.output_type == "stream":
                shown.append((place, output.name, output.text))
            shown += [
                (place, kind, content if kind == "text/plain" else "")
                for kind, content in sorted(output.get("data", {}).items())
            ]
    return shown


def main() -> int:
    """Execute the notebooks, or those whose files are named, and write them; print the seconds."""
    import nbformat

    named = [Path(argument) for argument in sys.argv[1:]]
    for path in named or notebook_files():
        began = time.monotonic()
        nbformat.write(executed(read_notebook(path)), path)
        size = path.stat().st_size
        sys.stdout.write(f"{path.name}: {time.monotonic() - began:.1f} s, {size:,} bytes\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
