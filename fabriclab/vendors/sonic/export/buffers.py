"""BUFFER_POOL, BUFFER_PROFILE, BUFFER_PG, BUFFER_QUEUE: the reverse of `read/accounts.py`,
where the counting is explained."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from fabriclab.formats.plan.switch import Account, Lossless, Pool, Switch, SwitchPort
from fabriclab.vendors.sonic.export.tables import Names, Tables, index_keys
from fabriclab.vendors.sonic.read.accounts import UNSHARED, Side


@dataclass(frozen=True)
class _Profile:
    """What makes two profiles one."""

    side: Side
    account: Account
    lossless: Lossless | None
    trims: bool
    wish: str
    """The name that it would like to have."""

    @property
    def pool(self) -> str:
        """The pool's name in CONFIG_DB, in which everything has one."""
        return self.account.pool or UNSHARED[self.side]


@dataclass(frozen=True)
class _Binding:
    """A queue or a priority group of a port."""

    table: str
    port: str
    index: int
    profile: _Profile


def write_buffers(switch: Switch, ports: Mapping[str, SwitchPort], cables: Mapping[str, str], tables: Tables) -> None:
    """Write the four tables.

    `ports` have SONiC's names; `cables` is each one's speed and cable as the names of lossless profiles have them:
    `40000_5m`.
    """
    bindings = [binding for name, port in ports.items() for binding in _bindings(name, port, cables[name])]
    if switch.cell_bytes != 1:
        tables.leave_unsaid("memory", f"cells of {switch.cell_bytes} B")
    _write_pools(switch.pools, bindings, tables)
    names: Names[_Profile] = Names()
    used: dict[tuple[str, str, str], list[int]] = {}
    for binding in bindings:
        name, is_new = names.of(binding.profile, binding.profile.wish)
        if is_new:
            tables.put("BUFFER_PROFILE", name, _profile_fields(binding.profile, switch.pools, tables))
        used.setdefault((binding.table, binding.port, name), []).append(binding.index)
    for (table, port, name), numbers in used.items():
        for key in index_keys(numbers):
            tables.put(table, f"{port}|{key}", {"profile": name})


def _bindings(name: str, port: SwitchPort, cable: str) -> Iterator[_Binding]:
    for group in port.groups:
        wish = "ingress_lossy_profile" if group.lossless is None else f"pg_lossless_{cable}_profile"
        yield _Binding("BUFFER_PG", name, group.index, _Profile("ingress", group.account, group.lossless, False, wish))
    paused = set() if port.pfc is None else {port.maps.priority_to_queue[priority] for priority in port.pfc.priorities}
    for queue in port.queues:
        wish = f"egress_{'lossless' if queue.index in paused else 'lossy'}_profile"
        yield _Binding("BUFFER_QUEUE", name, queue.index, _Profile("egress", queue.account, None, queue.trims, wish))


def _write_pools(pools: Sequence[Pool], bindings: Sequence[_Binding], tables: Tables) -> None:
    memory_bytes = 0
    for pool in pools:
        users = [binding.profile for binding in bindings if binding.profile.pool == pool.name]
        sides = {profile.side for profile in users}
        kind = "both" if len(sides) > 1 else next(iter(sides), "ingress" if pool.headroom_bytes else "egress")
        own = (
            0
            if pool.headroom_bytes
            else sum(profile.lossless.headroom_bytes for profile in users if profile.lossless is not None)
        )
        size_bytes = pool.size_bytes + pool.headroom_bytes + own
        memory_bytes += 0 if kind == "egress" else size_bytes
        _write_pool(pool.name, kind, users, size_bytes, pool.headroom_bytes, tables)
        if kind == "both":
            message = (
                "queues and groups take from it, so the lab counts a frame at both; SONiC counts it once in a pool of "
                "type both"
            )
            tables.leave_unsaid(f"pool {pool.name}", message)
        if kind == "egress" and pool.headroom_bytes:
            tables.leave_unsaid(f"pool {pool.name}", "headroom of a pool that no priority group takes from")
    for name in UNSHARED.values():
        users = [binding.profile for binding in bindings if binding.profile.pool == name]
        if users:
            # As much as all of them take; where that is more than what frames come in to, no more than the largest
            # needs.
            needed, largest = sum(map(_most_bytes, users)), max(map(_most_bytes, users))
            _write_pool(name, users[0].side, users, max(largest, min(needed, memory_bytes or needed)), 0, tables)


def _write_pool(
    name: str, kind: str, users: Sequence[_Profile], size_bytes: int, xoff_bytes: int, tables: Tables
) -> None:
    is_dynamic = any(profile.account.alpha_log is not None for profile in users)
    fields = {"type": kind, "mode": "dynamic" if is_dynamic else "static", "size": str(size_bytes)}
    tables.put("BUFFER_POOL", name, {**fields, "xoff": str(xoff_bytes)} if xoff_bytes else fields)


def _most_bytes(profile: _Profile) -> int:
    """Return the most that a queue or a group with memory of its own takes."""
    headroom = 0 if profile.lossless is None else profile.lossless.headroom_bytes
    return profile.account.reserved_bytes + headroom + (profile.account.limit_bytes or 0)


def _profile_fields(profile: _Profile, pools: Sequence[Pool], tables: Tables) -> dict[str, str]:
    account, lossless = profile.account, profile.lossless
    shares_headroom = any(pool.name == profile.pool and pool.headroom_bytes for pool in pools)
    own = lossless.headroom_bytes if lossless is not None and not shares_headroom else 0
    fields = {"pool": profile.pool, "size": str(account.reserved_bytes + own)}
    if account.alpha_log is not None:
        fields["dynamic_th"] = str(account.alpha_log)
    else:
        if account.limit_bytes == 0:
            tables.leave_unsaid(
                profile.wish, "no memory beyond the reserved bytes; static_th 0 means no limit, so 1 byte is written"
            )
        fields["static_th"] = str(0 if account.limit_bytes is None else max(1, account.limit_bytes))
    if lossless is not None:
        fields["xon"], fields["xoff"] = str(lossless.xon_bytes), str(lossless.headroom_bytes)
        fields["xon_offset"] = str(lossless.xon_offset_bytes)
    if profile.trims:
        fields["packet_discard_action"] = "trim"
    return fields
