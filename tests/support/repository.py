"""Where the repository lies that tests read: the one place that knows how deep a test lies below it."""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LABS = ROOT / "labs"
SUPPORT = Path(__file__).resolve().parent
GOLDEN = ROOT / "tests" / "golden"
