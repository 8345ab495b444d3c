"""What a plan says of a switch's shared buffer: its pools, which queues and priority groups they belong to, what each may take.

Parameters are parts of a plan's JSON (`fabriclab.formats.plan.node`, `fabriclab.formats.plan.switch`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

Node = Mapping[str, Any]


class Limit(NamedTuple):
    """The most that one queue or group gets, and what it is called."""

    bytes: int
    name: str


@dataclass(frozen=True)
class Member:
    """A queue or a priority group of a switch's port and its account."""

    port: str
    kind: str
    """`queue` or `group`."""
    index: int
    account: Mapping[str, Any]


def members(node: Node, pool: str) -> Iterator[Member]:
    """Yield the queues and priority groups that take their memory from a pool."""
    for port in node["ports"]:
        name, switch_port = f"{node['name']}:{port['interface']}", port["switch_port"] or {}
        for kind, words in (("queue", "queues"), ("group", "groups")):
            for each in switch_port.get(words, ()):
                if each["account"]["pool"] == pool:
                    yield Member(name, kind, each["index"], each["account"])


def shared_bytes(node: Node, pool: str) -> int:
    """Return what of a pool is not reserved for anyone."""
    sizes = {each["name"]: each["size_bytes"] for each in node["switch"]["pools"]}
    reserved = sum(int(member.account["reserved_bytes"]) for member in members(node, pool))
    return max(int(sizes[pool]) - reserved, 0)


def alpha(account: Mapping[str, Any]) -> float | None:
    """Return the factor of a dynamic limit, None of a static one."""
    return None if account["alpha_log"] is None else 2.0 ** account["alpha_log"]


def queue_limit(node: Node, account: Mapping[str, Any]) -> Limit | None:
    """Return what an account can get while no other one takes anything of its pool, the reserved bytes included; None: nothing bounds it.

    Of a dynamic limit that is alpha B / (1 + alpha) of the B shared bytes (Choudhury and Hahne 1998), for the threshold falls as it grows.
    """
    reserved, static, pool = account["reserved_bytes"], account["limit_bytes"], account["pool"]
    if pool is None:
        return None if static is None else Limit(reserved + static, "limit")
    shared = shared_bytes(node, pool)
    factor = alpha(account)
    if factor is not None:
        return Limit(reserved + int(shared * factor / (1 + factor)), "alone at most")
    if static is None or static >= shared:
        return Limit(reserved + shared, "pool")
    return Limit(reserved + static, "limit")


def alpha_text(factor: float) -> str:
    """Return a factor as people write it: 4, 1, 1/8."""
    return f"{factor:g}" if factor >= 1 else f"1/{1 / factor:g}"
