"""Domains that come with the package, for the networks that are known from publications."""

from __future__ import annotations

import functools
from pathlib import Path

from testsgd.data import bundled_folder


@functools.cache
def shipped_domains() -> dict[str, Path]:
    """List the domains that come with the package.

    Returns
    -------
    dict of str to pathlib.Path
        Name and file, in alphabetical order.

    Examples
    --------
    >>> list(shipped_domains())
    ['fairify/adult', 'fairify/bank', 'fairify/bank-published', 'fairify/compas',
     'fairify/german']
    """
    folder = bundled_folder("datasets") / "domains"
    files = {
        path.relative_to(folder).with_suffix("").as_posix(): path for path in folder.rglob("*.toml")
    }
    return dict(sorted(files.items()))
