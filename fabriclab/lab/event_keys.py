"""The keys of events: what happens to links, nodes and settings during a run."""

from __future__ import annotations

from typing import Any

from fabriclab.formats import ranges
from fabriclab.keys.mappings import Forms, Key, Keys, Named
from fabriclab.keys.quantities import Flag, Percent, Quantity
from fabriclab.keys.values import Either, Items, Text, Value, Word
from fabriclab.lab.network.keys import DELAY, RATE_OF_A_LINE
from fabriclab.lab.switch.keys import PRIORITIES
from fabriclab.units import DURATION

PAUSE_STORM = "pause-storm"
LINK_ACTIONS: Word[str] = Word(("down", "up", "blackhole"))
NODE_ACTIONS: Word[str] = Word(("down", "up", PAUSE_STORM))

AT = Key("at", Quantity(DURATION), "When it happens, in virtual time.", examples=("1 s",), required=True)
ENABLED = Key(
    "enabled",
    Flag(),
    "With `false` the event does not happen. So a variant or a matrix can choose among several events.",
    default=True,
)
UNTIL = Key(
    "until",
    Quantity(DURATION, 1),
    "When a pause storm ends.",
    unset="required with `pause-storm`",
    examples=("600 ms",),
)
RATE_FROM_THEN = Key("rate", RATE_OF_A_LINE, "The rate from then on, in both directions.")
DELAY_FROM_THEN = Key("delay", DELAY, "The one-way delay from then on.")
LOSS = Key(
    "loss",
    Percent(*ranges.PPM, why="in steps of 0.0001 %"),
    "The share of packets that the link loses from then on.",
    examples=("0.1 %",),
)
EVENT = Forms(
    "event",
    "An event of a run: at a link, at a node, or new settings",
    {
        "link": Keys(
            "event-link",
            "What happens to a link",
            (
                AT,
                Key(
                    "link",
                    Text("one of the link's ports, `node:interface`"),
                    "The link, by one of its ports.",
                    examples=("leaf1:eth5",),
                    required=True,
                ),
                Key(
                    "action",
                    LINK_ACTIONS,
                    "The link loses its carrier, gets it back, or loses every packet while both carriers stay.",
                    unset="one of action, rate, delay or loss is required",
                ),
                RATE_FROM_THEN,
                DELAY_FROM_THEN,
                LOSS,
                ENABLED,
            ),
            any_of=("action", "rate", "delay", "loss"),
        ),
        "node": Keys(
            "event-node",
            "What happens to a node",
            (
                AT,
                Key("node", Text("a host or a switch"), "The node.", examples=("spine1",), required=True),
                Key(
                    "action",
                    NODE_ACTIONS,
                    "The node loses its power or boots, or a host pauses its switch without a break.",
                    required=True,
                ),
                Key(
                    "priorities",
                    PRIORITIES,
                    "The priorities that a pause storm pauses.",
                    unset="required with `pause-storm`",
                    examples=(("3",),),
                ),
                UNTIL,
                ENABLED,
            ),
        ),
        "set": Keys("event-set", "Settings that change from then on", ()),
    },
)

EVENT_KEYS = (*dict.fromkeys(key.name for keys in EVENT.forms.values() for key in keys.keys), "set")
"""All that may stand in an event."""


def events(settings: Value[Any]) -> Either[Any]:
    """Return the section of events; `settings` are the keys that one may set."""
    below = Key("set", settings, "Keys with the values that hold from then on.", required=True, settable=False)
    forms = {**EVENT.forms, "set": Keys("event-set", EVENT.forms["set"].title, (AT, below, ENABLED))}
    event = Forms(EVENT.name, EVENT.title, forms)
    named = Named(
        event,
        "a mapping of names of events",
        "[A-Za-z0-9][A-Za-z0-9_-]{0,62}",
        "An event's name has letters, digits, '-' and '_'.",
    )
    return Either((named, Items(event, "a list of events")))
