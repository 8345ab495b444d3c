"""A switch's packet memory over time: who holds it, how much is free, and what that leaves for the next queue."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import polars as pl

from fabriclab.formats.plan.node import Node
from fabriclab.report.drawing.chart_parts import closed, event_marks, stack, steps_series, time_axis
from fabriclab.report.drawing.charts import Chart, ChartAxis, ChartMark, ChartPanel, ChartSeries
from fabriclab.report.drawing.curves import Curve, shown_interval
from fabriclab.report.drawing.exhibits import Picture
from fabriclab.report.drawing.style import DASHES, INK, MUTED, WARNING, ramp
from fabriclab.report.measured.buffers import Member, alpha, alpha_text, members, pool_of, shared_bytes
from fabriclab.report.measured.quantities import Axis, axis_for, format_metric, format_share
from fabriclab.report.measured.series import integral_at, read_steps
from fabriclab.results import Results

Array = npt.NDArray[np.float64]
MOST_STACKED = 6
"""Queues and groups that have a colour of their own; the others are one."""
MOST_THRESHOLDS = 2
_BINS = 300


@dataclass(frozen=True)
class Memory:
    """A pool of a switch: its rows, and the accounts that are charged to it."""

    node: Node
    name: str
    rows: pl.LazyFrame
    watermark: int
    headroom_watermark: int

    @property
    def shared(self) -> int:
        """Bytes that are not reserved for anyone."""
        return shared_bytes(self.node, self.name)

    @property
    def headroom_size(self) -> int:
        """Bytes of headroom that its groups share; 0: each has its own."""
        return pool_of(self.node, self.name).headroom_bytes


@dataclass(frozen=True)
class Layer:
    """What one account, or several, held of a pool beyond the reserved part: the mean in each bin, bytes."""

    label: str
    held: Array


def buffer_picture(curve: Curve, switch: str | None = None) -> Picture | None:
    """Return the memory of a switch, by default of the one that was fullest, over time;
    None where none was sampled or used."""
    pools = _used_pools(curve.results, switch)
    if not pools:
        return None
    begin, end = shown_interval(curve.results)
    headrooms = [pool for pool in pools if pool.headroom_watermark]
    time = axis_for("ns", [end])
    panels = [_pool_panel(curve.results, pool, begin, end) for pool in pools]
    panels += [_headroom_panel(pool, begin, end) for pool in headrooms]
    horizontal, events = time_axis(time, begin, end), event_marks(curve.results, time, begin, end)
    chart = Chart(
        tuple(replace(panel, x=horizontal, events=events) for panel in panels),
        linked=True,
        height_in=0.5 + 2.3 * len(pools) + 1.1 * len(headrooms),
        has_own_legends=True,
    )
    caption = f"{curve.label}: {'; '.join(_describe(pool) for pool in pools)}.{_explain(pools)}"
    return Picture(f"Buffer of {pools[0].node.name} over time", caption, chart)


def _used_pools(results: Results, switch: str | None) -> list[Memory]:
    """Return the pools of one switch that something was in."""
    if results.switches.pools is None:
        return []
    most = results.switches.pools.group_by("switch", "pool").agg(
        pl.col("watermark_bytes", "headroom_watermark_bytes").max().fill_null(0),
        pl.col("size_bytes").max().alias("size"),
    )
    found = {(row["switch"], row["pool"]): row for row in most.collect(engine="streaming").iter_rows(named=True)}
    fullest = max(
        found.values(), key=lambda row: (row["watermark_bytes"] / max(row["size"] or 0, 1), row["switch"]), default=None
    )
    wanted = switch if any(name == switch for name, _ in found) else (fullest or {}).get("switch")
    nodes = [node for node in results.plan.nodes if node.name == wanted]
    pools = [
        Memory(
            node,
            pool.name,
            results.switches.pools.filter((pl.col("switch") == node.name) & (pl.col("pool") == index)),
            found[wanted, index]["watermark_bytes"],
            found[wanted, index]["headroom_watermark_bytes"],
        )
        for node in nodes
        if node.switch is not None
        for index, pool in enumerate(node.switch.pools)
        if (wanted, index) in found
    ]
    return [pool for pool in pools if pool.watermark or pool.headroom_watermark]


def _pool_panel(results: Results, pool: Memory, begin: int, end: int) -> ChartPanel:
    """Return who holds how much upon each other, what is in use in all, and the limits."""
    edges = np.linspace(begin, max(end, begin + 1), _BINS + 1)
    layers = _layers(results, pool, edges)
    used = read_steps(pool.rows, "used_bytes", begin, end, most=2 * _BINS - 1)
    highest = max(
        [
            float(used.high.max()) if len(used.high) else 0.0,
            float(sum((layer.held for layer in layers), np.zeros(1)).max()),
            1.0,
        ]
    )
    reach = max(highest, pool.shared if pool.shared <= 3 * highest else 0.0)
    axis, time = axis_for("bytes", [reach]), axis_for("ns", [end])
    top = 1.16 * reach / axis.scale
    held = {layer.label: layer.held / axis.scale for layer in layers}
    colors = [
        MUTED if name == "others" else color for name, color in zip(held, [*ramp(MOST_STACKED), MUTED], strict=False)
    ]
    series = stack(edges / time.scale, held, colors, area=0.55)
    if len(used.time_ns):
        series.append(replace(steps_series(used, "in use", INK, time, axis, width=1.0), area=0.15 * used.is_envelope))
    series += _thresholds(pool, edges, axis, time, top)
    levels: tuple[ChartMark, ...] = ()
    if pool.shared <= 3 * highest:
        levels = (ChartMark(f"{pool.name} {format_metric('_bytes', pool.shared)}", pool.shared / axis.scale),)
    vertical = ChartAxis(f"Pool {pool.name}", axis.unit, low=0, high=top, whole=axis.unit == "B")
    return ChartPanel(time_axis(time, begin, end), vertical, tuple(series), levels=levels, height=2.0)


def _thresholds(pool: Memory, edges: Array, axis: Axis, time: Axis, top: float) -> Iterator[ChartSeries]:
    """Yield the dynamic limit, alpha x free, of the accounts with the smallest alphas, those that meet it first,
    where it is below `top`."""
    alphas = sorted(
        {factor for member in members(pool.node, pool.name) if (factor := alpha(member.account)) is not None}
    )
    used = _bin_means(
        pool.rows.select("time_ns", pl.col("used_bytes").alias("bytes")).drop_nulls().collect(engine="streaming"), edges
    )
    for factor, dash in zip(alphas[:MOST_THRESHOLDS], DASHES[1:], strict=False):
        limit = closed(factor * np.maximum(pool.shared - used, 0)) / axis.scale
        limit[limit > top] = np.nan  # what leaves the picture and comes back would hatch it
        if not np.isnan(limit).all():
            label = f"dynamic limit, {alpha_text(factor)} x free"
            yield ChartSeries(label, INK, edges / time.scale, limit, dash=dash, steps=True, width=1.1)


def _headroom_panel(pool: Memory, begin: int, end: int) -> ChartPanel:
    steps = read_steps(pool.rows, "headroom_bytes", begin, end)
    bounded = 0 < pool.headroom_size <= 3 * pool.headroom_watermark
    reach = float(max(pool.headroom_watermark, pool.headroom_size if bounded else 0))
    axis, time = axis_for("bytes", [reach]), axis_for("ns", [end])
    highest = replace(steps, mean=steps.high, is_envelope=False)
    series = replace(steps_series(highest, "headroom", WARNING, time, axis, width=1.0), area=0.35)
    levels: tuple[ChartMark, ...] = ()
    if bounded:
        name = f"headroom {format_metric('_bytes', pool.headroom_size)}"
        levels = (ChartMark(name, pool.headroom_size / axis.scale),)
    vertical = ChartAxis("Headroom", axis.unit, low=0, high=1.25 * reach / axis.scale)
    return ChartPanel(time_axis(time, begin, end), vertical, (series,), levels=levels)


def _layers(results: Results, pool: Memory, edges: Array) -> list[Layer]:
    """Return what each account held, the largest first, those beyond MOST_STACKED together; none of what was empty."""
    layers = [Layer(_label(member), held) for member, held in _held(results, pool, edges) if held.max() > 0]
    layers.sort(key=lambda layer: -float(layer.held.mean()))
    rest = layers[MOST_STACKED:]
    return layers[:MOST_STACKED] + (
        [Layer("others", sum((layer.held for layer in rest), np.zeros(_BINS)))] if rest else []
    )


def _held(results: Results, pool: Memory, edges: Array) -> Iterator[tuple[Member, Array]]:
    of_switch = pl.col("port").str.starts_with(f"{pool.node.name}:")
    # A group's bytes are those in its headroom, too, which is not part of the pool's.
    tables = {
        "queue": (results.switches.queues, pl.col("bytes")),
        "group": (results.switches.groups, pl.col("bytes") - pl.col("headroom_bytes")),
    }
    rows = {
        kind: table.filter(of_switch)
        .select("time_ns", "port", kind, held.alias("bytes"))
        .drop_nulls()
        .collect(engine="streaming")
        for kind, (table, held) in tables.items()
        if table is not None
    }
    parts = {kind: table.partition_by("port", kind, as_dict=True, maintain_order=True) for kind, table in rows.items()}
    for member in members(pool.node, pool.name):
        found = parts.get(member.kind, {}).get((member.port, member.index))
        if found is not None:
            beyond = (pl.col("bytes") - member.account.reserved_bytes).clip(lower_bound=0)
            yield member, _bin_means(found.with_columns(beyond), edges)


def _bin_means(rows: pl.DataFrame, edges: Array) -> Array:
    """Return the mean of `bytes`, a step function, between the edges; 0 before its first row."""
    if rows.is_empty():
        return np.zeros(len(edges) - 1)
    times, values = rows["time_ns"].cast(pl.Float64).to_numpy(), rows["bytes"].cast(pl.Float64).to_numpy()
    if times[0] > edges[0]:
        times, values = np.insert(times, 0, edges[0]), np.insert(values, 0, 0.0)
    means: Array = np.diff(integral_at(times, values, edges)) / np.diff(edges)
    return means


def _label(member: Member) -> str:
    return f"{member.port}, {member.kind} {member.index}"


def _explain(pools: Sequence[Memory]) -> str:
    dynamic = [one for pool in pools for one in members(pool.node, pool.name) if alpha(one.account) is not None]
    if not dynamic:
        return ""
    said = " A queue or group with a dynamic limit may hold alpha times the pool's free memory."
    policies = sorted({member.policy for member in dynamic if member.policy is not None})
    if policies:
        said += f" Queues that share by {', '.join(policies)} have another threshold, which is not drawn."
    return said


def _describe(pool: Memory) -> str:
    size = format_metric("_bytes", pool.shared)
    text = f"pool {pool.name} held at most {format_metric('_bytes', pool.watermark)} of {size}"
    text += f" ({format_share(pool.watermark / pool.shared)})" if pool.shared else ""
    if pool.headroom_watermark:
        of = f" of {format_metric('_bytes', pool.headroom_size)}" if pool.headroom_size else ""
        text += f", and its groups' headroom at most {format_metric('_bytes', pool.headroom_watermark)}{of}"
    return text
