"""`replay pause-storm` in the machine: what a broken NIC's pauses do to the port that it hangs on."""

from __future__ import annotations

import pytest
from machine import FULL_WIRE, Boot, Star, datagrams, receive, send, shown
from switch_port import STORM_DROP, Pfc, Port, Shown

pytestmark = pytest.mark.vm
PRIORITY = 3
AT_NS, UNTIL_NS, INTERVAL_NS = 20_000_000, 120_000_000, 10_000_000
FRAMES = (UNTIL_NS - AT_NS) // INTERVAL_NS

STORM = (
    f"/tools/replay pause-storm --interface eth1 --priorities {PRIORITY}"
    f" --at-ns {AT_NS} --until-ns {UNTIL_NS} --interval-ns {INTERVAL_NS} &"
)
SENT_NS, FOLLOWED_NS = 50_000_000, 200_000_000
"""When datagrams of the paused class and of another leave for the storming host, and until when it listens."""

COUNT = 5
FRAME_NS = FULL_WIRE * 8


def run_storm(boot: Boot, pfc: Pfc) -> tuple[Shown, list[int], list[int]]:
    """The port that the storm hits, and when the datagrams of the paused class and of another arrived."""
    star = Star([Port(), Port()], [Port(pfc=pfc), Port()])
    paused = send("10.1.0.2", count=COUNT, tc=PRIORITY, start_ns=SENT_NS)
    other = send("10.1.0.2", count=COUNT, tc=PRIORITY + 1, port=7001, start_ns=SENT_NS)
    listeners = [("h1", [receive(FOLLOWED_NS)]), ("h1", [receive(FOLLOWED_NS, 7001)])]
    run = boot.run(star, [*listeners, ("h1", [STORM]), ("h2", [paused, other])])
    arrived = [[datagram.time_ns for datagram in datagrams(boot, run, log)] for log in ("h1-0", "h1-1")]
    return shown(run, "s1", "eth1"), arrived[0], arrived[1]


def test_a_storm_stops_its_priority_until_it_is_over(boot: Boot) -> None:
    port, paused, other = run_storm(boot, Pfc(1 << PRIORITY))
    assert port.port["pauses_received"] == FRAMES + 1
    assert (port.queues[PRIORITY]["pauses_received"], port.queues[PRIORITY]["paused_ns"]) == (1, UNTIL_NS - AT_NS)
    assert paused == [UNTIL_NS + number * FRAME_NS for number in range(1, COUNT + 1)]
    assert len(other) == COUNT
    assert max(other) < SENT_NS + 1_000_000


def test_the_watchdog_drops_what_the_storm_holds(boot: Boot) -> None:
    port, paused, other = run_storm(
        boot, Pfc(1 << PRIORITY, detection_ns=INTERVAL_NS, restoration_ns=INTERVAL_NS, storm_action=STORM_DROP)
    )
    queue = port.queues[PRIORITY]
    assert (queue["storms"], queue["drops"]["storm"]) == (1, COUNT)
    assert (paused, len(other)) == ([], COUNT)
