"""A switch's choice among next hops as the lab language would write it: each value says where it is from."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import TypeVar

from fabriclab.lab.network.load_balancing import WrittenLoadBalancing
from fabriclab.lab.reading.section import Written
from fabriclab.vendors.sonic.read.ars_tables import MODES
from fabriclab.vendors.sonic.read.config_db import ConfigDb

T = TypeVar("T")
_NS_PER_US = 1_000


def written_load_balancing(config: ConfigDb) -> WrittenLoadBalancing | None:
    """Return what ARS_PROFILE and its object say, and SWITCH_HASH; None: nothing."""
    routing = config.adaptive_routing
    own, hashed = routing.object, _written_hash(config)
    if own is None:
        return hashed
    profile = _profile_name(config)

    def of_object(name: str, value: T | None, text: str) -> Written[T] | None:
        return _written(config, ("ARS_OBJECT", own.name, name), value, text)

    def of_profile(name: str, value: int | None) -> Written[int] | None:
        return _written(config, ("ARS_PROFILE", profile, name), value, f"{value} B")

    idle_ns = None if own.idle_time_us is None else own.idle_time_us * _NS_PER_US
    return replace(
        hashed or WrittenLoadBalancing(),
        mode=of_object("assign_mode", MODES[own.assign_mode], own.assign_mode),
        idle_time=of_object("flowlet_idle_time", idle_ns, f"{own.idle_time_us} us"),
        max_flows=of_object("max_flows", own.max_flows, str(own.max_flows)),
        load_min=of_profile("current_load_min_value", routing.load_min),
        load_max=of_profile("current_load_max_value", routing.load_max),
    )


def _written_hash(config: ConfigDb) -> WrittenLoadBalancing | None:
    """Return what the hash is made of, and its seed: 0 is one to SONiC, and none to Linux."""
    own = config.hash
    if own.seed is None and own.fields is None:
        return None
    seed, text = (None, "") if own.seed is None else (own.seed + 1, str(own.seed + 1))
    return WrittenLoadBalancing(
        hash_seed=_written(config, ("DEVICE_METADATA", "localhost", "ecmp_hash_seed"), seed, text),
        hash_fields=_written(config, ("SWITCH_HASH", "GLOBAL", "ecmp_hash"), own.fields, ", ".join(own.said)),
    )


def load_balancing_text(config: ConfigDb) -> str:
    """Return the same as the value of the lab's key `load_balancing`; empty: nothing is to be written."""
    written = written_load_balancing(config)
    if written is None or (written.mode is None and written.hash_seed is None):
        return ""
    said = {each.name: getattr(written, each.name) for each in fields(written) if each.name != "hash_fields"}
    words = [f"{name}: {one.value if name == 'mode' else one.text}" for name, one in said.items() if one is not None]
    return f"{{{', '.join(words)}}}"


def _profile_name(config: ConfigDb) -> str:
    tables = config.json.value if config.json is not None and isinstance(config.json.value, dict) else {}
    profiles = tables.get("ARS_PROFILE")
    return next(iter(profiles), "") if isinstance(profiles, dict) else ""


def _written(config: ConfigDb, path: tuple[str, ...], value: T | None, text: str) -> Written[T] | None:
    return None if value is None else Written(value, "|".join(path), text, config.place(*path))
