"""What other packages add: entry points of the groups ``testsgd.models`` and ``testsgd.formats``.

An entry point of ``testsgd.models`` is named like the end of the files that it reads, without the
dot, and is a function from a path to an object that :func:`testsgd.models.load_model` takes. One of
``testsgd.formats`` is named like a format, and is an :class:`testsgd.report.exporters.Exporter`.
"""

from __future__ import annotations

from importlib.metadata import entry_points
from typing import Any

from testsgd.errors import ConfigurationError


def plugin_names(group: str) -> list[str]:
    """Return the names that installed packages add to a group, such as ``testsgd.formats``."""
    return sorted(entry_points(group=group).names)


def load_plugin(group: str, name: str) -> Any:
    """Return what an installed package adds under a name, or None if none does.

    Raises
    ------
    ConfigurationError
        If it cannot be imported.
    """
    for point in entry_points(group=group, name=name):
        try:
            return point.load()
        except Exception as error:
            raise ConfigurationError(
                f"the plugin {point.value!r} cannot be loaded ({type(error).__name__}: {error})",
                where=f"{group}: {name}",
                remedy="mend or uninstall the package that it is from",
            ) from error
    return None
