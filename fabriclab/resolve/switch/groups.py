"""Priority groups of a switch's port: their accounts, and the thresholds of those that are lossless."""

from __future__ import annotations

from fabriclab.formats.plan.switch import Account, Lossless, Pfc, PriorityGroup
from fabriclab.lab.reading.problems import Problems
from fabriclab.lab.reading.section import Written
from fabriclab.lab.switch.written import WrittenGroup, WrittenSwitch
from fabriclab.resolve.switch.accounts import ALPHA_LOG, AccountResolver
from fabriclab.resolve.switch.headroom import Line, cells, headroom_bytes
from fabriclab.resolve.switch.notes import Notes, size
from fabriclab.resolve.switch.scale import Scale
from fabriclab.units import format_duration, format_rate

XON_OFFSET_FRAMES = 3
"""Trident 3's 4,608 B in SONiC's pg_profile_lookup.ini, 18 of its cells, are three full frames."""


class GroupResolver:
    """Resolves the groups of one switch."""

    def __init__(
        self,
        written: WrittenSwitch,
        scale: Scale,
        notes: Notes,
        cell_bytes: int,
        first_pool: str | None,
        pfc: Pfc | None,
        problems: Problems,
    ) -> None:
        """`first_pool` is where a group takes from of which nothing is written."""
        self._written = written
        self._scale = scale
        self._notes = notes
        self._cell_bytes = cell_bytes
        self._default = Account(pool=first_pool, alpha_log=ALPHA_LOG)
        self._priorities = 1 if pfc is None else len(pfc.priorities)
        self._problems = problems

    def resolve(self, line: Line) -> tuple[PriorityGroup, ...]:
        """Return the groups that are written, by number, at a port's line."""
        return tuple(self._group(index, group, line) for index, group in sorted(self._written.buffer.groups.items()))

    def _group(self, index: int, written: WrittenGroup, line: Line) -> PriorityGroup:
        accounts = AccountResolver(self._scale, self._cell_bytes, self._written, self._problems)
        lossless = written.lossless is not None and written.lossless.value
        return PriorityGroup(
            index=index,
            account=accounts.resolve("priority group", index, written.account, line, self._default),
            lossless=self._lossless(index, written, line) if lossless else None,
        )

    def _lossless(self, index: int, written: WrittenGroup, line: Line) -> Lossless:
        rate_bps, frame_bytes = line.in_rate_bps, line.frame_bytes
        xon = offset = 0
        if written.xon is not None:
            xon = self._scale.port_bytes("priority group", index, "xon", written.xon, rate_bps, frame_bytes)
        if written.xon_offset is not None:
            offset = self._scale.port_bytes(
                "priority group", index, "xon_offset", written.xon_offset, rate_bps, frame_bytes
            )
        elif written.xon is None:
            offset = XON_OFFSET_FRAMES * cells(frame_bytes, self._cell_bytes) * self._cell_bytes
        return Lossless(
            headroom_bytes=self._headroom(index, written.headroom, line), xon_bytes=xon, xon_offset_bytes=offset
        )

    def _headroom(self, index: int, written: Written[int | None] | None, line: Line) -> int:
        needed = headroom_bytes(line, self._cell_bytes, self._priorities)
        if written is not None and written.value is not None:
            chosen = Written(written.value, written.key, written.text, written.place)
            # Cable and frames are as long as they are: what is scaled down must still hold what comes after the pause.
            return self._scale.port_bytes("priority group", index, "headroom", chosen, line.in_rate_bps, needed)
        delay_ns = line.out_delay_ns + line.in_delay_ns
        cable = f"{format_rate(line.in_rate_bps)}, cable both ways {format_duration(delay_ns)}, MTU {line.mtu}"
        reaction = f", reaction {format_duration(line.reaction_ns)}" if line.reaction_ns else ""
        self._notes.add("priority group", index, f"headroom computed for {cable}{reaction}: {size(needed)}")
        return needed
