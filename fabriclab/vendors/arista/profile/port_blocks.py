"""What a port of an EOS switch says, in the words of the lab language."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from fabriclab.formats.classes import QUEUES
from fabriclab.lab.switch.queue_keys import SLOWEST_BPS
from fabriclab.units import format_duration, format_rate, format_size
from fabriclab.vendors.arista.profile.chip import Chip
from fabriclab.vendors.arista.profile.config_text import ConfigText
from fabriclab.vendors.arista.profile.qos import EosQos, PortQos, RandomDetect, Rate, TxQueue, Watchdog
from fabriclab.vendors.common.command_text import Command
from fabriclab.vendors.common.port_settings import PortSettings
from fabriclab.vendors.common.sourced_values import Block, Figure

_BYTES = {"bytes": 1, "kbytes": 1000, "mbytes": 1000**2}
_NS = {"microseconds": 1000, "milliseconds": 1000**2}
_STRICT = "default: strict priority"


class PortBlocks:
    """Makes the blocks of one switch's ports."""

    def __init__(self, config: ConfigText, qos: EosQos, chip: Chip, classes: Maps, notes: dict[str, None]) -> None:
        """`classes` are the maps that hold."""
        self._config = config
        self._chip = chip
        self._watchdog = qos.watchdog
        self._maps = classes
        self._notes = notes

    def settings(self, port: PortQos) -> PortSettings:
        """Return queues, priority groups and PFC."""
        no_drop = dict(sorted(port.no_drop.items())) if port.pfc is not None else {}
        if port.no_drop and port.pfc is None:
            self._notes[
                "priority-flow-control priority ... no-drop without priority-flow-control on: the port has no PFC"
            ] = None
        if no_drop and (self._chip.group is None or self._chip.lossless_group is None):
            command = next(iter(no_drop.values()))
            self._config.complain(
                command,
                f"profile {self._chip.name} has no lossless priority groups; take another --chip, such as trident-3",
            )
            no_drop = {}
        lossless = self._lossless_queues(no_drop)
        queues = {index: self._queue(index, port, lossless.get(index)) for index in range(QUEUES)}
        groups = {index: self._lossless_group(command) for index, command in no_drop.items()}
        return PortSettings(queues=queues, groups=groups, pfc=self._pfc(no_drop))

    def _lossless_queues(self, no_drop: Mapping[int, Command]) -> dict[int, Command]:
        """Return the queues of classes whose priority group is lossless."""
        pairs = zip(self._maps.tc_to_queue, self._maps.tc_to_group, strict=True)
        return {queue: no_drop[group] for queue, group in pairs if group in no_drop}

    def _queue(self, index: int, port: PortQos, lossless: Command | None) -> Block:
        queue = port.queues.get(index, TxQueue())
        block: dict[str, Figure | Block] = {}
        if lossless is not None:
            block.update(
                {
                    key: _from(value, lossless)
                    for key, value in self._chip.lossless_queue.items()
                    if isinstance(value, Figure)
                }
            )
        block.update(self._scheduler(index, port.queues))
        for key, rate in (("cir", queue.guaranteed), ("pir", queue.shape)):
            if rate is not None:
                block[key] = self._rate(rate)
        if queue.random_detect is not None:
            block["wred"] = self._wred(queue.random_detect)
        return block

    def _scheduler(self, index: int, queues: Mapping[int, TxQueue]) -> dict[str, Figure]:
        """Return strict, or DWRR for `no priority`; what is below a round-robin queue is one, too (manual,
        `priority (Trident)`)."""
        above = [number for number, queue in queues.items() if number >= index and queue.round_robin is not None]
        if not above:
            queue = queues.get(index, TxQueue())
            if queue.percent is not None:
                self._notes[
                    f"tx-queue {index}: bandwidth percent has no effect in a strict queue; write no priority"
                ] = None
            return {"scheduler": Figure("strict", _STRICT if queue.strict is None else _origin(queue.strict))}
        first = queues[min(above)].round_robin
        origin = "" if first is None else _origin(first)
        if index not in above:
            origin += f", of tx-queue {min(above)}: the queues below it share with it"
        return {"scheduler": Figure("dwrr", origin), "weight": self._weight(index, queues, max(_round_robin(queues)))}

    def _weight(self, index: int, queues: Mapping[int, TxQueue], highest: int) -> Figure:
        """Return the percentage of a queue; those without share what the others leave."""
        said = {
            number: queue.percent for number, queue in queues.items() if number <= highest and queue.percent is not None
        }
        if index in said:
            command = queues[index].percent_command
            return Figure(str(said[index]), "" if command is None else _origin(command))
        left = (100 - sum(said.values())) // (highest + 1 - len(said))
        return Figure(str(max(1, left)), "no bandwidth percent: a share of the remaining bandwidth")

    def _rate(self, rate: Rate) -> Figure:
        if rate.unit == "kbps":
            rate_bps = rate.value * 1000
        elif self._chip.port_rate_bps is None:
            self._config.complain(
                rate.command,
                f"a percentage of the port's rate, which profile {self._chip.name} does not give; write the rate "
                "in kbps",
            )
            rate_bps = SLOWEST_BPS
        else:
            rate_bps = self._chip.port_rate_bps * rate.value // 100
        if rate_bps < SLOWEST_BPS:
            self._config.complain(
                rate.command,
                f"{format_rate(rate_bps)} is below {format_rate(SLOWEST_BPS)}, the lowest rate that a lab's queue "
                "can be shaped to",
            )
        return Figure(format_rate(rate_bps), _origin(rate.command))

    def _wred(self, red: RandomDetect) -> Block:
        origin = _origin(red.command)
        low, high = (self._threshold(value, red) for value in (red.minimum, red.maximum))
        block = {
            "min": Figure(low, origin),
            "max": Figure(high, origin),
            "probability": Figure(f"{red.probability} %", origin),
        }
        if red.weight:
            block["weight"] = Figure(str(red.weight), origin)
        block["ecn"] = Figure("true" if red.kind == "ecn" else "false", origin)
        if red.kind == "ecn":
            block["non_ect"] = Figure("queue", "random-detect ecn marks packets that can be marked, and drops none")
        if red.probability < 100:
            self._notes["max-mark-probability below 100: a lab marks every frame from maximum-threshold on"] = None
        return block

    def _threshold(self, value: int, red: RandomDetect) -> str:
        if red.unit in _NS:
            return format_duration(value * _NS[red.unit])
        if red.unit != "segments":
            return format_size(value * _BYTES[red.unit])
        if self._chip.cell_bytes is None:
            self._config.complain(
                red.command,
                f"segments are the chip's cells, whose size profile {self._chip.name} does not give; write the size "
                "in kbytes",
            )
        else:
            self._notes[
                f"random-detect: a segment is taken as a cell of {self._chip.name}, {self._chip.cell_bytes} B"
            ] = None
        return format_size(value * (self._chip.cell_bytes or 1))

    def _lossless_group(self, command: Command) -> Block:
        chip = self._chip.lossless_group or {}
        return {key: _from(value, command) for key, value in chip.items() if isinstance(value, Figure)}

    def _pfc(self, no_drop: Mapping[int, Command]) -> Block:
        if not no_drop:
            return {}
        origin = "; ".join(_origin(command) for command in no_drop.values())
        return {
            "priorities": Figure(f"[{', '.join(map(str, no_drop))}]", origin),
            "watchdog": _watchdog(self._watchdog),
        }


class Maps:
    """Which class, queue and priority group a DSCP belongs to."""

    def __init__(self, tc_to_queue: Sequence[int], tc_to_group: Sequence[int]) -> None:
        """By traffic class."""
        self.tc_to_queue = tuple(tc_to_queue)
        self.tc_to_group = tuple(tc_to_group)


def _round_robin(queues: Mapping[int, TxQueue]) -> list[int]:
    return [number for number, queue in queues.items() if queue.round_robin is not None]


def _watchdog(watchdog: Watchdog | None) -> Figure | Block:
    if watchdog is None:
        return Figure("none", "no priority-flow-control pause watchdog default timeout")
    recovery_ns = watchdog.timeout_ns if watchdog.recovery_ns is None else watchdog.recovery_ns
    origin = _origin(watchdog.command)
    return {
        "detection": Figure(format_duration(watchdog.timeout_ns), origin),
        "restoration": Figure(format_duration(recovery_ns), origin),
    }


def _origin(command: Command) -> str:
    return f"line {command.line}: {command.text}"


def _from(figure: Figure, command: Command) -> Figure:
    return Figure(figure.text, f"{figure.origin}, for line {command.line}")
