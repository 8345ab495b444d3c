"""What is wanted of routing daemons: `validation.sessions` and `validation.routes`."""

from __future__ import annotations

from fabriclab.lab.wanted_state import (
    FAMILIES,
    LARGEST_NUMBER,
    LEVELS,
    ROUTE_TABLES,
    SESSION_LEVELS,
    SESSION_PROTOCOLS,
)
from fabriclab.language.keys import Key, Keys, Named
from fabriclab.language.sources import plain, words
from fabriclab.language.values import Flag, Number, Several, Text, Word

_NODES = Several(Text("a node"), "nodes, a list or one")
_ANY = words("any")
_NUMBER = Number(0, LARGEST_NUMBER)
SESSIONS = Key(
    "sessions",
    Named(
        Keys(
            "validation-session",
            "How a session should be",
            (
                Key("on", _NODES, "Who is asked.", required=True),
                Key("protocol", Word(SESSION_PROTOCOLS), "Whose session.", required=True),
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
                    words("`Established`, `Full`, `Up`"),
                ),
                Key("family", Word(FAMILIES), "BGP: the address family that it is for.", _ANY),
                Key(
                    "negotiated",
                    Flag(),
                    "BGP: whether a session over which its family is not exchanged counts as absent.",
                    plain(False),
                ),
                Key("vrf", Text("a VRF"), "BGP and OSPF: of which VRF.", _ANY),
                Key("level", Word(SESSION_LEVELS), "IS-IS: of which level.", _ANY),
                Key("area", Text("an area"), "IS-IS: of which area, such as 49.0001.", _ANY),
            ),
        ),
        "names to sessions",
    ),
    "As configured: how routing daemons' sessions should be.",
    words("all that there are are up"),
)
ROUTES = Key(
    "routes",
    Named(
        Keys(
            "validation-route",
            "Whether a table has a route",
            (
                Key("on", _NODES, "Who is asked.", required=True),
                Key(
                    "table",
                    Word(ROUTE_TABLES),
                    "Whose table: a daemon's, FRR's own (`rib`), or the kernel's.",
                    required=True,
                ),
                Key("prefix", Text("a prefix"), "Where the route leads.", required=True),
                Key("present", Flag(), "Whether it should be there; `false`: it should not.", plain(True)),
                Key("vrf", Text("a VRF"), "All but the kernel's: of which VRF.", words("the default one")),
                Key("level", Word(LEVELS), "IS-IS: of which level.", plain("2")),
                Key("protocol", Text("a protocol"), "FRR's: who it is from.", _ANY),
                Key("cost", _NUMBER, "OSPF, IS-IS and FRR's: its cost or metric.", _ANY),
                Key("type", Text("a type"), "OSPF: its type, as the daemon calls it (`N E2`, `Inter-Area`).", _ANY),
                Key("next_hop", Text("an address"), "BGP: a path by this next hop.", _ANY),
                Key("as_path", Text("AS numbers"), "BGP: a path of just this AS path, such as `65001 65002`.", _ANY),
                Key(
                    "as_numbers",
                    Several(Text("an AS number"), "AS numbers, a list or one"),
                    "BGP: a path over all of these.",
                    _ANY,
                ),
                Key("local_preference", _NUMBER, "BGP: a path of this local preference.", _ANY),
                Key("med", _NUMBER, "BGP: a path of this multi-exit discriminator.", _ANY),
                Key("best", Flag(), "BGP: whether that path is the best one.", _ANY),
                Key("peer", Text("a router ID"), "BGP: a path from this neighbour.", _ANY),
                Key("cluster", Text("a cluster ID"), "BGP: a path reflected there.", _ANY),
                Key("community", Text("a community"), "BGP: a path with this community.", _ANY),
                Key("large_community", Text("a large community"), "BGP: a path with it.", _ANY),
                Key("extended_community", Text("an extended community"), "BGP: a path with it.", _ANY),
            ),
        ),
        "names to routes",
    ),
    "As configured: which routes tables should have, and which not.",
    words("not looked at"),
)
