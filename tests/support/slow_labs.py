"""A live lab whose flows are slow, and what is seen of them."""

from __future__ import annotations

from pathlib import Path

SLOWLY = "1/1000000"


def flows_of(run: Path) -> bytes:
    return next(run.rglob("flows.parquet")).read_bytes()
