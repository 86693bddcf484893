"""Run-time shields: decisions are changed as little as possible so that a bound is kept."""

from __future__ import annotations
