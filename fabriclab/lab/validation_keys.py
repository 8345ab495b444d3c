"""The keys of `validation`: what `fabriclab validate` compares a lab with, sessions and routes of daemons among it."""

from __future__ import annotations

from typing import Literal, get_args

from fabriclab.keys.mappings import Key, Keys, Named
from fabriclab.keys.quantities import Flag, Number, Quantity
from fabriclab.keys.values import Several, Text, Word
from fabriclab.lab.network.keys import MTU
from fabriclab.lab.switch.keys import DSCP_PATTERN, EIGHTH
from fabriclab.units import DURATION, SIZE

SessionProtocol = Literal["bgp", "ospf", "ospf6", "isis"]
RouteTable = Literal["bgp", "ospf", "ospf6", "isis", "rib", "kernel"]
SESSION_PROTOCOL: Word[SessionProtocol] = Word(get_args(SessionProtocol))
ROUTE_TABLE: Word[RouteTable] = Word(get_args(RouteTable))
FAMILY: Word[str] = Word(("ipv4", "ipv6", "evpn", "vpnv4", "vpnv6"))
LEVELS = ("1", "2")
"""Of IS-IS."""
THRESHOLD = Quantity(SIZE, 1)
_LARGEST_NUMBER = 2**32 - 1
_S = 10**9
_NODES = Several(Text("a node"), "nodes, a list or one")
_ANY = "any"
_NUMBER = Number(0, _LARGEST_NUMBER)
SESSION = Keys(
    "validation-session",
    "How a session should be",
    (
        Key("on", _NODES, "Who is asked.", required=True),
        Key("protocol", SESSION_PROTOCOL, "Whose session.", required=True),
        Key(
            "neighbor",
            Text("as the daemon calls it"),
            "With whom: an address or an interface of BGP's, a router ID of OSPF's, a host's name of IS-IS'.",
            required=True,
        ),
        Key(
            "state",
            Several(Text("a state"), "states as the daemon calls them, a list or one, or `absent`"),
            "How it should be; one of a list.",
            unset="`Established`, `Full`, `Up`",
        ),
        Key("family", FAMILY, "BGP: the address family that it is for.", unset=_ANY),
        Key(
            "negotiated",
            Flag(),
            "BGP: whether a session over which its family is not exchanged counts as absent.",
            default=False,
        ),
        Key("vrf", Text("a VRF"), "BGP and OSPF: of which VRF.", unset=_ANY),
        Key("level", Word[str]((*LEVELS, "1-2")), "IS-IS: of which level.", unset=_ANY),
        Key("area", Text("an area"), "IS-IS: of which area, such as 49.0001.", unset=_ANY),
    ),
)
SESSIONS = Key(
    "sessions",
    Named(
        SESSION,
        "names to sessions",
    ),
    "As configured: how routing daemons' sessions should be.",
    unset="all that there are are up",
)
ROUTE = Keys(
    "validation-route",
    "Whether a table has a route",
    (
        Key("on", _NODES, "Who is asked.", required=True),
        Key(
            "table",
            ROUTE_TABLE,
            "Whose table: a daemon's, FRR's own (`rib`), or the kernel's.",
            required=True,
        ),
        Key("prefix", Text("a prefix"), "Where the route leads.", required=True),
        Key("present", Flag(), "Whether it should be there; `false`: it should not.", default=True),
        Key("vrf", Text("a VRF"), "All but the kernel's: of which VRF.", unset="the default one"),
        Key("level", Word[str](LEVELS), "IS-IS: of which level.", default="2"),
        Key("protocol", Text("a protocol"), "FRR's: who it is from.", unset=_ANY),
        Key("cost", _NUMBER, "OSPF, IS-IS and FRR's: its cost or metric.", unset=_ANY),
        Key("type", Text("a type"), "OSPF: its type, as the daemon calls it (`N E2`, `Inter-Area`).", unset=_ANY),
        Key("next_hop", Text("an address"), "BGP: a path by this next hop.", unset=_ANY),
        Key("as_path", Text("AS numbers"), "BGP: a path of just this AS path, such as `65001 65002`.", unset=_ANY),
        Key(
            "as_numbers",
            Several(Text("an AS number"), "AS numbers, a list or one"),
            "BGP: a path over all of these.",
            unset=_ANY,
        ),
        Key("local_preference", _NUMBER, "BGP: a path of this local preference.", unset=_ANY),
        Key("med", _NUMBER, "BGP: a path of this multi-exit discriminator.", unset=_ANY),
        Key("best", Flag(), "BGP: whether that path is the best one.", unset=_ANY),
        Key("peer", Text("a router ID"), "BGP: a path from this neighbour.", unset=_ANY),
        Key("cluster", Text("a cluster ID"), "BGP: a path reflected there.", unset=_ANY),
        Key("community", Text("a community"), "BGP: a path with this community.", unset=_ANY),
        Key("large_community", Text("a large community"), "BGP: a path with it.", unset=_ANY),
        Key("extended_community", Text("an extended community"), "BGP: a path with it.", unset=_ANY),
    ),
)
ROUTES = Key(
    "routes",
    Named(
        ROUTE,
        "names to routes",
    ),
    "As configured: which routes tables should have, and which not.",
    unset="not looked at",
)

_EVERY_DSCP = "a mapping of DSCPs, ranges and names of them"
_DSCP_WRONG = "A DSCP is wanted here: a number from 0 to 63, a range, or a name such as ef."
FAILURE_ACTION = Key(
    "action",
    Word[str](("down", "blackhole")),
    "Whether both ends see that a link fails, or neither.",
    default="down",
)
FAILURE_RECOVERY = Key(
    "recovery",
    Quantity(DURATION, 0, 3600 * _S),
    "How long after a failure everybody must be reached again.",
    default=_S,
)
FAILURE = Keys(
    "validation-failure",
    "How links fail",
    (
        FAILURE_ACTION,
        FAILURE_RECOVERY,
    ),
)
PING_FAMILY = Key(
    "ip",
    Number(4, 6, "4 or 6, a version of IP", why="versions of IP"),
    "By which version of IP.",
    unset="whichever the name leads to",
)
PING_ANSWERS = Key("answers", Flag(), "Whether there is to be an answer; `false`: none.", default=True)
PING = Keys(
    "validation-ping",
    "Who asks whom by ping",
    (
        Key("from", Several(Text("a node"), "nodes, a list or one"), "Who asks.", required=True),
        Key("to", Text("a node, or an address"), "Who is asked.", required=True),
        PING_FAMILY,
        Key(
            "source",
            Text("an address of who asks"),
            "The address to ask from.",
            unset="whichever the route gives",
        ),
        PING_ANSWERS,
    ),
)
VALIDATION = Keys(
    "validation",
    "What fabriclab validate compares with",
    (
        Key(
            "queues",
            Named(EIGHTH, f"{_EVERY_DSCP} to queues", DSCP_PATTERN, _DSCP_WRONG),
            "The queue that a DSCP belongs in, on every switch.",
            unset="what the switches' maps say",
        ),
        Key(
            "lossless",
            Several(Text("a DSCP"), "DSCPs, a list or one, or `none`", least=0),
            "The DSCPs that lose nothing.",
            unset="those of lossless groups with PFC",
            examples=(("cs3", "cs4"),),
        ),
        Key(
            "thresholds",
            Named(THRESHOLD, f"{_EVERY_DSCP} to sizes", DSCP_PATTERN, _DSCP_WRONG),
            "The length of a DSCP's queue at which marks begin.",
            unset="WRED's minimum and maximum",
        ),
        Key("mtu", MTU, "The largest IP packet between hosts.", unset="the hosts' own"),
        Key(
            "failure",
            FAILURE,
            "How links fail, and how soon that must be mended.",
        ),
        Key(
            "pings",
            Named(
                PING,
                "names to pings",
            ),
            "As configured: who must reach whom, and who must not.",
            unset="every host every other one; without hosts every router",
        ),
        SESSIONS,
        ROUTES,
    ),
)
