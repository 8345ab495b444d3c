"""What is said of pacers and QCN where traffic goes over IPv6, of which they know nothing."""

from __future__ import annotations

import pytest
from repository import LABS

from fabriclab.api.look import plan


def said(lab: str, **settings: str) -> list[str]:
    made = plan(LABS / lab, set=settings)
    return [
        warning
        for warning in made.warnings
        if "only flows over IPv4" in warning or "only sources of IPv4 flows" in warning
    ]


def test_a_pacer_past_which_traffic_goes_is_named() -> None:
    (warning,) = said("hull", addresses="ipv6", variant="hull")
    lines = (LABS / "hull" / "experiment.yml").read_text().splitlines()
    named = warning.partition(": ")[0].removeprefix("experiment.yml:")
    assert "nic" in lines[int(named) - 1] and "nic.pacer of " in warning
    assert warning.endswith("over IPv6; write ip: 4 for that traffic, or addresses: ipv4")


def test_both_ends_of_qcn_are_named() -> None:
    cards, point = said("qcn", addresses="ipv6", variant="qcn")
    assert cards.startswith("experiment.yml:") and "nic.qcn of " in cards and " slows only flows over IPv4" in cards
    assert point.startswith("queues.") and ".qcn of s1 reaches only sources of IPv4 flows" in point


@pytest.mark.parametrize("lab", ["hull", "qcn"])
@pytest.mark.parametrize("addresses", ["ipv4", "dual"])
def test_over_ipv4_nothing_is_said(lab: str, addresses: str) -> None:
    assert said(lab, addresses=addresses) == []


def test_other_labs_may_use_ipv6() -> None:
    assert said("incast", addresses="ipv6") == []
