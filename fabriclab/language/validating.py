"""What `fabriclab validate` compares a lab with."""

from __future__ import annotations

from fabriclab.formats.classes import QUEUES
from fabriclab.lab.reading import defaults
from fabriclab.lab.validation import FAILURE_ACTIONS, LONGEST_RECOVERY_NS
from fabriclab.language.fabric import MTU
from fabriclab.language.keys import Key, Keys, Named
from fabriclab.language.sources import constant, plain, words
from fabriclab.language.switches import DSCP_PATTERN
from fabriclab.language.values import Flag, Number, Quantity, Several, Text, Word
from fabriclab.language.wanted_state import ROUTES, SESSIONS
from fabriclab.units import DURATION, SIZE, format_duration

_EVERY_DSCP = "a mapping of DSCPs, ranges and names of them"
_DSCP_WRONG = "A DSCP is wanted here: a number from 0 to 63, a range, or a name such as ef."
VALIDATION = Keys(
    "validation",
    "What fabriclab validate compares with",
    (
        Key(
            "queues",
            Named(Number(0, QUEUES - 1), f"{_EVERY_DSCP} to queues", DSCP_PATTERN, _DSCP_WRONG),
            "The queue that a DSCP belongs in, on every switch.",
            words("what the switches' maps say"),
        ),
        Key(
            "lossless",
            Several(Text("a DSCP"), "DSCPs, a list or one, or `none`", least=0),
            "The DSCPs that lose nothing.",
            words("those of lossless groups with PFC"),
            (("cs3", "cs4"),),
        ),
        Key(
            "thresholds",
            Named(Quantity(SIZE, 1), f"{_EVERY_DSCP} to sizes", DSCP_PATTERN, _DSCP_WRONG),
            "The length of a DSCP's queue at which marks begin.",
            words("WRED's minimum and maximum"),
        ),
        Key("mtu", MTU, "The largest IP packet between hosts.", words("the hosts' own")),
        Key(
            "failure",
            Keys(
                "validation-failure",
                "How links fail",
                (
                    Key(
                        "action",
                        Word(FAILURE_ACTIONS),
                        "Whether both ends see that a link fails, or neither.",
                        constant("FAILURE_ACTION"),
                    ),
                    Key(
                        "recovery",
                        Quantity(DURATION, 0, LONGEST_RECOVERY_NS),
                        "How long after a failure everybody must be reached again.",
                        plain(format_duration(defaults.FAILURE_RECOVERY_NS)),
                    ),
                ),
            ),
            "How links fail, and how soon that must be mended.",
        ),
        Key(
            "pings",
            Named(
                Keys(
                    "validation-ping",
                    "Who asks whom by ping",
                    (
                        Key("from", Several(Text("a node"), "nodes, a list or one"), "Who asks.", required=True),
                        Key("to", Text("a node, or an address"), "Who is asked.", required=True),
                        Key(
                            "ip",
                            Number(4, 6, "4 or 6, a version of IP"),
                            "By which version of IP.",
                            words("whichever the name leads to"),
                        ),
                        Key(
                            "source",
                            Text("an address of who asks"),
                            "The address to ask from.",
                            words("whichever the route gives"),
                        ),
                        Key("answers", Flag(), "Whether there is to be an answer; `false`: none.", plain(True)),
                    ),
                ),
                "names to pings",
            ),
            "As configured: who must reach whom, and who must not.",
            words("every host every other one; without hosts every router"),
        ),
        SESSIONS,
        ROUTES,
    ),
)
