"""Run directories of a lab whose switch has a shared buffer, from a simple model:
five servers answer one client, a burst every 20 ms."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from synthetic_run import FLOW_HEADER, MS, TRACE_HEADER, write_run, write_sweep

from fabriclab.formats.switch_logs import SWITCH_TABLES, TRIMMING

SERVERS = 5
CLIENT = f"s1:eth{SERVERS + 1}"
BURSTS = 10
PERIOD = 20 * MS
QUEUE = 3
PRIORITIES = (3, 4)


@dataclass(frozen=True)
class Variant:
    """What the switch is, and what it does in each burst."""

    pool: int
    ecn: bool = False
    pfc: bool = False
    deep: bool = False

    @property
    def peak(self) -> int:
        """Longest queue of a burst, bytes."""
        if self.deep:
            return 1_900_000
        return 140_000 if self.ecn else self.pool // 2


VARIANTS = {
    "deep": Variant(40_000_000, deep=True),
    "shallow": Variant(640_000),
    "shallow-ecn": Variant(640_000, ecn=True),
    "shallow-ecn-pfc": Variant(640_000, ecn=True, pfc=True),
    "shallow-pfc": Variant(640_000, pfc=True),
}


@dataclass
class Log:
    """The rows of the five files."""

    rows: dict[str, list[str]] = field(default_factory=lambda: {table: [] for table in SWITCH_TABLES})

    def add(self, table: str, **values: int | str | None) -> None:
        """Append a row; what is not given is 0."""
        columns = SWITCH_TABLES[table].columns
        assert set(values) <= set(columns), set(values) - set(columns)
        self.rows[table].append(
            ",".join("" if values.get(name, 0) is None else str(values.get(name, 0)) for name in columns) + "\n"
        )

    def files(self) -> dict[str, str]:
        """The files by their paths in a run directory."""
        heads = {table: kind.head for table, kind in SWITCH_TABLES.items()}
        written = {table: rows for table, rows in self.rows.items() if rows or table != TRIMMING.name}
        return {f"raw/{table}.csv": heads[table] + "".join(rows) for table, rows in written.items()}


def switch_plan(name: str = "shallow", **extra: Any) -> dict[str, Any]:
    """A plan with one switch of a profile, a NIC that honours PFC at each host."""
    variant = VARIANTS[name]
    hosts = [f"h{number}" for number in range(1, SERVERS + 1)] + ["client"]
    nodes: list[dict[str, Any]] = [_host(host, number, variant) for number, host in enumerate(hosts, 1)]
    ports = [_port(f"eth{number}", host, "eth1", _switch_port(variant)) for number, host in enumerate(hosts, 1)]
    pools = [{"name": "shared", "size_bytes": variant.pool, "headroom_bytes": 0}]
    pools += [{"name": "ingress", "size_bytes": variant.pool, "headroom_bytes": 100_000}] if variant.pfc else []
    notes = ["pools.shared: 32 MB x 6 Gbps / 3.2 Tbps"]
    switch = {"profile": "trident-3", "title": "Trident 3", "cell_bytes": 256, "pools": pools, "notes": notes}
    nodes.append({"name": "s1", "role": "switch", "ports": ports, "switch": switch, "transport": None})
    traffic = {
        "kind": "shuffle",
        "name": "job",
        "mappers": hosts[:-1],
        "reducers": ["client"],
        "size_bytes": 10_000_000,
        "start_ns": 0,
    }
    probes: dict[str, Any] = {
        "queue_interval_ns": None,
        "queue_ports": [],
        "tcp_interval_ns": None,
        "tcp_classes": [],
        "interface_interval_ns": None,
    }
    probes |= {
        "switch_interval_ns": MS,
        "switch_ports": [f"s1:eth{number}" for number in range(1, SERVERS + 2)] + ["h1:eth1"],
    }
    parameters = {"variant": name, "background": False}
    base: dict[str, Any] = {
        "format": "fabriclab-plan-1",
        "lab": "buffers",
        "title": "Deep or shallow buffers",
        "study": "S0",
        "seed": 1,
        "limit_ns": 60_000 * MS,
    }
    base |= {
        "nodes": nodes,
        "traffic": [traffic],
        "probes": probes,
        "settings": parameters,
        "parameters": parameters,
        "checks": [],
    }
    return base | {"warnings": []} | extra


def trimming_run(run_dir: Path) -> Path:
    """A run of a switch that trims: 2 packets of queue 0 and 39 of queue 3, 100 bytes each, once the traffic began."""
    log = Log()
    for queue, packets in ((0, 3), (3, 40)):
        log.add("trimming", time_ns=0, port="s1:eth1", queue=queue, trimmed_packets=1, trimmed_bytes=100)
        counters = {"trimmed_packets": packets, "trimmed_bytes": 100 * packets, "trimmed_drops": 1}
        log.add("trimming", time_ns=MS, port="s1:eth1", queue=queue, **counters)
    log.add("switch_queues", time_ns=0, port="s1:eth1", queue=0)
    plan = switch_plan()
    for port in next(node for node in plan["nodes"] if node["name"] == "s1")["ports"]:
        port["switch_port"]["trimming"] = {"size_bytes": 128, "dscp": 48}
    flows = {"traffic/trace.csv": TRACE_HEADER + "0,0,h1,client,5000,,push,,,,job\n", "raw/flows/h1.csv": FLOW_HEADER}
    return write_run(run_dir, plan, flows | log.files())


def switch_run(
    run_dir: Path, name: str = "shallow", *, report: list[dict[str, Any]] | None = None, **plan: Any
) -> Path:
    """A run of the lab in a variant; `plan` replaces what the plan says."""
    figures = {"figures": report} if report else {}
    end = BURSTS * PERIOD - (0 if name == "deep" else 3 * MS)
    return write_run(run_dir, switch_plan(name, **plan), _flows(end) | _log(VARIANTS[name]).files(), report=figures)


def switch_sweep(directory: Path, names: tuple[str, ...] = tuple(VARIANTS)) -> Path:
    """A sweep of the lab over the variants, two seeds each."""
    points = []
    for name in names:
        for seed in (1, 2):
            run = f"points/{name}-{seed}"
            switch_run(directory / run, name, seed=seed)
            settings = {"variant": name, "background": False, "seed": seed}
            points.append({"settings": settings, "seed": seed, "run": run, "status": "complete"})
    return write_sweep(directory, "buffers", "study", "Deep or shallow buffers", points)


def _account(pool: str | None, **values: Any) -> dict[str, Any]:
    return {"pool": pool, "reserved_bytes": 0, "limit_bytes": None, "alpha_log": None} | values


def _switch_port(variant: Variant) -> dict[str, Any]:
    wred = {
        "unit": "bytes",
        "min": 30_000,
        "max": 150_000,
        "probability_ppm": 50_000,
        "weight_log": 0,
        "ecn": True,
        "non_ect": "drop",
    }
    queues = [
        {"index": 0, "account": _account("shared", limit_bytes=64_000), "wred": None},
        {"index": QUEUE, "account": _account("shared", alpha_log=0), "wred": wred if variant.ecn else None},
    ]
    lossless = {"headroom_bytes": 20_000, "xon_bytes": 18_000, "xon_offset_bytes": 0}
    groups = (
        [{"index": QUEUE, "account": _account("ingress", alpha_log=-2), "lossless": lossless}] if variant.pfc else []
    )
    pfc = (
        {"priorities": list(PRIORITIES), "quanta": 65_535, "reaction_ns": 0, "watchdog": None} if variant.pfc else None
    )
    return {"queues": queues, "groups": groups, "maps": {}, "pfc": pfc}


def _port(interface: str, peer: str, peer_interface: str, switch_port: dict[str, Any]) -> dict[str, Any]:
    link = {
        "rate_bps": 1_000_000_000,
        "delay_ns": 25_000,
        "mtu": 1500,
        "mac": "02:fa:00:00:00:01",
        "address": "10.0.0.0/31",
    }
    return {
        "interface": interface,
        "peer_node": peer,
        "peer_interface": peer_interface,
        **link,
        "queue": None,
        "switch_port": switch_port,
    }


def _host(name: str, number: int, variant: Variant) -> dict[str, Any]:
    own = {
        "queues": [{"index": QUEUE, "account": _account(None, limit_bytes=15_000_000), "wred": None}],
        "groups": [],
        "maps": {},
    }
    own["pfc"] = _switch_port(variant)["pfc"]
    transport = {"congestion_control": "htcp", "ecn": "on" if variant.ecn else "off", "rto_min_us": 200_000}
    return {"name": name, "role": "host", "ports": [_port("eth1", "s1", f"eth{number}", own)], "transport": transport}


def _flows(end: int) -> dict[str, str]:
    trace, logs = [TRACE_HEADER], {f"h{number}": [FLOW_HEADER] for number in range(1, SERVERS + 1)}
    client = [FLOW_HEADER]
    for flow in range(SERVERS):
        trace.append(f"{flow},0,h{flow + 1},client,2000000,,pull,,job/shuffle/client/{flow}/0,,job\n")
        logs[f"h{flow + 1}"].append(f"{flow},src,complete,,,60000,{end},2000000,0,0,0,1400,51,80,tcp,\n")
        client.append(f"{flow},dst,complete,0,,110000,{end - flow * 1000},2000000,,,,,,,tcp,\n")
    files = {f"raw/flows/{host}.csv": "".join(rows) for host, rows in logs.items()}
    return files | {"raw/flows/client.csv": "".join(client), "traffic/trace.csv": "".join(trace)}


def _log(variant: Variant) -> Log:
    log = Log()
    for step in range(BURSTS * 20):
        burst, phase = divmod(step, 20)
        fill = max(0.0, 1 - abs(phase - 6) / 6)
        _client_rows(log, variant, step * MS, burst, phase, int(variant.peak * fill) // 1514 * 1514)
        _server_rows(log, variant, step * MS, burst, phase, fill)
    if variant.pool < 1_000_000:
        _events(log, variant)
    return log


def _client_rows(log: Log, variant: Variant, time: int, burst: int, phase: int, queued: int) -> None:
    lossy = not variant.deep and not variant.pfc and not variant.ecn
    drops = 40 * burst + (8 * min(phase, 5) if phase > 2 else 0) if lossy else 0
    marks = 300 * burst + 40 * min(phase, 7) if variant.ecn else 0
    log.add("switch_ports", time_ns=time, port=CLIENT, marks=marks, drops=drops + drops // 4)
    queue: dict[str, int] = {"bytes": queued, "packets": queued // 1514, "watermark_bytes": variant.peak}
    queue |= {"sent_bytes": time // 8, "sent_packets": time // 12_112, "marked_wred": marks}
    queue |= {
        "dropped_queue_limit": drops,
        "dropped_queue_pool": drops // 4,
        "dropped_ingress": _discards(variant, burst),
    }
    log.add("switch_queues", time_ns=time, port=CLIENT, queue=QUEUE, **queue)
    log.add("switch_queues", time_ns=time, port=CLIENT, queue=0, bytes=1514 * (phase % 2), packets=phase % 2)
    used = -(-queued // 256) * 256
    log.add(
        "pools",
        time_ns=time,
        switch="s1",
        pool=0,
        size_bytes=variant.pool,
        used_bytes=used,
        watermark_bytes=variant.peak,
    )
    if variant.pfc:
        ingress = {"pool": 1, "size_bytes": variant.pool, "used_bytes": used, "watermark_bytes": variant.peak}
        headroom = {
            "headroom_bytes": 9_000 if 4 <= phase <= 8 else 0,
            "headroom_watermark_bytes": 9_000 if time >= 4 * MS else 0,
        }
        log.add("pools", time_ns=time, switch="s1", **ingress, **headroom)


def _discards(variant: Variant, burst: int) -> int:
    """Packets of the first server that found its priority group full before this burst."""
    return 2 * burst if variant.pfc and not variant.ecn else 0


def _server_rows(log: Log, variant: Variant, time: int, burst: int, phase: int, fill: float) -> None:
    paused_ms = min(max(phase - 3, 0), 6) if variant.pfc and not (variant.ecn and burst) else 0
    bursts = min(burst, 1) if variant.ecn else burst
    for number in range(1, SERVERS + 1):
        port = f"s1:eth{number}"
        pauses = (bursts * 6 + paused_ms) * number if variant.pfc else 0
        discards = _discards(variant, burst) if number == 1 else 0
        log.add("switch_ports", time_ns=time, port=port, pauses_sent=pauses)
        log.add("switch_queues", time_ns=time, port=port, queue=QUEUE, bytes=0)
        xoff = (bursts * 6 + paused_ms) * MS if variant.pfc else 0
        group = {"bytes": int(60_000 * fill), "headroom_bytes": 4_000 if paused_ms else 0, "watermark_bytes": 64_000}
        log.add(
            "priority_groups",
            time_ns=time,
            port=port,
            group=QUEUE,
            discards=discards,
            xoffs=bursts,
            xoff_ns=xoff,
            **group,
        )
        if number == 1:
            log.add("switch_ports", time_ns=time, port="h1:eth1", pauses_received=pauses)
            log.add("switch_queues", time_ns=time, port="h1:eth1", queue=QUEUE, pauses_received=bursts, paused_ns=xoff)


def _events(log: Log, variant: Variant) -> None:
    for burst in range(BURSTS):
        start = burst * PERIOD + 3 * MS
        end = None if burst == BURSTS - 1 else start + 5 * MS + burst * 1000
        ingress = ";".join(f"eth{number}={100_000 * number}" for number in range(1, SERVERS + 1))
        values: dict[str, int | str | None] = {
            "start_ns": start,
            "end_ns": end,
            "port": CLIENT,
            "queue": QUEUE,
            "ingress": ingress,
        }
        log.add("congestion_events", peak_bytes=variant.peak - 1514 * burst, **values)
