"""What is shipped with the package: descriptions of data sets, lists of terms, trained networks."""

from __future__ import annotations

from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent.parent


def bundled_folder(kind: str) -> Path:
    """Give the folder of what is shipped with the package: ``datasets`` or ``models``.

    The wheel carries both inside the package; a checkout has them at its top.
    """
    inside = _PACKAGE / "_bundled" / kind
    return inside if inside.is_dir() else _PACKAGE.parent / kind
