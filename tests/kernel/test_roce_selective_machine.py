"""Loss in the machine: what selective repeat of a RoCE NIC sends again, and what that costs."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from machine import Boot, Star, shown
from switch_port import Port, Roce
from test_roce_machine import DELAY_NS, MTU, RATE_BPS, SENT, completions, exchange, wire_bytes

pytestmark = pytest.mark.vm
PARTS = 2**32
COUNT = 20_000
WIRE_NS = wire_bytes(MTU) * 8 * 10**9 / RATE_BPS


def lossy(boot: Boot, loss: float, *, messages: int = 1, back: float = 0, **others: Any) -> tuple[Path, Star]:
    """Send COUNT packets in so many messages over a line that loses data, and acknowledgements on the way `back`."""
    nic = Port(RATE_BPS, roce=replace(Roce(ack_every=16, timeout_ns=1_000_000), **others))
    into = [Port(RATE_BPS, loss=round(part * PARTS)) for part in (back, loss)]
    star = Star([nic, nic], into, cable_ns=DELAY_NS)
    there = exchange(1, "10.2.0.2", 2, messages, COUNT // messages * MTU).replace("PAIR", "one")
    back_to = exchange(2, "10.1.0.2", 1, 0, 0).replace("PAIR", "two")
    return boot.run(star, [("h1", [there]), ("h2", [back_to])]), star


@pytest.mark.parametrize("loss", [0.001, 0.01])
def test_selective_repeat_sends_again_what_was_lost_and_no_more(boot: Boot, loss: float) -> None:
    run, _ = lossy(boot, loss, messages=200, selective=True)
    sender, lost = shown(run, "h1", "eth1").port["roce"], shown(run, "s1", "eth2").port["lost"]
    assert 0.7 * loss * COUNT < lost < 1.3 * loss * COUNT
    # A packet that is lost again is found by the timeout, with others that were sent again and have not arrived yet.
    assert lost <= sender["sent_again"] <= lost + 2 * sender["timeouts"]
    received = completions(run, "two")
    assert [one.number for one in received] == list(range(200))
    assert {one.bytes for one in received} == {COUNT // 200 * MTU}
    assert shown(run, "h2", "eth1").port["roce"]["received_packets"] == COUNT


def test_selective_repeat_costs_the_packets_that_are_lost(boot: Boot) -> None:
    run, _ = lossy(boot, 0.01, selective=True)
    sender, (received,) = shown(run, "h1", "eth1").port["roce"], completions(run, "two")
    # New packets fill the line while one that was lost again waits for its timeout.
    whole = (COUNT + sender["sent_again"]) * WIRE_NS
    assert received.time_ns == pytest.approx(whole, rel=0.005)


def test_acknowledgements_that_are_lost_are_made_up_by_later_ones(boot: Boot) -> None:
    run, _ = lossy(boot, 0.002, messages=100, back=0.01, selective=True)
    received, sent = completions(run, "two"), completions(run, "one")
    assert [one.number for one in received] == list(range(100))
    assert [one.number for one in sent if one.kind == SENT] == list(range(100))
    assert {one.status for one in sent} == {0}


def test_a_window_beyond_what_is_remembered_is_refused(boot: Boot) -> None:
    with pytest.raises(AssertionError) as told:
        lossy(boot, 0, selective=True, window=5_000)
    assert "a window of 5000 packets is above 4096" in str(told.value)


def test_with_a_distance_what_is_lost_is_still_found(boot: Boot) -> None:
    """A packet is missing when one that is more than 64 packets behind it has come, or after the timeout."""
    run, _ = lossy(boot, 0.01, selective=True, reorder=64)
    sender, lost = shown(run, "h1", "eth1").port["roce"], shown(run, "s1", "eth2").port["lost"]
    assert lost <= sender["sent_again"] <= lost + 65 * sender["timeouts"]
    assert shown(run, "h2", "eth1").port["roce"]["received_packets"] == COUNT


@pytest.mark.parametrize("others", [{"reorder": 64}, {"selective": True, "reorder": 4_096}])
def test_a_distance_that_cannot_be_is_refused(boot: Boot, others: dict[str, Any]) -> None:
    with pytest.raises(AssertionError) as told:
        lossy(boot, 0, **others)
    assert "with selective repeat, packets may be overtaken by 4095" in str(told.value)
