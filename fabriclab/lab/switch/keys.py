"""All keys of a switch's section, at every depth, and what each holds: for settings,
which reach any of them by a dotted key."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from fabriclab.formats.classes import QUEUES
from fabriclab.lab.reading.canonical import Meaning
from fabriclab.lab.reading.dscp import DSCP_NAMES, LARGEST_DSCP
from fabriclab.lab.switch.layer import is_pool_name
from fabriclab.lab.switch.numbered_sections import DEFAULT, parse_numbers
from fabriclab.qdiscs import AQM_WORDS


@dataclass(frozen=True)
class Key:
    """What stands at a key: a value, or further keys, or either (a part that `none` gives up)."""

    value: Meaning | None = None
    """None: no value, only keys below."""
    below: Mapping[str, Key] = field(default_factory=dict)
    names: Names | None = None
    """Names that stand below instead of fixed words."""

    def words(self, word: str) -> Sequence[str]:
        """Return what may stand below; a name that may is among them."""
        if self.names is None:
            return tuple(self.below)
        return (word,) if self.names.accepts(word) else self.names.examples

    def at(self, word: str) -> Key | None:
        """Return the key below; None when there is none of that name."""
        if self.names is None:
            return self.below.get(word)
        return self.names.key if self.names.accepts(word) else None


@dataclass(frozen=True)
class Names:
    """Keys that are not fixed words: names of pools, numbers, ranges."""

    key: Key
    accepts: Callable[[str], bool]
    examples: tuple[str, ...]


def _numbers(count: int, names: Mapping[str, int] | None, *others: str) -> Callable[[str], bool]:
    def accepts(word: str) -> bool:
        try:
            return word in others or len(parse_numbers(word, count, names)) > 0
        except ValueError:
            return False

    return accepts


def _values(**meanings: Meaning) -> dict[str, Key]:
    return {name: Key(meaning) for name, meaning in meanings.items()}


_ONE_OF_EIGHT = _numbers(QUEUES, None)
_QUEUE_OR_DEFAULT = _numbers(QUEUES, None, DEFAULT)
_NUMBER_EXAMPLES = (*map(str, range(QUEUES)), "3..4")
_ACCOUNT = _values(pool="word", reserved="size", alpha="fraction", limit="size")
_AQM = Key(
    "word",
    _values(kind="word", source="word", options="word", **{name: key.meaning for name, key in AQM_WORDS.items()}),
)
_WRED = Key(
    "word", _values(min="threshold", max="threshold", probability="percent", weight="count", ecn="flag", non_ect="word")
)
_PHANTOM = Key("word", _values(rate="percent", threshold="size"))
_CONGESTION_POINT = Key("word", _values(set_point="size", sample="size", weight="count"))
_QUEUE = Key(
    below={
        **_ACCOUNT,
        **_values(scheduler="word", weight="count", cir="rate", cbs="size", pir="rate", pbs="size"),
        "wred": _WRED,
        "phantom": _PHANTOM,
        "qcn": _CONGESTION_POINT,
        **_values(voq_limit="threshold", event="size"),
    }
)
_GROUP = Key(below={**_ACCOUNT, **_values(lossless="flag", headroom="size", xon="size", xon_offset="size")})
_WATCHDOG = Key("word", _values(detection="duration", restoration="duration", action="word"))
_PFC = Key("word", {**_values(priorities="counts", quanta="count", reaction="duration"), "watchdog": _WATCHDOG})
_POOL = Key(below=_values(size="size", headroom="size"))
_MAP = Key(names=Names(Key("count"), _ONE_OF_EIGHT, _NUMBER_EXAMPLES))
_DSCP_MAP = Key(names=Names(Key("count"), _numbers(LARGEST_DSCP + 1, DSCP_NAMES), ("0", "0..7", *DSCP_NAMES)))
_EIGHT = ("tc_to_queue", "tc_to_group", "priority_to_queue", "priority_to_group")

_SHARED = Key(
    below={
        **_values(buffer="size", ecn_threshold="size", non_ect="word"),
        "aqm": _AQM,
        **_values(profile="word", scale="fraction", cell="size", slices="count"),
        "pools": Key(names=Names(_POOL, is_pool_name, ("a pool's name",))),
        "maps": Key(below={"dscp_to_tc": _DSCP_MAP, **dict.fromkeys(_EIGHT, _MAP)}),
        "queues": Key(names=Names(_QUEUE, _QUEUE_OR_DEFAULT, (DEFAULT, *_NUMBER_EXAMPLES))),
        "priority_groups": Key(names=Names(_GROUP, _QUEUE_OR_DEFAULT, (DEFAULT, *_NUMBER_EXAMPLES))),
        "pfc": _PFC,
        "slice": Key(below={"in": Key("count"), "out": Key("count")}),
    }
)
_PORT = Key(below={word: _SHARED.below[word] for word in ("maps", "queues", "priority_groups", "pfc", "slice")})
SWITCH = Key(below={**_SHARED.below, "ports": Key(names=Names(_PORT, bool, ("a port's name",)))})
"""What stands below `default` or a switch's name."""


def levels(words: Sequence[str]) -> list[Sequence[str]]:
    """Return what may stand at each level below a switch's name, as deep as `words` go,
    and further where they end at no value."""
    valid: list[Sequence[str]] = []
    key: Key | None = SWITCH
    for word in words:
        if key is None or not (key.below or key.names):
            return valid
        valid.append(key.words(word))
        key = key.at(word)
    if key is not None and key.value is None:
        valid.append(key.words(""))
    return valid


def meaning(words: Sequence[str]) -> Meaning:
    """Return what the value at a key below a switch's name is."""
    key: Key | None = SWITCH
    for word in words:
        key = None if key is None else key.at(word)
    return "word" if key is None or key.value is None else key.value
