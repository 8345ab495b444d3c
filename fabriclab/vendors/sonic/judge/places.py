"""From a field in the words of the lab language (`queues.3.wred.min`) to the table,
key and field of CONFIG_DB that it is from."""

from __future__ import annotations

from collections.abc import Mapping

from fabriclab.vendors.sonic.judge.bindings import GLOBAL, Bindings

_PROFILE = {
    "alpha": "dynamic_th",
    "limit": "static_th",
    "reserved": "size",
    "pool": "pool",
    "headroom": "xoff",
    "lossless": "xoff",
}
_POOL = {"size": "size", "headroom": "xoff"}
_WRED = {"min": "green_min_threshold", "max": "green_max_threshold", "probability": "green_drop_probability"}
_SCHEDULER = {"scheduler": "type"}
_MAPS = {
    "dscp_to_tc": "dscp_to_tc_map",
    "tc_to_queue": "tc_to_queue_map",
    "tc_to_group": "tc_to_pg_map",
    "priority_to_queue": "pfc_to_queue_map",
    "priority_to_group": "pfc_to_pg_map",
}
FIELDS = {
    **{f"queues.wred.{word}": f"WRED_PROFILE|{name}" for word, name in _WRED.items()},
    **{
        f"queues.{word}": f"BUFFER_PROFILE|{name}"
        for word, name in _PROFILE.items()
        if word not in ("headroom", "lossless")
    },
    **{f"priority_groups.{word}": f"BUFFER_PROFILE|{name}" for word, name in (*_PROFILE.items(), ("xon", "xon"))},
    **{f"pools.{word}": f"BUFFER_POOL|{name}" for word, name in _POOL.items()},
    "queues.wred": "QUEUE|wred_profile",
    "queues.scheduler": "SCHEDULER|type",
    "queues.cir": "SCHEDULER|cir",
    "queues.pir": "SCHEDULER|pir",
    "pfc.priorities": "PORT_QOS_MAP|pfc_enable",
    **{f"maps.{word}": f"PORT_QOS_MAP|{name}" for word, name in _MAPS.items()},
}
"""Table and field, by the lab's words without numbers and names."""


def config_path(bindings: Bindings, pool_keys: Mapping[str, str], port: str, path: tuple[str, ...]) -> tuple[str, ...]:
    """Return table, key and field of what stands at `path` for a port (empty for what is of the whole switch)."""
    part, name, *more = path
    if part == "pools":
        return "BUFFER_POOL", pool_keys[name], _POOL[more[0]]
    if part == "pfc":
        qos = bindings.qos(port)
        return "PORT_QOS_MAP", GLOBAL if qos is None else qos.name, "pfc_enable"
    if part == "maps":
        holder = bindings.map_holder(port, _MAPS[name]) or bindings.qos(port)
        return "PORT_QOS_MAP", port if holder is None else holder.name, _MAPS[name]
    number = int(name.replace(",", ".").partition(".")[0])  # `1, 3..4`: the first of them
    return (
        _group(bindings, port, number, more[0]) if part == "priority_groups" else _queue(bindings, port, number, more)
    )


def _group(bindings: Bindings, port: str, number: int, word: str) -> tuple[str, ...]:
    profile = bindings.group_profile(port, number)
    if profile is None:
        return "BUFFER_PG", bindings.groups[port][number].key, "profile"
    return "BUFFER_PROFILE", profile.name, _PROFILE.get(word, word)


def _queue(bindings: Bindings, port: str, number: int, words: list[str]) -> tuple[str, ...]:
    wred, scheduler, profile = (
        bindings.wred(port, number),
        bindings.scheduler(port, number),
        bindings.queue_profile(port, number),
    )
    if words[0] == "wred" and wred is not None:
        return "WRED_PROFILE", wred.name, *(_WRED[word] for word in words[1:])
    if words[0] in _PROFILE:
        return ("BUFFER_QUEUE",) if profile is None else ("BUFFER_PROFILE", profile.name, _PROFILE[words[0]])
    return ("QUEUE",) if scheduler is None else ("SCHEDULER", scheduler.name, _SCHEDULER.get(words[0], words[0]))
