"""What every kind of result needs: reading its document, writing its views."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from testsgd._files import write_text
from testsgd.errors import ParameterError, ResultError

FILE_NAMES = {
    "html": "report.html",
    "md": "report.md",
    "json": "result.json",
    "csv": "groups.csv",
    "parquet": "groups.parquet",
}


def read_source(source: str | Path) -> tuple[str, str]:
    """Read the JSON text of a result.

    Parameters
    ----------
    source : str or path-like
        JSON text, or the path of a file that holds it.

    Returns
    -------
    text : str
        The text; it need not be that of a result.
    where : str
        What to call it in error messages.

    Raises
    ------
    ResultError
        If there is no such file, or it is no text.
    """
    place = str(source)
    if isinstance(source, str) and place.lstrip().startswith("{"):
        return place, "result"
    try:
        return Path(place).read_text(encoding="utf-8"), place
    except FileNotFoundError as error:
        raise ResultError("there is no such file", where=place, remedy="check the path") from error
    except (OSError, UnicodeDecodeError) as error:
        raise ResultError(
            "the file cannot be read as text", where=place, remedy="give a result.json"
        ) from error


def check_known(formats: Sequence[str], known: Sequence[str]) -> None:
    """Raise an error if one of the formats is not known."""
    for item in formats:
        if item not in known:
            raise ParameterError(
                f"the format {item!r} is unknown",
                where="format",
                remedy=f"choose from {', '.join(known)}",
            )


def write_views(
    folder: str | Path,
    formats: Sequence[str],
    texts: Mapping[str, Callable[[], str]],
    writers: Mapping[str, Callable[[Path], object]],
    names: Mapping[str, str] = FILE_NAMES,
) -> list[Path]:
    """Write views into a folder, each file whole or not at all.

    Parameters
    ----------
    folder : path-like
        Made if it is not there.
    formats : sequence of str
        Which views, in this order.
    texts : mapping
        How each view that is a text is rendered. All are rendered first, and written then: if one
        of them fails, no file is touched.
    writers : mapping
        How each other view is written to a path.
    names : mapping
        What each view's file is called.

    Returns
    -------
    list of pathlib.Path
        The files written.
    """
    rendered = {item: texts[item]() for item in formats if item in texts}
    written = []
    for item in formats:
        target = Path(folder) / names[item]
        if item in rendered:
            write_text(target, rendered[item])
        else:
            writers[item](target)
        written.append(target)
    return written
