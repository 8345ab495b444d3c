"""Files of a pod's switches: the T0 of tests/golden/sonic, and another one like it."""

from __future__ import annotations

import json
from pathlib import Path

GOLDEN = Path(__file__).parents[1] / "golden" / "sonic"


def t0_pair(directory: Path) -> list[Path]:
    """Return two top-of-rack switches: a VLAN of four servers each, a port channel of two to each of two
    T1s, which have no file."""
    text = (GOLDEN / "t0.json").read_text(encoding="utf-8")
    for old, new in {
        "t0-1": "t0-2",
        "65100": "65101",
        "10.1.0.32": "10.1.0.33",
        "10.0.0.56": "10.0.0.60",
        "10.0.0.57": "10.0.0.61",
        "10.0.0.58": "10.0.0.62",
        "10.0.0.59": "10.0.0.63",
        "192.168.0.1/21": "192.168.16.1/21",
        "192.168.8.1/24": "192.168.24.1/24",
    }.items():
        assert old in text
        text = text.replace(old, new)
    other = json.loads(text)
    for one in other["DEVICE_NEIGHBOR"].values():
        if one["name"].endswith("T1"):
            one["port"] = f"Ethernet{int(one['port'].removeprefix('Ethernet')) + 2}"
    second = directory / "t0-2.json"
    second.write_text(json.dumps(other, indent=1), encoding="utf-8")
    return [GOLDEN / "t0.json", second]
