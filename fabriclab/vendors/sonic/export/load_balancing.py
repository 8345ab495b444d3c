"""ARS_PROFILE and ARS_OBJECT (sonic-ars.yang): the choice among next hops."""

from __future__ import annotations

from fabriclab.formats.plan.load_balancing import LoadBalancing
from fabriclab.vendors.sonic.export.tables import Tables
from fabriclab.vendors.sonic.read.ars_tables import IDLE_TIME_US, LARGEST_LOAD, MODES
from fabriclab.vendors.sonic.read.hash_tables import hash_words

_PROFILE, _OBJECT = "fabriclab", "all"
_ASSIGN_MODES = {mode: word for word, mode in MODES.items()}
_NS_PER_US = 1_000


def write_load_balancing(chosen: LoadBalancing | None, tables: Tables) -> None:
    """Write how a switch chooses among next hops, for all of its routes."""
    if chosen is None:
        return
    if chosen.hash_seed is not None:
        tables.tables["DEVICE_METADATA"]["localhost"]["ecmp_hash_seed"] = str(chosen.hash_seed - 1)
    if chosen.hash_fields is not None:
        tables.put("SWITCH_HASH", "GLOBAL", {"ecmp_hash": hash_words(chosen.hash_fields)})
    if chosen.mode == "flow":
        return
    if chosen.mode not in _ASSIGN_MODES:
        tables.leave_unsaid("load_balancing", f"mode {chosen.mode}; SONiC's ARS chooses by quality only")
        return
    own = {"assign_mode": _ASSIGN_MODES[chosen.mode], "max_flows": str(chosen.max_flows)}
    idle_us, odd_ns = divmod(chosen.idle_ns, _NS_PER_US)
    if odd_ns or not IDLE_TIME_US[0] <= idle_us <= IDLE_TIME_US[1]:
        least, most = IDLE_TIME_US
        tables.leave_unsaid("load_balancing", f"idle_time; SONiC takes whole us from {least} to {most}")
    else:
        own["flowlet_idle_time"] = str(idle_us)
    tables.put("ARS_PROFILE", _PROFILE, _profile(chosen, tables))
    tables.put("ARS_OBJECT", _OBJECT, own)


def _profile(chosen: LoadBalancing, tables: Tables) -> dict[str, str]:
    fields = {"algorithm": "ewma", "ars_nhg_path_selector_mode": "global", "default_ars_object": _OBJECT}
    if chosen.load_max_bytes > LARGEST_LOAD:
        tables.leave_unsaid("load_balancing", f"load_min and load_max; SONiC takes at most {LARGEST_LOAD:,}")
        return fields
    return fields | {
        "current_load_min_value": str(chosen.load_min_bytes),
        "current_load_max_value": str(chosen.load_max_bytes),
    }
