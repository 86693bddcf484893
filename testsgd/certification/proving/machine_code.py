"""The decorator for this package's machine code.

Sums may be taken in any order, which the bound on rounding allows for.
"""

from __future__ import annotations

from pathlib import Path

from testsgd._machine_code import compiler

compiled = compiler(Path(__file__).parent)
