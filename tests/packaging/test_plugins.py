"""Other packages add types of model files and formats of reports by entry points."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

import testsgd
from testsgd.data import load_specification
from testsgd.errors import ConfigurationError, ParameterError
from testsgd.models import load_model

MODULE = """
import numpy as np
from testsgd.report.exporters import Exporter

def read_limit(path):
    limit = float(path.read_text())
    return lambda frame: np.where(frame["income"] > limit, "yes", "no")

headline = Exporter("headline.txt", text=lambda result: result.verdict.headline)
"""

ENTRY_POINTS = """
[testsgd.models]
limit = a_package_of_plugins:read_limit

[testsgd.formats]
headline = a_package_of_plugins:headline
broken = a_package_of_plugins:missing
"""


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Install a package with plugins, as far as Python can tell."""
    metadata = tmp_path / "a_package_of_plugins-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: plugins\nVersion: 1.0\n")
    (metadata / "entry_points.txt").write_text(ENTRY_POINTS)
    (tmp_path / "a_package_of_plugins.py").write_text(MODULE)
    monkeypatch.syspath_prepend(str(tmp_path))


@pytest.mark.usefixtures("installed")
def test_a_type_of_model_files(tmp_path: Path) -> None:
    (tmp_path / "strict.limit").write_text("30")
    model = load_model(tmp_path / "strict.limit", load_specification("demo")).model
    assert model.decisions(pd.DataFrame({"income": [10, 40]})).tolist() == [False, True]


@pytest.mark.usefixtures("installed")
def test_a_format_of_reports(tmp_path: Path) -> None:
    result = testsgd.audit(None, None, "demo", limit=500, guarantee="per-group")
    (written,) = result.write(tmp_path, ["headline"])
    assert written.read_text() == result.verdict.headline
    with pytest.raises(ConfigurationError):
        result.write(tmp_path, ["broken"])


def test_without_plugins_there_are_none(tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match="'headline' is unknown"):
        testsgd.AuditResult.check_formats(["headline"])
