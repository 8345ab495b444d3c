"""Known answers that the documentation shows: what theory says, what was measured, kept beside docs/fidelity.md."""

from __future__ import annotations

import fcntl
import json
import os
from pathlib import Path

import pytest

DATA = Path(__file__).parents[2] / "docs" / "fidelity.json"


def known(answer: str, theory: float, measured: float, unit: str, within: float, interval: float | None = None) -> None:
    """Judge a measured value by what theory says of it, as a share of that, and by the page that tells of it.

    Of a mean of several values, `interval` is the half width of its confidence interval of 95 %.

    Virtual time makes the value the same on every machine, so the page has to have exactly it. FABRICLAB_ACCEPT=1
    writes it there; `FABRICLAB_ACCEPT=1 pytest tests/house/test_fidelity_page.py` then makes the page's table of it.
    """
    assert measured == pytest.approx(theory, rel=within)
    row = {"theory": round(theory, 6), "measured": round(measured, 6), "unit": unit, "within": within}
    if interval is not None:
        row["interval"] = round(interval, 6)
    if os.environ.get("FABRICLAB_ACCEPT") == "1":
        with DATA.open("r+", encoding="utf-8") as file:
            fcntl.flock(file, fcntl.LOCK_EX)  # several workers may write
            rows = json.load(file) | {answer: row}
            file.seek(0)
            file.truncate()
            json.dump(dict(sorted(rows.items())), file, indent=1, ensure_ascii=False)
            file.write("\n")
        return
    rows = json.loads(DATA.read_text(encoding="utf-8"))
    assert rows.get(answer) == row, f"{answer!r}: FABRICLAB_ACCEPT=1 writes what was measured to docs/fidelity.json"
