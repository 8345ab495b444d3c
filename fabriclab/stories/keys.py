"""The keys of a story (`stories/NAME.yml`): its title, how the lab comes up, its steps, and what a step does."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from fabriclab.keys.mappings import Forms, Key, Keys, Named
from fabriclab.keys.quantities import Flag, Quantity
from fabriclab.keys.values import Either, Items, Text, Value, Word
from fabriclab.lab.event_keys import DELAY_FROM_THEN, LINK_ACTIONS, LOSS, RATE_FROM_THEN
from fabriclab.lab.hosts.keys import CONGESTION_CONTROLS
from fabriclab.units import DURATION, SIZE

CHOOSE = "choose"
"""The action that no lab is asked for: who shows the lab looks at a port or a node."""
BARE: Mapping[str, Mapping[str, object]] = {
    "continue": {"do": "resume"},
    "pause": {"do": "pause"},
    "clear": {"do": "unbreak"},
}
"""Actions that are one word, with what the lab is asked for."""

TITLE = Key("title", Text("a title"), "The title, one line.", required=True)
WORDS = Key("words", Text("a text"), "The words to say.", unset="none")
SPEED = Key("speed", Text("a speed, such as 1/100"), "Virtual seconds per wall second, from the start on.", unset="1")
IDLE = Key("idle", Flag(), "Whether the lab's own traffic is left out.", default=False)

STEP_OF_TIME = Quantity(DURATION, 1)
SIZE_OF_FLOW = Quantity(SIZE, 4)
NODE_ACTIONS: Word[str] = Word(("down", "up"))
_SETTINGS = Named(Text("a value, such as `30 KB`"), "a mapping of settings, as `-s KEY=VALUE`", least=1)


def _action(
    about: str, name: str, value: Value[Any], *more: Key[Any], any_of: tuple[str, ...] = (), **said: Any
) -> Keys:
    """Return an action's mapping: its own key, and those that may stand beside it."""
    return Keys(f"story-do-{name}", about, (Key(name, value, f"{about}.", required=True, **said), *more), any_of=any_of)


ACTION = Forms(
    "story-action",
    "What a step does",
    {
        "break": _action(
            "Sets a break point, which stops time whenever its condition is true",
            "break",
            Text("a condition"),
            examples=("s1 drop", "s1:eth49 queue > 60 KB"),
        ),
        "until": _action(
            "Lets time go on until a condition is true, or until a virtual time",
            "until",
            Text("a condition, or a virtual time"),
            examples=("s1 drop", "150 ms"),
        ),
        "step": _action("Lets so much virtual time pass, then stops it", "step", STEP_OF_TIME, examples=("10 us",)),
        "speed": _action(
            "Changes the speed of time", "speed", Text("virtual seconds per wall second"), examples=("1/100", "max")
        ),
        "set": _action("Changes settings of the lab that is up", "set", _SETTINGS),
        "start": _action("Starts an entry of the lab's traffic", "start", Text("a name in the lab's `traffic`")),
        "stop": _action("Stops traffic that was started", "stop", Text("a name in the lab's `traffic`, or `flow`")),
        CHOOSE: _action(
            "Shows a port's charts and packets, or chooses a node for a terminal",
            CHOOSE,
            Text("a port `node:interface`, or a node"),
            examples=("s1:eth49",),
        ),
        "link": _action(
            "Does something to a link",
            "link",
            Text("one of the link's ports, `node:interface`"),
            Key("action", LINK_ACTIONS, "The link goes down, comes up, or loses every packet.", unset="none"),
            *(RATE_FROM_THEN, DELAY_FROM_THEN, LOSS),
            any_of=("action", "rate", "delay", "loss"),
            examples=("leaf1:eth3",),
        ),
        "node": _action(
            "Takes a node down or up",
            "node",
            Text("a host or a switch"),
            Key("action", NODE_ACTIONS, "The node loses its power, or boots.", required=True),
        ),
        "flow": _action(
            "Sends one flow",
            "flow",
            Text("the host that sends"),
            Key("to", Text("a host"), "The host that receives.", required=True, examples=("h2",)),
            Key("size", SIZE_OF_FLOW, "How much is sent.", required=True, examples=("1 MB",)),
            Key(
                "congestion_control",
                Word(tuple(CONGESTION_CONTROLS)),
                "The flow's congestion control.",
                unset="the sender's",
            ),
        ),
    },
)
"""An action with a value: the word that it has, and the keys beside it."""
MORE_KEYS: Mapping[str, Sequence[str]] = {name: keys.names[1:] for name, keys in ACTION.forms.items()}
"""Actions with a value, and the keys that may stand beside each."""

UP = Keys(
    "story-up",
    "How the lab comes up",
    (Key("set", _SETTINGS, "Settings, as `-s KEY=VALUE` of `up`.", unset="none"), SPEED, IDLE),
)
DO: Key[Any] = Key(
    "do",
    Items(Either((Word[str](tuple(BARE)), ACTION)), "a list of actions"),
    "What the step does, one action after the other.",
    unset="nothing",
)
STEP = Keys("story-step", "A step", (TITLE, WORDS, DO))
STORY = Keys(
    "story",
    "A story: a trainer's list of steps for a live lab",
    (
        TITLE,
        Key("up", UP, "How `up --story` starts the lab.", unset="as without a story"),
        Key("steps", Items(STEP, "a list of steps", least=1), "The steps, in their order.", required=True),
    ),
)
"""All keys of a story: the root of the records."""
