"""An optional package that breaks is reported; an error of our own code is not hidden."""

from __future__ import annotations

import sys
from types import ModuleType

import numpy as np
import pytest
from scripted_subject import scripted

from testsgd.baselines import BiasScan, DivExplorer, SliceLine

MESSAGE = "no attribute 'append'\nand a second line"


class Broken:
    """Stands for any class of a package whose version does not fit."""

    def __init__(self, *_args, **_options):
        pass

    def __getattr__(self, _name):
        def call(*_args, **_options):
            raise AttributeError(MESSAGE)

        return call


class Unusable:
    def __init__(self, *_args, **_options):
        raise TypeError


def subject():
    return scripted({"race": list("aabb") * 20}, np.arange(80) % 2)


def stand_in(monkeypatch, scanner):
    for name, content in {
        "divexplorer": {"DivergenceExplorer": scanner},
        "sliceline": {},
        "sliceline.slicefinder": {"Slicefinder": scanner},
        "aif360": {},
        "aif360.detectors": {},
        "aif360.detectors.mdss": {},
        "aif360.detectors.mdss.MDSS": {"MDSS": scanner},
        "aif360.detectors.mdss.ScoringFunctions": {"Bernoulli": dict},
    }.items():
        module = ModuleType(name)
        module.__dict__.update(content)
        monkeypatch.setitem(sys.modules, name, module)


@pytest.mark.parametrize(
    ("method", "package"),
    [(DivExplorer(), "divexplorer"), (SliceLine(), "sliceline"), (BiasScan(), "aif360")],
)
@pytest.mark.parametrize(
    ("broken", "told"),
    [(Broken, "AttributeError: no attribute 'append';"), (Unusable, "failed with TypeError;")],
)
def test_a_package_that_raises_is_reported(method, package, broken, told, monkeypatch):
    stand_in(monkeypatch, broken)
    result = method.run(subject())
    assert not result.available
    assert result.findings == ()
    assert told in result.note
    assert "second line" not in result.note
    assert f"another version of {package}" in result.note


@pytest.mark.parametrize("method", [DivExplorer(), SliceLine(), BiasScan()])
def test_a_package_whose_import_raises_is_reported(method, monkeypatch):
    class Finder:
        def find_spec(self, name, path=None, target=None):
            if name.partition(".")[0] in ("divexplorer", "sliceline", "aif360"):
                raise RuntimeError("built for another numpy")

    for name in list(sys.modules):
        if name.partition(".")[0] in ("divexplorer", "sliceline", "aif360"):
            monkeypatch.delitem(sys.modules, name)
    monkeypatch.setattr(sys, "meta_path", [Finder(), *sys.meta_path])
    result = method.run(subject())
    assert not result.available
    assert "built for another numpy" in result.note


@pytest.mark.parametrize(
    ("method", "own"),
    [
        (DivExplorer(), "testsgd.baselines.divexplorer.items_frame"),
        (SliceLine(), "testsgd.baselines.sliceline.coded_columns"),
        (BiasScan(), "testsgd.baselines.bias_scan.rows_of"),
    ],
)
def test_errors_of_our_own_code_surface(method, own, monkeypatch):
    class Scanner:
        def __init__(self, *_args, **_options):
            pass

        def scan(self, *_args, **_options):
            return {"0": [0]}, 1.0

    def fail(*_args):
        raise KeyError("ours")

    stand_in(monkeypatch, Scanner)
    monkeypatch.setattr(own, fail)
    with pytest.raises(KeyError, match="ours"):
        method.run(subject())
