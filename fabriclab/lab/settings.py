"""Settings: values that replace what `experiment.yml` says, by dotted key (`hosts.default.rto_min`), parameter or
variant.

A setting is put into the document before that is read, so it meets the very checks that the file's own text meets.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from fabriclab.lab.experiment import LINK_KEYS
from fabriclab.lab.failures import EVENT_KEYS
from fabriclab.lab.groups import GROUP_KEYS
from fabriclab.lab.hosts.limiter import LIMITER_KEYS
from fabriclab.lab.hosts.mptcp import MPTCP_KEYS
from fabriclab.lab.hosts.nic import NIC_KEYS
from fabriclab.lab.hosts.pacer import PACER_KEYS
from fabriclab.lab.hosts.transport import HOST_KEYS
from fabriclab.lab.ports.aqm import OWN_KEYS
from fabriclab.lab.probes import PROBE_KEYS
from fabriclab.lab.reading.canonical import Meaning, canonical
from fabriclab.lab.reading.document import MappingValue, ScalarValue, Value
from fabriclab.lab.reading.names import Names, expand_range
from fabriclab.lab.reading.problems import did_you_mean, shown
from fabriclab.lab.routing import ROUTING_KEYS
from fabriclab.lab.switch import keys as switch_keys
from fabriclab.lab.traffic.hadoop_costs import COST_KEYS
from fabriclab.lab.traffic.hadoop_jobs import JOB_KEYS
from fabriclab.lab.traffic.read import keys_of_kinds
from fabriclab.lab.traffic.size import SIZE_KEYS
from fabriclab.qdiscs import AQM_WORDS

_SINGLE_DOT = re.compile(r"(?<!\.)\.(?!\.)")
"""Separates the words of a key; the two dots of a range do not."""
_SECTIONS = (
    *("addresses", "links", "switches", "groups", "hosts", "routing", "traffic", "events", "probes", "limit", "seed"),
)
_VALUES = ("addresses", "limit", "seed")
"""Keys of the file that hold a value themselves."""
_MEANINGS: dict[str, Meaning] = {
    **{"addresses": "word", "ip": "count", "rate": "rate", "delay": "duration", "mtu": "count"},
    **{
        "congestion_control": "word",
        "ecn": "word",
        "rto_min": "duration",
        "delayed_ack": "flag",
        "initial_window": "count",
    },
    **{"window_limit": "count", "receive_buffer": "size", "send_buffer": "size", "queue": "size"},
    **{"mptcp": "word", "subflows": "count", "scheduler": "word", "path_manager": "word", "add_addr_accepted": "count"},
    **{
        "senders": "count",
        "receiver": "word",
        "size": "size",
        "rounds": "count",
        "start": "duration",
        "stop": "duration",
    },
    **{
        "stagger": "duration",
        "count": "count",
        "interval": "duration",
        "connection": "word",
        "mode": "word",
        "file": "word",
    },
    **{"protocol": "word", "max_paths": "count", "keepalive": "duration", "hold": "duration", "bfd": "duration"},
    **{"bfd_multiplier": "count", "convergence_limit": "duration", "at": "duration", "action": "word", "loss": "word"},
    **{"priorities": "counts", "until": "duration", "bucket": "size", "idle": "duration", "beta": "count"},
    **{"connections": "word", "pcap": "word", "snaplen": "size", "file_limit": "size"},
    **{"ports": "word", "traffic": "word", "limit": "duration", "seed": "count"},
    **{
        "receivers": "count",
        "pairs": "word",
        "hot_spots": "count",
        "hot_share": "percent",
        "jitter": "duration",
        "load": "percent",
    },
    **{"arrival": "word", "burst": "count", "deadline": "duration", "transport": "word", "dscp": "count"},
    **{"aggregators": "count", "workers": "count", "fan_out": "count", "request": "size", "response": "size"},
    **{"distribution": "word", "cap": "size", "sources": "count", "mappers": "count", "reducers": "count"},
    **{
        "parallel_copies": "count",
        "replicas": "count",
        "rack": "word",
        "share": "percent",
        "of": "word",
        "enabled": "flag",
    },
    **{
        "block_size": "size",
        "replication": "count",
        **dict.fromkeys(("disk", "page_cache"), "size"),
        **dict.fromkeys(("seek", "map", "spill", "merge", "reduce", "jvm_start"), "duration"),
        "scale": "fraction",
        "slots": "count",
        "splits": "count",
        "framework": "word",
        "version": "word",
    },
}


def split_key(dotted: str) -> list[str]:
    """Return the words of a dotted key; a range (`hosts.h1..h4.ecn`) is one word."""
    return _SINGLE_DOT.split(dotted)


def is_dotted(name: str) -> bool:
    """Return whether a setting's name is a key of the file rather than a parameter."""
    return len(split_key(name)) > 1 or name in _VALUES


_LATER = ("links", "switches", "hosts", "routing")
_NOT_LATER = {
    "addresses": "a fabric's addresses are fixed when the lab begins",
    "traffic": "what is sent is fixed when the lab begins",
    "groups": "who is in a group is fixed when the lab begins; name the hosts themselves",
    "events": "what happens is fixed when the lab begins",
    "probes": "what is sampled is fixed when the lab begins",
    "limit": "the run's end is fixed when the lab begins",
    "seed": "all that is random hangs on it from the beginning",
}
"""Why a section's keys can't be set while the lab runs."""


def check_later(dotted: str) -> None:
    """Raise ValueError, which says why, for a key that can be set (`check_key`), but not while the lab runs."""
    first = split_key(dotted)[0]
    if first not in _LATER:
        raise ValueError(_NOT_LATER[first])


def check_key(dotted: str, document: MappingValue, names: Names) -> None:
    """Raise ValueError, which says what would be right, unless `dotted` is a key that can be set."""
    first, *rest = split_key(dotted)
    if first not in _SECTIONS:
        raise ValueError(f"{shown(dotted)} is no key that can be set; {did_you_mean(first, _SECTIONS)}")
    valid = _levels(first, rest, document, names)
    for level, word in enumerate(rest):
        if level >= len(valid):
            raise ValueError(
                f"{shown(dotted)} goes too deep; {shown('.'.join([first, *rest[: len(valid)]]))} is a value"
            )
        if word not in valid[level] and not (first == "hosts" and level == 0 and _is_range(word)):
            raise ValueError(f"{shown(dotted)}: {shown(word)} is unknown; {did_you_mean(word, valid[level])}")
    if len(rest) < len(valid):
        raise ValueError(f"{shown(dotted)} is a section; add one of {', '.join(valid[len(rest)])}")


def begun_keys(incomplete: str, document: MappingValue, names: Names) -> list[str]:
    """Return the keys that can be set later and begin so, to the end of the word that is begun; whole ones with `=`."""
    *done, last = split_key(incomplete)
    if not done:
        return [f"{section}." for section in _LATER if section.startswith(last)]
    valid = _levels(done[0], [*done[1:], last], document, names) if done[0] in _LATER else []
    level = len(done) - 1
    found = [".".join([*done, word]) for word in valid[level] if word.startswith(last)] if level < len(valid) else []
    return [f"{key}{'=' if _is_whole(key, document, names) else '.'}" for key in found]


def _is_whole(dotted: str, document: MappingValue, names: Names) -> bool:
    try:
        check_key(dotted, document, names)
    except ValueError:
        return False
    return True


def _levels(first: str, rest: Sequence[str], document: MappingValue, names: Names) -> list[Sequence[str]]:
    """Return the valid words of each level below `first`."""
    if first in _VALUES:
        return []
    if first == "links":
        return [LINK_KEYS]
    if first == "switches":
        return [("default", *names.switches), *switch_keys.levels(rest[1:])]
    if first == "groups":
        return [_names_in(document, "groups"), GROUP_KEYS]
    if first == "hosts":
        # `aqm`, `mptcp`, `nic` and its `pacer` and `qcn` are sections, and values where they are `none`.
        parts = {"aqm": ("kind", *OWN_KEYS, *AQM_WORDS), "mptcp": MPTCP_KEYS, "nic": NIC_KEYS}
        hosts = ("default", *_names_in(document, "groups"), *names.hosts)
        below_nic = {"pacer": PACER_KEYS, "qcn": LIMITER_KEYS}
        deeper = [below_nic[rest[2]]] if len(rest) > 3 and rest[1] == "nic" and rest[2] in below_nic else []
        return [hosts, HOST_KEYS, *([parts[rest[1]]] if len(rest) > 2 and rest[1] in parts else []), *deeper]
    if first == "routing":
        return [ROUTING_KEYS]
    if first == "events":
        return [_names_in(document, "events"), EVENT_KEYS]
    if first == "probes":
        # `switches` is a section, and a value where it is `none`; `connections` too; `pcap` also where it is ports.
        below = [PROBE_KEYS.get(rest[0], ("interval",))] if rest else [("interval",)]
        return [tuple(PROBE_KEYS), *(below if rest not in (["switches"], ["connections"], ["pcap"]) else [])]
    return _levels_of_traffic(rest, document)


def _levels_of_traffic(rest: Sequence[str], document: MappingValue) -> list[Sequence[str]]:
    traffic = document.entries.get("traffic")
    by_name = traffic.entries if isinstance(traffic, MappingValue) else {}
    kind = _kind(by_name.get(rest[0]) if rest else None)
    keys = tuple(key for key in keys_of_kinds().get(kind, ()) if key != "kind")
    if kind == "hadoop" and rest[1:2] == ["jobs"]:
        cluster = by_name[rest[0]]
        return [tuple(by_name), keys, _names_in(cluster, "jobs") if isinstance(cluster, MappingValue) else (), JOB_KEYS]
    if kind == "hadoop" and rest[1:2] == ["costs"]:
        return [tuple(by_name), keys, *([COST_KEYS] if len(rest) > 2 else [])]
    # Below a size that may be a distribution there are keys of its own; without them it is a value.
    below_size = len(rest) > 2 and (kind, rest[1]) in (("arrivals", "size"), ("query", "response"))
    return [tuple(by_name), keys, SIZE_KEYS] if below_size else [tuple(by_name), keys]


def _names_in(document: MappingValue, part: str) -> tuple[str, ...]:
    section = document.entries.get(part)
    return tuple(section.entries) if isinstance(section, MappingValue) else ()


def _kind(traffic: Value | None) -> str:
    kind = traffic.entries.get("kind") if isinstance(traffic, MappingValue) else None
    return kind.text if isinstance(kind, ScalarValue) else ""


def _is_range(word: str) -> bool:
    try:
        return expand_range(word) is not None
    except ValueError:
        return False


def put(document: MappingValue, dotted: str, value: Value) -> MappingValue:
    """Return a copy of `document` with the value at a checked key; missing sections on the way are made."""
    return _put(document, split_key(dotted), value)


def _put(mapping: MappingValue, words: Sequence[str], value: Value) -> MappingValue:
    first, *rest = words
    if not rest:
        return mapping.with_entry(first, value)
    below = mapping.entries.get(first)
    if not isinstance(below, MappingValue):
        below = MappingValue({}, {}, value.place if below is None else below.place)
    return MappingValue({**mapping.entries, first: _put(below, rest, value)}, mapping.key_places, mapping.place)


def look_up(document: MappingValue, dotted: str) -> Value | None:
    """Return what stands at a key, None when nothing does."""
    value: Value | None = document
    for word in split_key(dotted):
        value = value.entries.get(word) if isinstance(value, MappingValue) else None
    return value


def normalise(dotted: str, text: str) -> str | int | bool:
    """Return a value in the one form that values of this key are compared in: counts as numbers, `0.064 MB` as `64 KB`.

    A text that is no such value is returned as it is: the reader of the key complains about it. The same word may mean
    two things: `limit` is a duration, a queue's is a size.
    """
    first, *rest = split_key(dotted)
    if first == "switches":
        meaning = switch_keys.meaning(rest[1:])
    elif first == "hosts" and "aqm" in rest[:-1]:
        meaning = AQM_WORDS[rest[-1]].meaning if rest[-1] in AQM_WORDS else "word"
    else:
        meaning = _MEANINGS.get([first, *rest][-1], "word")
    return canonical(text, meaning)
