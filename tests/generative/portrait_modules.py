"""The portraits as modules: the benchmarks are no part of the package."""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path
from typing import Any


def portraits(name: str) -> Any:
    root = str(Path(__file__).resolve().parents[2])
    if root not in sys.path:
        sys.path.append(root)
    return import_module(f"benchmarks.generative_experiments.portraits.{name}")
