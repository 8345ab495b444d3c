"""When a port of a switch pauses or drops first, as sonic-mgmt's tests measure it: frames of one cell to a port that
sends nothing, one after the other, until something happens (tests/saitests/py3/sai_qos_tests.py, PFCtest, LossyQueue).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML

from fabriclab.formats.plan.model import Plan
from fabriclab.formats.plan.switch import Account
from fabriclab.lab import parse_lab
from fabriclab.resolve import resolve_plan
from fabriclab.resolve.switch.findings import CheckedPort
from fabriclab.resolve.switch.headroom import Line, cells
from fabriclab.resolve.switch.memory import Memory
from fabriclab.vendors.sonic.lab import import_lab
from fabriclab.vendors.sonic.read.config_db import ConfigDb

LOSSLESS, LOSSY = 3, 0


@dataclass(frozen=True)
class Measured:
    """What hardware did: cells until the first pause of a lossless group, until the first drop of a lossy queue."""

    asic: str
    topology: str
    speed: str
    cable: str
    cell_bytes: int
    pause: int | None
    drop: int | None


@dataclass(frozen=True)
class Profile:
    """A line of pg_profile_lookup.ini: what buffermgrd gives a lossless group."""

    size: str
    xon: str
    xoff: str
    threshold: str
    xon_offset: str


def measured(directory: Path) -> Iterator[Measured]:
    """Yield what a checkout of sonic-mgmt has: the same figures of several topologies once."""
    seen = set()
    for file in sorted((directory / "tests" / "qos" / "files").glob("qos_params.*.yaml")):
        for asic, topologies in YAML(typ="safe", pure=True).load(file)["qos_params"].items():
            for topology, one in topologies.items():
                for speed_cable, figures in one.items() if isinstance(one, dict) else ():
                    if not isinstance(figures, dict) or "xoff_1" not in figures:
                        continue
                    pause = figures["xoff_1"].get("pkts_num_trig_pfc")
                    drop = figures.get("lossy_queue_1", {}).get("pkts_num_trig_egr_drp")
                    speed, _, cable = str(speed_cable).partition("_")
                    found = Measured(asic, topology, speed, cable, _cell_bytes(one), pause, drop)
                    key = (asic, speed, cable, pause, drop)
                    if cable and key not in seen:
                        seen.add(key)
                        yield found


def _cell_bytes(figures: Any) -> int:
    """Return the first `cell_size` within; 0 where none is said."""
    if not isinstance(figures, dict):
        return 0
    own = figures.get("cell_size")
    return int(own) if own else next((found for each in figures.values() if (found := _cell_bytes(each))), 0)


def lookup(hwsku: Path, speed: str, cable: str) -> Profile | None:
    """Return a line of a hwsku's pg_profile_lookup.ini."""
    file = hwsku / "pg_profile_lookup.ini"
    for line in file.read_text().splitlines() if file.exists() else ():
        words = line.split("#")[0].split()
        if words[:2] == [speed, cable]:
            return Profile(words[2], words[3], words[4], words[5], words[6] if len(words) > 6 else "0")
    return None


def with_lossless(tables: dict[str, Any], profile: Profile) -> dict[str, Any]:
    """Return the tables as they are after buffermgrd: each port with two lossless groups."""
    pool = "ingress_lossless_pool"
    entry = {"pool": pool, "size": profile.size, "xon": profile.xon, "xoff": profile.xoff}
    entry |= {"xon_offset": profile.xon_offset, "dynamic_th": profile.threshold}
    groups = {f"{port}|3-4": {"profile": "pg_lossless"} for port in tables["PORT"]}
    return tables | {
        "BUFFER_PROFILE": tables["BUFFER_PROFILE"] | {"pg_lossless": entry},
        "BUFFER_PG": tables["BUFFER_PG"] | groups,
    }


def plan_of(config: ConfigDb, directory: Path) -> Plan:
    """Return the plan of a switch's lab, with nothing scaled."""
    for name, text in import_lab(config, "sw").files.items():
        (directory / name).write_text(text)
    return resolve_plan(parse_lab(directory), {})


def first_pause_and_drop(plan: Plan) -> tuple[int, int]:
    """Return with how many cells the lossless group of one port pauses, and the lossy queue of one drops."""
    node = plan.node("sw")
    assert node.switch is not None
    checked = [
        CheckedPort(port.interface, Line(port.rate_bps, 0, port.rate_bps, 0, port.mtu, ()), port.switch_port)
        for port in node.ports
        if port.switch_port is not None
    ]
    memory, port = Memory(node.switch, checked), checked[0].port
    groups = {group.index: group for group in port.groups}
    queues = {queue.index: queue for queue in port.queues}
    return _holds(memory, groups[LOSSLESS].account), _holds(memory, queues[LOSSY].account)


def headroom(plan: Plan) -> int:
    """Return how many cells more the lossless group of one port takes after it paused."""
    node = plan.node("sw")
    assert node.switch is not None
    port = next(port.switch_port for port in node.ports if port.switch_port is not None)
    lossless = next(group.lossless for group in port.groups if group.index == LOSSLESS)
    assert lossless is not None
    return cells(lossless.headroom_bytes, node.switch.cell_bytes)


def _holds(memory: Memory, account: Account) -> int:
    return cells(account.reserved_bytes, memory.cell_bytes) + int(memory.share_cells(account, 1))
