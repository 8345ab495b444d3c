"""The keys of links; of VLANs and port channels below a switch; and which families of addresses there are."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fabriclab.formats import ranges
from fabriclab.formats.family import Family
from fabriclab.keys.mappings import Key, Keys, Named
from fabriclab.keys.quantities import Number, Quantity
from fabriclab.keys.values import Several, Text, Word
from fabriclab.units import DURATION, RATE

ADDRESSES: Mapping[str, tuple[Family, ...]] = {"ipv4": (4,), "ipv6": (6,), "dual": (4, 6)}
ADDRESSES_WORD: Word[str] = Word(tuple(ADDRESSES))
LARGEST_VLAN, LARGEST_CHANNEL = ranges.VLAN.most, 9999
"""IEEE 802.1Q, 9.6; SONiC's bound, with which a name is as long as Linux has room for."""
RATE_OF_A_LINE = Quantity(RATE, *ranges.LINE_RATE)
"""Up to the fastest Ethernet there is a standard for (IEEE 802.3dj, 1.6 Tbps)."""
DELAY = Quantity(DURATION, *ranges.DELAY)
"""Up to one second: more is not a data centre, and a mistyped unit far more often."""
MTU = Number(*ranges.MTU, "a whole number of bytes", why="bytes of an IP packet")
"""From what every IPv4 host must take (RFC 791) to the most that a veth takes."""

CONTAINERLAB_MTU_BYTES = 9500
"""What Containerlab gives links that say none (its constant `DefaultLinkMTU`)."""
DEFAULT_DELAY_NS, DEFAULT_MTU_BYTES = 0, 1500
"""What holds where neither a lab nor its topology says more: Ethernet's MTU (RFC 894). Containerlab's own default is
9500; write `mtu` in the topology to have the same in both engines."""

LINK_RATE = Key(
    "rate", RATE_OF_A_LINE, "The line rate of every link.", unset="as the topology says", examples=("1 Gbps",)
)
LINK_DELAY = Key(
    "delay", DELAY, "The one-way propagation delay of every link.", unset="as the topology says", examples=("25 us",)
)
LINK_MTU = Key("mtu", MTU, "The largest IP packet of every link.", unset="as the topology says", examples=(9000,))
LINKS = Keys(
    "links",
    "Settings for all links; they override the topology",
    (
        LINK_RATE,
        LINK_DELAY,
        LINK_MTU,
    ),
)

_ADDRESS = r"[0-9]{1,3}(?:\.[0-9]{1,3}){3}"
_INTERFACE = Text(
    "an IPv4 address with prefix length",
    rf"\s*{_ADDRESS}/[0-9.]+\s*",
    "Write an IPv4 address with its prefix length, such as 192.168.0.1/24.",
)
_MEMBERS = Several(Text("a port"), "ports and ranges of ports, a list or one")
CHANNEL = Keys(
    "port-channel",
    "Parallel links that are used as one",
    (
        Key(
            "members",
            _MEMBERS,
            "Ports of the switch whose links lead to one neighbour.",
            required=True,
            examples=(("eth5", "eth6"), "eth3..eth4"),
        ),
        Key(
            "ipv4",
            _INTERFACE,
            "The switch's address, in place of those of the members' links.",
            unset="a /31, as a link; none where it is a VLAN's member",
            examples=("10.1.0.0/31",),
        ),
    ),
)
VLAN = Keys(
    "vlan",
    "Hosts in one network behind ports of one switch",
    (
        Key(
            "members",
            _MEMBERS,
            "Ports and port channels of the switch, with a host behind each.",
            required=True,
            examples=(("eth1", "eth2", "PortChannel2"),),
        ),
        Key(
            "ipv4",
            _INTERFACE,
            "The switch's address in the VLAN.",
            unset="the first /24 of 192.168.0.0/16 that is free",
            examples=("192.168.0.1/24",),
        ),
        Key(
            "hosts",
            Named(
                Text("an IPv4 address", rf"\s*{_ADDRESS}\s*", "Write an IPv4 address."),
                "a mapping of hosts to IPv4 addresses",
            ),
            "Addresses of hosts.",
            unset="the first ones that are free, in the order of the links",
        ),
    ),
)
LAYER2: tuple[Key[Any], ...] = (
    Key(
        "vlans",
        Named(
            VLAN,
            f"a mapping of names from `Vlan1` to `Vlan{LARGEST_VLAN}`",
            "Vlan[1-9][0-9]{0,3}",
            f"A VLAN is called Vlan1 to Vlan{LARGEST_VLAN}.",
        ),
        "Networks of hosts behind ports of this switch. They cannot be set or varied.",
        settable=False,
    ),
    Key(
        "port_channels",
        Named(
            CHANNEL,
            f"a mapping of names from `PortChannel0` to `PortChannel{LARGEST_CHANNEL}`",
            "PortChannel[0-9]{1,4}",
            f"A port channel is called PortChannel0 to PortChannel{LARGEST_CHANNEL}.",
        ),
        "Parallel links to one neighbour that are used as one. They cannot be set or varied.",
        settable=False,
    ),
)
