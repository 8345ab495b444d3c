"""How a switch chooses among next hops of equal cost, as sysctls: those of Linux's hash, and our own
(`net/ipv4/load_balancing.c` of the machine's kernel)."""

from __future__ import annotations

import zlib

from fabriclab.formats.plan.load_balancing import LoadBalancing
from fabriclab.formats.plan.model import Plan
from fabriclab.formats.plan.node import Node

_HASH_SEED = "net.ipv4.fib_multipath_hash_seed"
_HASH_FIELDS = "net.ipv4.fib_multipath_hash_fields"
_CHOICE = "net.ipv4.load_balancing"


def compile_load_balancing_sysctl(node: Node, plan: Plan) -> list[tuple[str, str]]:
    """Return the settings of a switch's choice, pairs of key and value; none where it has no choice."""
    if plan.configured is None and not any(len(route.next_hops) > 1 for route in node.routes):
        return []
    chosen = node.load_balancing
    written = None if chosen is None else chosen.hash_seed
    seed = _own_number(node.name, plan.seed) if written is None else written
    settings = [(_HASH_SEED, str(seed))]
    if chosen is not None and chosen.hash_fields is not None:
        settings.append((_HASH_FIELDS, str(chosen.hash_fields)))
    if chosen is not None and chosen.mode != "flow":
        settings.append((_CHOICE, _words(node, chosen, seed, plan.seed)))
    return settings


def compile_end_of_choice(before: Node, after: Node) -> list[str]:
    """Return the line that lets a switch go back to the hash, which is what it has where nothing is written."""
    had, has = (one.load_balancing is not None and one.load_balancing.mode != "flow" for one in (before, after))
    return [f"{_CHOICE} = flow"] if had and not has else []


def without_choice(node: Node) -> Node:
    """Return the node with the hash alone, for containers: stock Linux has nothing else."""
    chosen = node.load_balancing
    return node if chosen is None else node.model_copy(update={"load_balancing": chosen.but_by_flow})


def _words(node: Node, chosen: LoadBalancing, hash_seed: int, seed: int) -> str:
    # Equal seeds of the hash are no equal draws: each switch has its own generator, in each run another.
    draws = _own_number(f"{node.name} draws {hash_seed}", seed)
    named = {
        "seed": draws,
        "idle_ns": chosen.idle_ns,
        "flows": chosen.max_flows,
        "load_min": chosen.load_min_bytes,
        "load_max": chosen.load_max_bytes,
    }
    return " ".join([chosen.mode, *(f"{word} {number}" for word, number in named.items())])


def _own_number(name: str, seed: int) -> int:
    """Return a number of 32 bits for a name in a run: equal seeds of the hash in a row of switches would polarise. 0
    means random to the kernel."""
    return zlib.crc32(f"{seed} {name}".encode()) or 1
