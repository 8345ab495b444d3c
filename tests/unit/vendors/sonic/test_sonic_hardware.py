"""The first pause and the first drop of one busy port are those of hardware: as sonic-mgmt measured them.

With checkouts of sonic-buildimage (SONIC_SOURCE) and sonic-mgmt (SONIC_MGMT) every configuration that both have is
compared, and the table of images/sonic/README.md printed (`pytest -s`). Without them, some of it: pools and profiles as
they are shipped, written small.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from sonic_hardware import LOSSLESS, LOSSY, Measured, Profile, first_pause_and_drop, headroom, lookup, measured, plan_of
from sonic_hardware import with_lossless as after_buffermgrd
from sonic_templates import configuration

from fabriclab.vendors.sonic.read import parse_config_db
from fabriclab.vendors.sonic.read.chips import CHIPS, UNKNOWN, chip_of

WITHIN = 0.05


@dataclass(frozen=True)
class Shipped:
    """A switch as SONiC ships it: its pools, the profile of its lossless groups, and what hardware did with it."""

    hwsku: str
    ports: int
    ingress: tuple[int, int]
    """Size and xoff of ingress_lossless_pool."""
    egress: int
    """The size of the pool of lossy queues."""
    queue: tuple[int, int]
    """Size and dynamic_th of the profile of lossy queues."""
    group: tuple[int, int, int]
    """Size, xoff and dynamic_th of the profile of lossless groups."""
    pause: int
    drop: int | None = None
    lanes: int = 4


SHIPPED = (
    Shipped("Force10-S6000", 32, (12766208, 0), 7326924, (1664, 3), (56368, 55120, -3), 4898),
    Shipped("Arista-7050CX3-32S-C32", 32, (32712448, 1622016), 24709632, (1792, 3), (4608, 160000, 0), 59605),
    Shipped("Arista-7060CX-32S-C32", 32, (10875072, 4194112), 9243812, (1664, -1), (1248, 165568, 0), 6542),
    Shipped("Arista-7260CX3-D108C8", 64, (33329088, 7827456), 26663272, (1664, -1), (1248, 101088, 0), 20034),
    Shipped("DellEMC-Z9332f-O32", 32, (66394076, 27200352), 38462204, (1778, 1), (2540, 373888, -2), 15152, 50482, 8),
    Shipped("DellEMC-Z9332f-M-O16C64", 80, (66394076, 8644128), 55921148, (1778, 1), (2540, 117348, -2), 22026, 73394),
    Shipped(
        "Arista-7060X6-64PE-P64", 64, (164733224, 17962880), 164733224, (1778, 0), (8636, 724662, 0), 142285, 142259, 8
    ),
    Shipped(
        "Arista-7060X6-64PE-O128", 128, (164075364, 49418240), 164075364, (1778, 0), (8636, 1136396, 0), 108469, 108443
    ),
)
"""Of the device folders of sonic-buildimage, and tests/qos/files of sonic-mgmt (2026-08): figures that both state."""

HEADROOM = {
    "Force10-S6000": 266,
    "Arista-7050CX3-32S-C32": 623,
    "Arista-7260CX3-D108C8": 487,
    "DellEMC-Z9332f-O32": 1472,
    "DellEMC-Z9332f-M-O16C64": 462,
    "Arista-7060X6-64PE-P64": 2854,
    "Arista-7060X6-64PE-O128": 4475,
}
"""Cells from the first pause to the first lossless drop in sonic-mgmt.

It has 1,293 for Arista-7060CX-32S-C32, whose shipped profile has 796: these figures belong to different profiles.
"""


def tables(shipped: Shipped) -> dict[str, Any]:
    """Return a config_db.json with these figures and nothing else of note."""
    names = [f"Ethernet{4 * number}" for number in range(shipped.ports)]
    lossless = shipped.hwsku.startswith(("Arista-7060X6", "DellEMC"))
    lossy_pool = "egress_lossless_pool" if lossless else "egress_lossy_pool"
    size, xoff = shipped.ingress
    pools: dict[str, Any] = {
        "ingress_lossless_pool": {"type": "ingress", "mode": "dynamic", "size": size, "xoff": xoff or None},
        lossy_pool: {"type": "egress", "mode": "dynamic", "size": shipped.egress},
    }
    profiles: dict[str, Any] = {
        "lossy": {"pool": lossy_pool, "size": shipped.queue[0], "dynamic_th": shipped.queue[1]},
        "ingress_lossy": {"pool": "ingress_lossless_pool", "size": 0, "static_th": 10 * size},
    }
    config = {
        "DEVICE_METADATA": {"localhost": {"hwsku": shipped.hwsku, "hostname": "sw", "bgp_asn": "65100"}},
        "PORT": {
            name: {"lanes": _lanes(number, shipped.lanes), "speed": "100000", "admin_status": "up", "mtu": "9100"}
            for number, name in enumerate(names)
        },
        "INTERFACE": {f"{name}|10.{number}.0.0/31": {} for number, name in enumerate(names)},
        "CABLE_LENGTH": {"AZURE": dict.fromkeys(names, "300m")},
        "BUFFER_POOL": {name: {key: str(value) for key, value in one.items() if value} for name, one in pools.items()},
        "BUFFER_PROFILE": {name: {key: str(value) for key, value in one.items()} for name, one in profiles.items()},
        "BUFFER_PG": {f"{name}|0": {"profile": "ingress_lossy"} for name in names},
        "BUFFER_QUEUE": {f"{name}|{queues}": {"profile": "lossy"} for name in names for queues in ("0-2", "5-6")},
        "PORT_QOS_MAP": {name: {"dscp_to_tc_map": "AZURE", "pfc_enable": "3,4"} for name in names},
        "DSCP_TO_TC_MAP": {"AZURE": {str(dscp): str(3 if dscp == LOSSLESS else LOSSY) for dscp in range(64)}},
    }
    size, xoff, threshold = shipped.group
    return after_buffermgrd(config, Profile(str(size), "2288", str(xoff), str(threshold), "2288"))


def _lanes(number: int, lanes: int) -> str:
    return ",".join(str(lanes * number + lane + 1) for lane in range(lanes))


@pytest.mark.parametrize("shipped", SHIPPED, ids=lambda shipped: str(shipped.hwsku))
def test_first_pause_and_drop_are_the_hardwares(shipped: Shipped, tmp_path: Path) -> None:
    config = parse_config_db(json.dumps(tables(shipped)).encode(), "config_db.json")
    plan = plan_of(config, tmp_path)
    pause, drop = first_pause_and_drop(plan)
    assert pause == pytest.approx(shipped.pause, rel=0.002)
    if shipped.drop is not None:
        assert drop == pytest.approx(shipped.drop, rel=0.002)
    if shipped.hwsku in HEADROOM:
        assert headroom(plan) == pytest.approx(HEADROOM[shipped.hwsku], rel=0.005)
    switch = plan.node("sw").switch
    assert switch is not None
    assert [note for note in switch.notes if "hardware that sonic-mgmt measured" in note]


@pytest.mark.parametrize("threshold", [-3, 0, 3])
def test_spectrum_is_counted_as_the_test_of_its_hardware_does(threshold: int, tmp_path: Path) -> None:
    """qos_sai_base.py of sonic-mgmt: a profile's size, and alpha / (1 + alpha) of the pool as the file has it."""
    pool, size, cell = 5088768, 19456, 96
    lossless = (size, 18432, threshold)
    tables_ = tables(Shipped("ACS-MSN2700", 32, (pool, 1032192), 5088768, (9216, 3), lossless, 0))
    pause, _ = first_pause_and_drop(plan_of(parse_config_db(json.dumps(tables_).encode(), "c.json"), tmp_path))
    alpha = 2.0**threshold
    assert pause * cell == pytest.approx(size + pool * alpha / (1 + alpha), rel=0.001)


def test_a_chip_that_is_not_known_is_said_to_be_unchecked(tmp_path: Path) -> None:
    config = parse_config_db(json.dumps(tables(SHIPPED[0])).replace("Force10-S6000", "Some-Switch").encode(), "c.json")
    switch = plan_of(config, tmp_path).node("sw").switch
    assert switch is not None
    assert [note for note in switch.notes if "not checked on hardware" in note]
    assert (switch.cell_bytes, switch.slices) == (1, 1)


def test_a_virtual_switch_has_no_chip() -> None:
    assert chip_of("Force10-S6000", "x86_64-kvm_x86_64-r0") is UNKNOWN
    assert chip_of("Force10-S6000").name == "Trident 2"


@pytest.mark.parametrize("chip", CHIPS, ids=lambda chip: str(chip.name))
def test_slices_are_within_the_memory(chip: Any) -> None:
    if chip.slices is None:
        return
    found = {into | out for into in chip.slices.into for out in chip.slices.out or (0,)}
    assert found == set(range(chip.slices.count))


@dataclass(frozen=True)
class Pair:
    """A configuration that sonic-mgmt has figures of, and where it is shipped."""

    asic: str
    topology: str
    speed: str
    cable: str
    hwsku: str
    role: str


PAIRS = (
    Pair("td2", "topo-any", "40000", "300m", "Force10-S6000", "t1"),
    Pair("td3", "topo-t1-lag", "100000", "300m", "Arista-7050CX3-32S-C32", "t1"),
    Pair("td3", "topo-dualtor", "100000", "300m", "Arista-7050CX3-32S-C32", "t0"),
    Pair("td3", "topo-dualtor-56", "50000", "300m", "Arista-7050CX3-32S-D48C8", "t0"),
    Pair("th", "topo-t1-64-lag", "40000", "300m", "Force10-S6100", "t1"),
    Pair("th", "topo-t1-64-lag", "100000", "300m", "Arista-7060CX-32S-C32", "t1"),
    Pair("th2", "topo-t1-64-lag", "100000", "300m", "Arista-7260CX3-C64", "t1"),
    Pair("th2", "topo-any", "50000", "300m", "Arista-7260CX3-D108C10", "t0"),
    Pair("th3", "topo-t0-80", "100000", "300m", "DellEMC-Z9332f-M-O16C64", "t0"),
    Pair("th3", "topo-t1-lag", "400000", "300m", "DellEMC-Z9332f-O32", "t1"),
    Pair("th5", "topo-ft2-64", "800000", "5m", "Arista-7060X6-64PE-B-P64", "ft2"),
    Pair("th5", "topo-lt2-p32o64", "800000", "5m", "Arista-7060X6-64PE-B-P32O64", "lt2"),
    Pair("th5", "topo-lt2-o128", "400000", "500m", "Arista-7060X6-64PE-B-O128", "lt2"),
    Pair("th5", "topo-t1-f2-d10u8", "800000", "300m", "Arista-7060X6-64PE-B-P32O64", "t1"),
    Pair("th5", "topo-t1-isolated-d128", "400000", "40m", "Arista-7060X6-64PE-B-O128", "t1"),
    Pair("th6", "topo-t0-standalone", "800000", "500m", "NH-4210-F-P128", "t1"),
    Pair("th6", "topo-t0-standalone", "400000", "500m", "NH-4210-F-O256", "t1"),
    Pair("j2c+", "topo-t2_single_node_min", "100000", "120000m", "Arista-7800R3A-36DM2-C36/0", "t2"),
    Pair("j2c+", "topo-t2_single_node_max", "400000", "120000m", "Nokia-IXR7250E-36x400G/0", "t2"),
    Pair("jr2", "topo-any", "100000", "2000m", "Arista-7800R3-48CQ2-C48", "t2"),
)
DROPS_ASIDE = {
    "td3": "measured with other pools of lossy queues than are shipped now, but for dualtor",
    "jr2": "a deep switch drops by the length of a virtual output queue, which CONFIG_DB does not say",
    "j2c+": "the same",
}


@pytest.mark.skipif(
    not (os.environ.get("SONIC_SOURCE") and os.environ.get("SONIC_MGMT")),
    reason="SONIC_SOURCE=DIR SONIC_MGMT=DIR, clones of sonic-net's sonic-buildimage and sonic-mgmt, run it",
)
def test_shipped_configurations_pause_and_drop_as_measured(tmp_path: Path) -> None:
    assert [wrong for pair in PAIRS for wrong in otherwise_than_measured(pair, tmp_path)] == []


def otherwise_than_measured(pair: Pair, directory: Path) -> Iterator[str]:
    """Yield what of a shipped configuration is not as hardware does it; print the row of the table."""
    source, figures = Path(os.environ["SONIC_SOURCE"]), _figures(pair)
    hwsku = sorted(source.glob(f"device/*/*/{pair.hwsku}"))[-1]
    profile = lookup(hwsku, pair.speed, pair.cable)
    assert profile is not None
    shipped = after_buffermgrd(configuration(hwsku, source, pair.role), profile)
    for port in shipped["PORT"].values():
        port.setdefault("speed", pair.speed)
    pause, drop = first_pause_and_drop(plan_of(parse_config_db(json.dumps(shipped).encode(), "c.json"), directory))
    ratios = [
        f"{ours / theirs:.3f}" if theirs else "-" for ours, theirs in ((pause, figures.pause), (drop, figures.drop))
    ]
    print(f"| {pair.hwsku} {pair.role} | {pair.speed} {pair.cable} |", figures.pause, figures.drop, ratios)
    if pause != pytest.approx(figures.pause, rel=WITHIN):
        yield f"{pair}: pauses at {pause}, measured at {figures.pause}"
    aside = figures.drop is None or pair.asic in DROPS_ASIDE
    if not aside and drop != pytest.approx(figures.drop, rel=WITHIN):
        yield f"{pair}: drops at {drop}, measured at {figures.drop}"


def _figures(pair: Pair) -> Measured:
    key = (pair.asic, pair.topology, pair.speed, pair.cable)
    found = measured(Path(os.environ["SONIC_MGMT"]))
    return next(one for one in found if (one.asic, one.topology, one.speed, one.cable) == key)
