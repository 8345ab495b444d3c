"""The keys of `validation`: what `fabriclab validate` compares a lab with, sessions and routes of daemons among it."""

from __future__ import annotations

from typing import Literal, get_args

from fabriclab.formats.family import FAMILIES, Family
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
COMMAND = Text("a command")
_NODES = Several(Text("a node"), "nodes, a list or one")
_ANY = "any"
Severity = Literal["error", "warning"]
SEVERITY = Key(
    "severity",
    Word[Severity](get_args(Severity)),
    "Whether the validation fails if this does not hold (`error`), or only says so (`warning`).",
    default="error",
)
_NUMBER = Number(0, _LARGEST_NUMBER)
SESSION = Keys(
    "validation-session",
    "The expected state of a session",
    (
        Key("on", _NODES, "The nodes whose daemons are asked.", required=True),
        Key("protocol", SESSION_PROTOCOL, "The protocol of the session.", required=True),
        Key(
            "neighbor",
            Text("as the daemon calls it"),
            "The neighbour: an address or an interface for BGP, a router ID for OSPF, a host name for IS-IS.",
            required=True,
        ),
        Key(
            "state",
            Several(Text("a state"), "states as the daemon calls them, a list or one, or `absent`"),
            "The expected state; one of a list is enough.",
            unset="`Established`, `Full`, `Up`",
        ),
        Key("family", FAMILY, "BGP: the address family of the session.", unset=_ANY),
        Key(
            "negotiated",
            Flag(),
            "BGP: whether a session over which its family is not exchanged counts as absent.",
            default=False,
        ),
        Key("vrf", Text("a VRF"), "BGP and OSPF: the VRF.", unset=_ANY),
        Key("level", Word[str]((*LEVELS, "1-2")), "IS-IS: the level.", unset=_ANY),
        Key("area", Text("an area"), "IS-IS: the area, such as 49.0001.", unset=_ANY),
        SEVERITY,
    ),
)
SESSIONS = Key(
    "sessions",
    Named(
        SESSION,
        "names to sessions",
    ),
    "As configured: the expected sessions of routing daemons.",
    unset="all sessions are up",
)
ROUTE = Keys(
    "validation-route",
    "Whether a table has a route",
    (
        Key("on", _NODES, "The nodes whose tables are checked.", required=True),
        Key(
            "table",
            ROUTE_TABLE,
            "The table: a daemon's, FRR's own (`rib`), or the kernel's.",
            required=True,
        ),
        Key("prefix", Text("a prefix"), "The prefix of the route.", required=True),
        Key("present", Flag(), "Whether the route should be in the table; `false`: it should not.", default=True),
        Key("vrf", Text("a VRF"), "All tables except the kernel's: the VRF.", unset="the default one"),
        Key("level", Word[str](LEVELS), "IS-IS: the level.", default="2"),
        Key("protocol", Text("a protocol"), "`rib`: the protocol that the route comes from.", unset=_ANY),
        Key("cost", _NUMBER, "OSPF, IS-IS and `rib`: the cost or metric of the route.", unset=_ANY),
        Key(
            "type",
            Text("a type"),
            "OSPF: the type of the route, as the daemon calls it (`N E2`, `Inter-Area`).",
            unset=_ANY,
        ),
        Key("next_hop", Text("an address"), "BGP: a path with this next hop.", unset=_ANY),
        Key("as_path", Text("AS numbers"), "BGP: a path with exactly this AS path, such as `65001 65002`.", unset=_ANY),
        Key(
            "as_numbers",
            Several(Text("an AS number"), "AS numbers, a list or one"),
            "BGP: a path through all of these AS numbers.",
            unset=_ANY,
        ),
        Key("local_preference", _NUMBER, "BGP: a path with this local preference.", unset=_ANY),
        Key("med", _NUMBER, "BGP: a path with this multi-exit discriminator.", unset=_ANY),
        Key("best", Flag(), "BGP: whether that path is the best one.", unset=_ANY),
        Key("peer", Text("a router ID"), "BGP: a path from this neighbour.", unset=_ANY),
        Key("cluster", Text("a cluster ID"), "BGP: a path that was reflected in this cluster.", unset=_ANY),
        Key("community", Text("a community"), "BGP: a path with this community.", unset=_ANY),
        Key("large_community", Text("a large community"), "BGP: a path with it.", unset=_ANY),
        Key("extended_community", Text("an extended community"), "BGP: a path with it.", unset=_ANY),
        SEVERITY,
    ),
)
ROUTES = Key(
    "routes",
    Named(
        ROUTE,
        "names to routes",
    ),
    "As configured: the routes that tables should have, and those that they should not have.",
    unset="not checked",
)

_EVERY_DSCP = "a mapping of DSCPs, ranges and names of them"
_DSCP_WRONG = "Write a DSCP: a number from 0 to 63, a range, or a name such as ef."
FAILURE_ACTION = Key(
    "action",
    Word[str](("down", "blackhole")),
    "Whether both ends of a link detect its failure, or neither.",
    default="down",
)
FAILURE_RECOVERY = Key(
    "recovery",
    Quantity(DURATION, 0, 3600 * _S),
    "The time after a failure within which every host must be reachable again.",
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
    Word[Family](tuple(map(str, FAMILIES)), meanings={str(family): family for family in FAMILIES}),
    "The version of IP.",
    unset="the version of the address that the name stands for",
)
PING_ANSWERS = Key("answers", Flag(), "Whether an answer is expected; `false`: there must be none.", default=True)
PING = Keys(
    "validation-ping",
    "Which node pings which",
    (
        Key("from", Several(Text("a node"), "nodes, a list or one"), "The nodes that send the ping.", required=True),
        Key("to", Text("a node, or an address"), "The destination of the ping.", required=True),
        PING_FAMILY,
        Key(
            "source",
            Text("an address of the node that sends the ping"),
            "The source address of the ping.",
            unset="the address that the route selects",
        ),
        PING_ANSWERS,
        SEVERITY,
    ),
)
PINGS = Key(
    "pings",
    Named(
        PING,
        "names to pings",
    ),
    "As configured: which nodes must reach each other, and which must not.",
    unset="every host reaches every other host; with fewer than two hosts, every router",
)
ANSWER = Keys(
    "validation-answer",
    "What a command must print",
    (
        Key("on", _NODES, "The nodes that run the command.", required=True),
        Key(
            "run",
            COMMAND,
            "The command, a line of the shell.",
            required=True,
            examples=("vtysh -c 'show mpls ldp neighbor json'",),
        ),
        Key(
            "holds",
            Text("a condition"),
            "A condition on what it prints, an expression of Jinja: `stdout` is the text, `result` the JSON value, and "
            "the keys of a JSON mapping are names.",
            required=True,
            examples=("neighbors[0].state == 'OPERATIONAL'", "'10.1.0.0/24' in stdout"),
        ),
        SEVERITY,
    ),
)
ANSWERS = Key(
    "answers",
    Named(ANSWER, "names to answers"),
    "As configured: commands, and what they must print.",
    unset="not asked",
)
STEP_WAIT = Key(
    "wait",
    Quantity(DURATION, 0, 600 * _S),
    "The time between the change and the checks.",
    default=5 * _S,
)
STEP = Keys(
    "validation-step",
    "A change of nodes, and what must hold after it",
    (
        Key("on", _NODES, "The nodes that run the command.", required=True),
        Key(
            "run",
            COMMAND,
            "What changes them, a line of the shell.",
            required=True,
            examples=("ip link set eth1 down",),
        ),
        STEP_WAIT,
        PINGS.but(unset="none"),
        SESSIONS.but(unset="none"),
        ROUTES,
        ANSWERS,
    ),
)
STEPS = Key(
    "steps",
    Named(STEP, "names to steps"),
    "As configured: changes after all other checks, one after another, each with checks of its own.",
    unset="none",
)
VALIDATION = Keys(
    "validation",
    "What fabriclab validate compares the lab with",
    (
        Key(
            "queues",
            Named(EIGHTH, f"{_EVERY_DSCP} to queues", DSCP_PATTERN, _DSCP_WRONG),
            "The queue of a DSCP, on every switch.",
            unset="as in the switches' maps",
        ),
        Key(
            "lossless",
            Several(Text("a DSCP"), "DSCPs, a list or one, or `none`", least=0),
            "The DSCPs whose packets are never dropped.",
            unset="the DSCPs of lossless groups with PFC",
            examples=(("cs3", "cs4"),),
        ),
        Key(
            "thresholds",
            Named(THRESHOLD, f"{_EVERY_DSCP} to sizes", DSCP_PATTERN, _DSCP_WRONG),
            "The length of a DSCP's queue at which marking begins.",
            unset="WRED's minimum and maximum",
        ),
        Key("mtu", MTU, "The largest IP packet between hosts.", unset="the hosts' own"),
        Key(
            "failure",
            FAILURE,
            "How links fail, and how soon routing must recover.",
        ),
        PINGS,
        SESSIONS,
        ROUTES,
        ANSWERS,
        STEPS,
    ),
)
