"""The style that the figures of the docs have in common: colours by day and by night, and text."""

from __future__ import annotations

COMMON_STYLE = """  <style>
    .drawing {
      --ink: #1c2430; --faint: #5b6675; --line: #c9d0d9; --panel: #f1f4f8;
      --less: #b45309; --more: #1d5fa6;
      font: 15px system-ui, "Segoe UI", Roboto, "DejaVu Sans", sans-serif;
    }
    @media (prefers-color-scheme: dark) {
      .drawing {
        --ink: #e3e7ee; --faint: #a3adbd; --line: #4a5364; --panel: #2a3040;
        --less: #f0a45d; --more: #7db5f0;
      }
    }
    .drawing text { fill: var(--ink); }
    .drawing .faint { fill: var(--faint); font-size: 13px; }
    .drawing .strong { font-weight: 600; }
    .drawing .middle { text-anchor: middle; }
    .drawing .end { text-anchor: end; }
"""
"""The beginning of an SVG's style element; what a figure adds comes behind it."""
