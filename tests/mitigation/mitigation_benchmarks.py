"""The benchmarks of the mitigation as modules: they are no part of the package."""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]


def benchmark(name: str) -> Any:
    if str(ROOT) not in sys.path:
        sys.path.append(str(ROOT))
    return import_module(f"benchmarks.{name}")
