"""Checks of PFC: each rule with a switch that breaks it, what it says, and that what is right is found right."""

from __future__ import annotations

import pytest
from switch_by_hand import GBPS, LOSSLESS, OWN, TWO_CLASSES, check, group, lossless_port, queue, switch

from fabriclab.formats.plan.switch import Account, Pfc, Pool, Switch, SwitchPort
from fabriclab.resolve.switch.headroom import Line


def test_a_pfc_priority_of_a_lossy_group() -> None:
    port = lossless_port(group(), priorities=(3, 4))
    line = Line(GBPS, 5_000, GBPS, 5_000, 1500, honoured=(3, 4))
    finding = check(switch(), port, line=line)["pfc-lossy-group"]
    assert (finding.field, finding.value, finding.bound) == (
        "pfc.priorities",
        "4",
        "in priority group 4, which is lossy",
    )


def test_a_lossless_group_that_pauses_nobody() -> None:
    assert list(check(switch(), lossless_port(group(), priorities=()))) == ["lossless-without-pfc"]


def test_a_neighbour_that_does_not_stop() -> None:
    deaf = Line(GBPS, 5_000, GBPS, 5_000, 1500, honoured=(4,))
    assert list(check(switch(), lossless_port(group()), line=deaf)) == ["pause-ignored"]


@pytest.mark.parametrize(
    ("headroom", "found"),
    [
        (1_513, {"headroom-below-frame": "error"}),
        (3_027, {"headroom-below-need": "warning"}),
        (3_028, {"headroom-for-full-frames": "warning"}),
        (5_855, {}),
    ],
)
def test_headroom(headroom: int, found: dict[str, str]) -> None:
    """1 Gbps, 5 us: two full frames, 3,028 bytes, where nothing is sent against them; 5,855 whatever comes."""
    lossless = LOSSLESS.model_copy(update={"headroom_bytes": headroom})
    findings = check(switch(), lossless_port(group(lossless=lossless)))
    assert {rule: finding.severity for rule, finding in findings.items()} == found


@pytest.mark.parametrize(
    ("shared_bytes", "found"),
    [
        (3_027, "shared-headroom-too-small"),
        (3_028, "headroom-oversubscribed"),
        (79_999, "headroom-oversubscribed"),
        (80_000, None),
        (0, None),
    ],
)
def test_shared_headroom(shared_bytes: int, found: str | None) -> None:
    """Four groups of 20 KB each; 0: each has its own."""
    pools = Switch(profile="hand", pools=(Pool(name="shared", size_bytes=480_000, headroom_bytes=shared_bytes),))
    findings = check(pools, lossless_port(group()))
    assert list(findings) == ([found] if found else [])
    if found == "headroom-oversubscribed" and shared_bytes == 79_999:
        assert findings[found].consequence == "when more than 3 of them fill their headroom at once, frames are lost"


def test_xon_above_a_static_limit() -> None:
    static = Account(pool="shared", reserved_bytes=1_000, limit_bytes=10_000)
    above, at = (LOSSLESS.model_copy(update={"xon_bytes": xon}) for xon in (11_001, 11_000))
    assert check(switch(), lossless_port(group(static, above)))["xon-above-limit"].severity == "error"
    assert check(switch(), lossless_port(group(static, at))) == {}


def test_xon_above_what_a_dynamic_limit_ever_is() -> None:
    """Alpha 1 of 480 KB: 240 KB alone."""
    above, at = (LOSSLESS.model_copy(update={"xon_bytes": xon}) for xon in (240_001, 240_000))
    assert check(switch(), lossless_port(group(lossless=at))) == {}
    assert check(switch(), lossless_port(group(lossless=above)))["xon-above-limit"].severity == "warning"


def test_a_pause_that_stops_another_queue() -> None:
    maps = TWO_CLASSES.model_copy(update={"tc_to_queue": (0, 1, 2, 5, 4, 5, 6, 7)})
    port = SwitchPort(queues=(queue(), queue(5, OWN)), groups=(group(),), maps=maps, pfc=Pfc(priorities=(3,)))
    finding = check(switch(), port)["pause-stops-other-queue"]
    assert finding.bound == "mapped to queue 3, but frames of group 3 leave by queue 5"
    mended = maps.model_copy(update={"priority_to_queue": (0, 1, 2, 5, 4, 3, 6, 7)})
    assert check(switch(), port.model_copy(update={"maps": mended})) == {}


@pytest.mark.parametrize(
    ("account", "senders"),
    [
        (Account(limit_bytes=220_000), None),
        (Account(limit_bytes=100_000), 1),
        (Account(limit_bytes=179_999), 2),
        (Account(pool="out", alpha_log=3), None),
        (Account(pool="out", alpha_log=-2), 1),
    ],
)
def test_a_lossless_class_whose_queue_is_full_before_everybody_has_paused(
    account: Account, senders: int | None
) -> None:
    """100 KB and 20 KB of headroom from one port; from two 2 x (200 / 3 + 20) = 173.3 KB;
    from three 3 x (200 / 4 + 20) = 210 KB."""
    memory = Switch(
        profile="hand", pools=(Pool(name="shared", size_bytes=200_000), Pool(name="out", size_bytes=300_000))
    )
    found = check(memory, lossless_port(group(), account)).get("lossless-queue-drops")
    if senders is None:
        assert found is None
    else:
        assert found is not None and ("one port sends" if senders == 1 else "ports send") in found.bound
