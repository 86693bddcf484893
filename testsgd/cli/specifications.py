"""Files of specifications that are made from an audit, one for each of its groups."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from testsgd.cli import console
from testsgd.io import check_replaceable, moved_together, write_text


def write_specifications(
    texts: Sequence[str], folder: Path, *, wanted: int | None, quiet: bool
) -> None:
    """Write specifications as ``group-1.toml`` and so on, and say so; all of them or none.

    Parameters
    ----------
    texts : sequence of str
        TOML.
    folder : pathlib.Path
        Where to.
    wanted : int or None
        How many were asked for. Fewer than these are not left unsaid.
    quiet : bool
        Whether nothing is said.

    Raises
    ------
    ConfigurationError
        If nothing can be written there, or a file is there already and is not to be replaced.
    """
    paths = [folder / f"group-{place}.toml" for place in range(1, len(texts) + 1)]
    for path in paths:
        check_replaceable(path)
    console.check_reports_writable(folder)
    with moved_together(*paths):
        for path, text in zip(paths, texts, strict=True):
            write_text(path, text)
    if quiet:
        return
    for path in paths:
        fewer = wanted is not None and path == paths[-1] and len(paths) < wanted
        number = f" (all that there are: {len(paths)} of {wanted})" if fewer else ""
        console.print_line(f"Written: {path}{number}")
