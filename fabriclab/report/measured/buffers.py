"""What a plan says of a switch's shared buffer: its pools, which queues and priority groups they belong
to, what each may take."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from fabriclab.formats.plan.node import Node
from fabriclab.formats.plan.switch import Account, Pool, SwitchQueue


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
    account: Account
    policy: str | None = None
    """By which a queue shares its pool, such as `abm`; None: by the account alone."""


def members(node: Node, pool: str) -> Iterator[Member]:
    """Yield the queues and priority groups that take their memory from a pool."""
    for port in node.ports:
        if port.switch_port is None:
            continue
        for kind, parts in (("queue", port.switch_port.queues), ("group", port.switch_port.groups)):
            for each in parts:
                if each.account.pool == pool:
                    sharing = each.sharing if isinstance(each, SwitchQueue) else None
                    policy = None if sharing is None else sharing.policy
                    yield Member(f"{node.name}:{port.interface}", kind, each.index, each.account, policy)


def shared_bytes(node: Node, pool: str) -> int:
    """Return what of a pool is not reserved for anyone."""
    reserved = sum(member.account.reserved_bytes for member in members(node, pool))
    return max(pool_of(node, pool).size_bytes - reserved, 0)


def pool_of(node: Node, name: str) -> Pool:
    """Return the pool of that name. Raises KeyError for a switch that has none such."""
    for pool in () if node.switch is None else node.switch.pools:
        if pool.name == name:
            return pool
    raise KeyError(f"{node.name}:{name}")


def alpha(account: Account) -> float | None:
    """Return the factor of a dynamic limit, None of a static one."""
    return None if account.alpha_log is None else 2.0**account.alpha_log


def queue_limit(node: Node, account: Account) -> Limit | None:
    """Return what an account can get while no other one takes anything of its pool, the reserved bytes included; None:
    nothing bounds it.

    Of a dynamic limit that is alpha B / (1 + alpha) of the B shared bytes (Choudhury and Hahne 1998), for the threshold
    falls as it grows.
    """
    reserved, static, pool = account.reserved_bytes, account.limit_bytes, account.pool
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
