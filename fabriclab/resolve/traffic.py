"""The traffic of the plan: each piece as the lab has it, in the plan's own words.

What was written is resolved by then (names, groups, the interval of a load): a written kind and the plan's have the
same fields.
"""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from typing import Any

from fabriclab.formats.plan.traffic import (
    ArrivalsTraffic,
    FlowsTraffic,
    Iperf3Traffic,
    LongTraffic,
    QueryTraffic,
    RoundsTraffic,
    ShuffleTraffic,
    TraceTraffic,
    Traffic,
)
from fabriclab.lab.traffic import (
    WrittenArrivalsTraffic,
    WrittenFlows,
    WrittenIperf3,
    WrittenLong,
    WrittenQuery,
    WrittenRounds,
    WrittenShuffle,
    WrittenTrace,
    WrittenTraffic,
)

_KINDS: dict[type[WrittenTraffic], type[Traffic]] = {
    WrittenRounds: RoundsTraffic,
    WrittenLong: LongTraffic,
    WrittenFlows: FlowsTraffic,
    WrittenArrivalsTraffic: ArrivalsTraffic,
    WrittenQuery: QueryTraffic,
    WrittenShuffle: ShuffleTraffic,
    WrittenIperf3: Iperf3Traffic,
    WrittenTrace: TraceTraffic,
}


def resolve_traffic(written: WrittenTraffic) -> Traffic:
    """Return a piece of traffic with every default explicit."""
    return _KINDS[type(written)](**_values(written))


def _values(record: Any) -> dict[str, Any]:
    """Return a record's fields by name, records in it likewise."""
    values = {field.name: getattr(record, field.name) for field in fields(record)}
    return {name: _values(value) if is_dataclass(value) else value for name, value in values.items()}
