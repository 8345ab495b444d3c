"""The in-cast lab collapses where the study and the prototype say; the lab's own checks are asked."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from vm import fabriclab

pytestmark = [pytest.mark.vm, pytest.mark.usefixtures("artefacts")]

LAB = Path(__file__).parents[2] / "labs" / "incast"


@pytest.mark.parametrize(
    ("variant", "buffer", "senders", "least_mbps", "most_mbps"),
    [
        ("cubic", "64 KB", 4, 850, 950),
        ("cubic", "64 KB", 16, 0, 250),
        ("cubic", "256 KB", 16, 900, 950),
        ("dctcp", "64 KB", 16, 900, 950),
        ("dctcp", "64 KB", 32, 0, 500),
        ("dctcp", "256 KB", 32, 900, 950),
    ],
)
def test_goodput(tmp_path: Path, variant: str, buffer: str, senders: int, least_mbps: int, most_mbps: int) -> None:
    settings = [f"variant={variant}", f"buffer={buffer}", f"senders={senders}"]
    result = fabriclab(tmp_path, "run", str(LAB), *(word for each in settings for word in ("--set", each)), "--out", "run")
    assert result.returncode == 0, result.stdout + result.stderr
    assert "pass: goodput_bps" in result.stdout
    summary = json.loads((tmp_path / "run" / "summary.json").read_text())["metrics"]
    (traffic,) = json.loads((tmp_path / "run" / "plan.json").read_text())["traffic"]
    assert least_mbps <= summary["goodput_bps"] / 1e6 <= most_mbps
    assert traffic["rounds"] > 1
    assert summary["flows_complete"] == summary["flows"] == traffic["rounds"] * senders
