"""A profile's figures at the rates of the lab.

A buffer is about time: at half the rate, half the bytes last as long as on the real switch. What is written in the
profile's file is scaled; what the experiment says is meant. Cells, weights, alpha and times stay. Frames stay as large
as they are, too, so that what must hold one does, however small the factor.
"""

from __future__ import annotations

from fractions import Fraction

from fabriclab.lab.reading.section import Written
from fabriclab.lab.switch.written import WrittenSwitch
from fabriclab.resolve.switch.headroom import cells
from fabriclab.resolve.switch.notes import Notes, size
from fabriclab.units import format_rate


class Scale:
    """Scales the figures of one switch, and notes each."""

    def __init__(self, written: WrittenSwitch, bandwidth_bps: int, notes: Notes) -> None:
        """`bandwidth_bps` is the sum of the rates of the switch's ports in the lab."""
        self._written = written
        self._bandwidth_bps = bandwidth_bps
        self._notes = notes

    def pool_bytes(self, name: str, written: Written[int], cell_bytes: int, frame_bytes: int) -> int:
        """Return a pool's size, whole cells; a pool that is scaled holds at least a frame."""
        least = cells(frame_bytes, cell_bytes) * cell_bytes
        factor, words = self._pool_factor(written)
        wanted = int(written.value * factor)
        if words:
            wanted = self._noted(f"pool {name}", None, f"{size(written.value)} x {words}", written.value, wanted, least)
        whole = wanted // cell_bytes * cell_bytes
        if whole != wanted:
            self._notes.add(f"pool {name}", None, f"in whole cells of {cell_bytes} B: {whole} B")
        return whole

    def pool_headroom_bytes(
        self, name: str, written: Written[int], cell_bytes: int, least: int, raised: Fraction
    ) -> int:
        """Return the headroom that a pool's groups share, whole cells.

        Where it is scaled it is one group's (`least`) at least, and raised as the groups' own were, which hang on cable
        and frames: so it is oversubscribed as on the real switch.
        """
        factor, words = self._pool_factor(written)
        if not words:
            return written.value // cell_bytes * cell_bytes
        value = int(written.value * factor)
        kept = max(int(written.value * factor * raised), least) // cell_bytes * cell_bytes
        more = "" if kept <= value else f", raised to {size(kept)} like the headroom of its groups"
        self._notes.add(f"pool {name} headroom", None, f"{size(written.value)} x {words} = {size(value)}{more}")
        return kept

    def scaled(self, written: Written[int], rate_bps: int) -> Fraction:
        """Return a figure of a port before anything is made to fit."""
        return written.value * self._port_factor(written, rate_bps)[0]

    def port_bytes(
        self, noun: str, number: int, field: str, written: Written[int], rate_bps: int, least: int = 0
    ) -> int:
        """Return a size of a queue or a group; what is scaled is not made smaller than `least`."""
        factor, words = self._port_factor(written, rate_bps)
        value = int(written.value * factor)
        return (
            self._noted(noun, number, f"{field}: {size(written.value)} x {words}", written.value, value, least)
            if words
            else value
        )

    def reserved_bytes(self, noun: str, number: int, written: Written[int], rate_bps: int, cell_bytes: int) -> int:
        """Return reserved bytes; those that are scaled in whole cells, so that their sum fits the pool
        that is scaled likewise."""
        factor, words = self._port_factor(written, rate_bps)
        if not words:
            return written.value
        value = int(written.value * factor) // cell_bytes * cell_bytes
        cells = f" in whole cells of {cell_bytes} B" if cell_bytes > 1 else ""
        self._notes.add(noun, number, f"reserved: {size(written.value)} x {words} = {size(value)}{cells}")
        return value

    def port_rate_bps(self, noun: str, number: int, field: str, written: Written[int], rate_bps: int) -> int:
        """Return a rate of a queue."""
        factor, words = self._port_factor(written, rate_bps)
        value = int(written.value * factor)
        if words:
            self._notes.add(noun, number, f"{field}: {format_rate(written.value)} x {words} = {format_rate(value, 4)}")
        return value

    def _pool_factor(self, written: Written[int]) -> tuple[Fraction, str]:
        profile = self._written.profile
        return self._factor(written, self._bandwidth_bps, None if profile is None else profile.bandwidth)

    def _port_factor(self, written: Written[int], rate_bps: int) -> tuple[Fraction, str]:
        profile = self._written.profile
        return self._factor(written, rate_bps, None if profile is None else profile.port_rate)

    def _factor(self, written: Written[int], rate_bps: int, of: Written[int] | None) -> tuple[Fraction, str]:
        """Return the factor and how it is said; no words where nothing is scaled."""
        if self._written.scale == "none" or not self._written.file or written.place.file != self._written.file:
            return Fraction(1), ""
        if isinstance(self._written.scale, Fraction):
            return self._written.scale, str(self._written.scale)
        if of is None or of.value == rate_bps:
            return Fraction(1), ""
        return Fraction(rate_bps, of.value), f"{format_rate(rate_bps)} / {format_rate(of.value)}"

    def _noted(self, noun: str, number: int | None, product: str, before: int, value: int, least: int) -> int:
        kept = max(value, min(before, least))
        more = "" if kept == value else f", raised to {size(kept)}, which must fit"
        self._notes.add(noun, number, f"{product} = {size(value)}{more}")
        return kept
