"""The words by which a batch file describes a port (images/machine/init/src/iproute/switch_port.rs), and what they are
in netlink.

The golden file holds words and bytes in turn. Here the bytes are those that `switch_port.py` packs, in the tests of PID
1 those that its words give; in the machine both must make the same port.
`FABRICLAB_ACCEPT=1 pytest tests/kernel/test_switch_port_words.py` writes the file.
"""

from __future__ import annotations

import os
import struct
from pathlib import Path

import pytest
from machine import FULL_WIRE, Boot, Device, Star
from switch_port import (
    BY_DELAY,
    DWRR,
    ECN,
    KEEP_NON_ECT,
    STORM_FORWARD,
    WRR,
    Account,
    Group,
    Limiter,
    Pacer,
    Pfc,
    Port,
    Queue,
    Roce,
    Sharing,
    Trimming,
    Wred,
    attributes,
)

from fabriclab.compile.switch_port import compile_switch_port
from fabriclab.formats.plan import node as nodes
from fabriclab.formats.plan import switch as plan

GOLDEN = Path(__file__).parents[1] / "golden/switch_port.txt"
GIGABIT = 1_000_000_000
PARTS = 2**32 - 1
EIGHT = tuple(range(8))
BACKWARDS = EIGHT[::-1]
DSCP_TO_TC = tuple(dscp % 8 for dscp in range(64))
TCA_OPTIONS = 2
HANDLE = 0x10000
DSCP_TO_TC_MAP, TC_TO_QUEUE_MAP, TC_TO_GROUP_MAP, PRIORITY_TO_QUEUE_MAP, PRIORITY_TO_GROUP_MAP = range(7, 12)


def parts(percent: float) -> int:
    """What PID 1 makes of a percentage with at most four decimals: of 2^32 - 1, the half up."""
    return (round(percent * 10_000) * PARTS + 500_000) // 1_000_000


def wred(low: int, high: int, percent: float = 100, weight_log: int = 0, flags: int = 0) -> Wred:
    return Wred(low, high, parts(percent) / PARTS, weight_log, flags)


def numbers(entries: tuple[int, ...]) -> str:
    return ",".join(map(str, entries))


MAPS = {
    DSCP_TO_TC_MAP: DSCP_TO_TC,
    TC_TO_QUEUE_MAP: BACKWARDS,
    TC_TO_GROUP_MAP: EIGHT,
    PRIORITY_TO_QUEUE_MAP: BACKWARDS,
    PRIORITY_TO_GROUP_MAP: (7,) * 8,
}
PORTS = {
    "rate 1gbit": Port(),
    "rate 2500000000bit delay 25000ns overhead 20 mpu 64 loss 0.1000%": Port(2_500_000_000, 25_000, 20, 64, parts(0.1)),
    "rate 1000000000bit loss 10.0000%": Port(loss=parts(10)),
    "delay 0ns loss 100%": Port(None, 0, loss=PARTS),
    "rate 1000000000bit cell 256 memory 0 32000000 memory 3 4000000 200000": Port(
        cell=256, pools={0: (32_000_000, 0), 3: (4_000_000, 200_000)}
    ),
    "rate 1000000000bit cell 208 slices 4 memory 0 8000000 slice 2 1": Port(
        cell=208, slices=4, pools={0: (8_000_000, 0)}, slice=(2, 1)
    ),
    "rate 1000000000bit memory 1 9007199254740991": Port(pools={1: (2**53 - 1, 0)}),
    f"rate 1000000000bit dscp_to_tc {numbers(DSCP_TO_TC)} tc_to_queue {numbers(BACKWARDS)} tc_to_group {numbers(EIGHT)}"
    f" priority_to_queue {numbers(BACKWARDS)} priority_to_group 7,7,7,7,7,7,7,7": Port(maps=MAPS),
    "rate 1000000000bit pfc 3": Port(pfc=Pfc(1 << 3)),
    "rate 1000000000bit pfc 3,4 quanta 1000 reaction 500ns watchdog 200000000ns 300000000ns forward": Port(
        pfc=Pfc(1 << 3 | 1 << 4, 1_000, 500, 200_000_000, 300_000_000, STORM_FORWARD)
    ),
    "rate 1000000000bit pfc 7,0 watchdog 1ms 2ms drop": Port(
        pfc=Pfc(1 << 7 | 1, detection_ns=1_000_000, restoration_ns=2_000_000)
    ),
    "rate 1000000000bit pacer 3000 interval 64000ns idle 10000000ns eta 12.5000% beta 16 probability 12.5000%": Port(
        pacer=Pacer()
    ),
    "rate 1000000000bit qcn 5000000bit 5000000bit 50000000bit 150000 15000000ns": Port(limiter=Limiter()),
    "rate 1000000000bit roce 1024 0 1 7 4000000ns 50000ns 26 26 48": Port(roce=Roce()),
    "rate 1000000000bit roce 4096 500 16 3 1000000ns 4000ns 24 8 40 control dcqcn gain,16777216,alpha_time,"
    "60000ns": Port(
        roce=Roce(4096, 500, 16, 3, 1_000_000, 4_000, 24, 8, 40, "dcqcn", "gain 16777216 alpha_time 60000ns")
    ),
    "rate 1000000000bit roce 1024 4096 1 7 4000000ns 50000ns 26 26 48 selective": Port(
        roce=Roce(window=4_096, selective=True)
    ),
    "rate 1000000000bit roce 1024 4096 1 7 4000000ns 50000ns 26 26 48 selective reorder 64": Port(
        roce=Roce(window=4_096, selective=True, reorder=64)
    ),
    "rate 1000000000bit roce 1024 0 1 7 4000000ns 50000ns 26 26 48 reads 4 control timely -": Port(
        roce=Roce(reads=4, control="timely")
    ),
    "rate 1000000000bit telemetry roce 1024 0 1 7 4000000ns 50000ns 26 26 48 control hpcc -": Port(
        roce=Roce(control="hpcc"), telemetry=True
    ),
    "rate 1000000000bit roce 1024 0 1 7 4000000ns 50000ns 26 26 48 selective trimmed control timely -": Port(
        roce=Roce(selective=True, trimmed=True, control="timely")
    ),
    "rate 1000000000bit trimming 256 48 dynamic queue 3 limit 64000 trim": Port(
        trimming=Trimming(256, 48), queues=[Queue(3, Account(limit=64_000), trims=True)]
    ),
    "rate 1000000000bit trimming 128 10 6": Port(trimming=Trimming(128, 10, 6)),
    "rate 1000000000bit trimming none": Port(trimming=Trimming(0, 0, 0)),
    "rate 1000000000bit queue 1 qcn 26000 150000 2": Port(queues=[Queue(1, qcn=(26_000, 150_000, 2))]),
    "rate 1000000000bit memory 0 900000 queue 1 pool 0 alpha -1 strict sharing abm 80000ns unscheduled 6 1,7 queue 2 "
    "pool 0 alpha 0 strict sharing abm 1000000ns congested 28000": Port(
        pools={0: (900_000, 0)},
        queues=[
            Queue(1, Account(0, alpha_log=-1), sharing=Sharing("abm", 80_000, 6, 0x82)),
            Queue(2, Account(0, alpha_log=0), sharing=Sharing("abm", 1_000_000, congested=28_000)),
        ],
    ),
    "rate 1000000000bit queue 0 queue 7 strict": Port(queues=[Queue(0), Queue(7)]),
    "rate 1000000000bit queue 0 limit 64000": Port(queues=[Queue(0, Account(limit=64_000))]),
    "rate 1000000000bit cell 1 memory 0 1000000 queue 1 pool 0 reserved 3000 alpha -8 dwrr 1538 queue 2 pool 0 alpha "
    "7 dwrr 3076": Port(
        cell=1,
        pools={0: (1_000_000, 0)},
        queues=[
            Queue(1, Account(0, 3_000, alpha_log=-8), DWRR, 1538),
            Queue(2, Account(0, alpha_log=7), DWRR, 3076),
        ],
    ),
    "rate 1000000000bit queue 5 wrr 3 cir 100000000bit 3028 pir 200000000bit 6056": Port(
        queues=[Queue(5, scheduling=WRR, quantum=3, cir=(100_000_000, 3_028), pir=(200_000_000, 6_056))]
    ),
    "rate 1000000000bit queue 3 wred 30000 30000 100.0000% ecn queue 4 wred 1000 90000 5.0000% weight 9 ecn "
    "keep_non_ect": Port(
        queues=[
            Queue(3, wred=wred(30_000, 30_000, flags=ECN)),
            Queue(4, wred=wred(1_000, 90_000, 5, 9, ECN | KEEP_NON_ECT)),
        ]
    ),
    "rate 1000000000bit queue 6 wred 50000ns 100000ns 0.0001%": Port(
        queues=[Queue(6, wred=wred(50_000, 100_000, 0.0001, flags=BY_DELAY))]
    ),
    "rate 1000000000bit queue 2 phantom 950000000bit 3000 voq_limit 12000000 event 100000": Port(
        queues=[Queue(2, phantom=(950_000_000, 3_000), voq_limit=12_000_000, event=100_000)]
    ),
    "rate 1000000000bit memory 2 500000 group 0 group 3 pool 2 reserved 1518 alpha 0 lossless 20000 18000 2000 group "
    "4 limit 9000": Port(
        pools={2: (500_000, 0)},
        groups=[
            Group(0),
            Group(3, Account(2, 1_518, alpha_log=0), (20_000, 18_000, 2_000)),
            Group(4, Account(limit=9_000)),
        ],
    ),
}
"""Words, and the port that they describe."""

CHANGED = ["rate 1000000000bit delay 5000ns queue 0 limit 9000", "delay 0ns loss 100%"]
"""A port's words, and those of its change, which leave the rest as it is."""


def test_the_golden_bytes_are_those_of_the_header() -> None:
    text = "".join(f"{words}\n{port.pack().hex()}\n" for words, port in PORTS.items())
    if os.environ.get("FABRICLAB_ACCEPT"):
        GOLDEN.write_text(text)
    assert GOLDEN.read_text() == text


def options(run: Path, node: str) -> dict[int, bytes]:
    """What the kernel says that a host's port, its queues and groups are, by handle."""
    messages = [bytes.fromhex(line) for line in (run / "collect" / f"{node}-port").read_text().splitlines()]
    return {
        struct.unpack_from("=I", message, 24)[0]: dict(attributes(message[36:]))[TCA_OPTIONS] for message in messages
    }


def compiled() -> tuple[str, Port]:
    """A port with everything, as the plan has it: the line that the compiler writes, and the same in netlink."""
    pools = (
        plan.Pool(name="lossy", size_bytes=2_000_000),
        plan.Pool(name="lossless", size_bytes=1_000_000, headroom_bytes=50_000),
    )
    queues = (
        plan.SwitchQueue(
            index=1,
            account=plan.Account(pool="lossy", reserved_bytes=2_000, alpha_log=-2),
            scheduler=plan.Scheduler(kind="dwrr", weight=3),
            event_bytes=50_000,
            sharing=plan.Sharing(
                policy="abm",
                interval_ns=80_000,
                congested_bytes=28_000,
                unscheduled_alpha_log=6,
                unscheduled_classes=(1,),
            ),
        ),
        plan.SwitchQueue(
            index=3,
            account=plan.Account(pool="lossless"),
            wred=plan.Wred(unit="ns", min=50_000, max=90_000, probability_ppm=123_456, weight_log=2, non_ect="queue"),
            phantom=plan.Phantom(rate_bps=950_000_000, threshold_bytes=3_000),
            voq_limit_bytes=200_000,
        ),
        plan.SwitchQueue(
            index=7, account=plan.Account(limit_bytes=9_000), scheduler=plan.Scheduler(cir_bps=10**8, cbs_bytes=3_000)
        ),
    )
    group = plan.PriorityGroup(
        index=3,
        account=plan.Account(pool="lossless", alpha_log=0),
        lossless=plan.Lossless(headroom_bytes=20_000, xon_bytes=9_000),
    )
    pfc = plan.Pfc(
        priorities=(3,), quanta=1_000, watchdog=plan.Watchdog(detection_ns=200_000_000, restoration_ns=300_000_000)
    )
    maps, where = plan.QosMaps(tc_to_queue=BACKWARDS), plan.Slice(into=0, out=1)
    buffer = plan.SwitchPort(queues=queues, groups=(group,), maps=maps, pfc=pfc, slice=where)
    port = nodes.Port.model_construct(interface="DEV", rate_bps=GIGABIT, delay_ns=5_000, mtu=1_500, switch_port=buffer)
    node = nodes.Node.model_construct(
        ports=(port,), switch=plan.Switch(profile="all", cell_bytes=1, slices=2, pools=pools)
    )
    return compile_switch_port(node, port, buffer), Port(
        delay_ns=5_000,
        maps={TC_TO_QUEUE_MAP: BACKWARDS},
        pfc=Pfc(1 << 3, 1_000, 0, 200_000_000, 300_000_000),
        cell=1,
        slices=2,
        slice=(0, 1),
        pools={0: (2_000_000, 0), 1: (1_000_000, 50_000)},
        queues=[
            Queue(
                *(1, Account(0, 2_000, alpha_log=-2), DWRR, FULL_WIRE),
                event=50_000,
                sharing=Sharing("abm", 80_000, 6, 1 << 1, 28_000),
            ),
            Queue(
                3,
                Account(1),
                wred=wred(50_000, 90_000, 12.3456, 2, ECN | KEEP_NON_ECT | BY_DELAY),
                phantom=(950_000_000, 3_000),
                voq_limit=200_000,
            ),
            Queue(7, Account(limit=9_000), cir=(10**8, 3_000)),
        ],
        groups=[Group(3, Account(1, alpha_log=0), (20_000, 9_000, 0))],
    )


@pytest.mark.vm
def test_in_the_machine_words_make_the_port_that_bytes_make(boot: Boot) -> None:
    cases = {words: ([f"add {words}"], port) for words, port in PORTS.items() if port.rate_bps}
    cases["change"] = (
        [f"add {CHANGED[0]}", f"change {CHANGED[1]}"],
        Port(delay_ns=0, loss=PARTS, queues=[Queue(0, Account(limit=9_000))]),
    )
    compiled_line, compiled_port = compiled()
    cases["compiled"] = ([compiled_line.replace("qdisc add dev DEV root handle 1: switch_port", "add")], compiled_port)
    by_words = [
        [line.replace(" ", " dev DEV root handle 1: switch_port ", 1) for line in lines] for lines, _ in cases.values()
    ]
    hosts: list[Device] = [
        *([f"qdisc {line}" for line in lines] for lines in by_words),
        *(port for _, port in cases.values()),
    ]
    collect = [(f"h{n}", (f"h{n}-port", "/job/port-tool", "show", "eth1")) for n in range(1, len(hosts) + 1)]
    run = boot.run(Star(hosts, [Port()] * len(hosts)), [], collect=collect)
    for number, words in enumerate(cases, start=1):
        ours = options(run, f"h{number}")
        assert ours[HANDLE]
        assert ours == options(run, f"h{number + len(cases)}"), words
