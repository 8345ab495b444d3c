"""Run directories as the machine leaves them, made from a simple model:
queue and flow logs with the formats' exact columns."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

from whole_plans import whole

FLOW_HEADER = (
    "# fabriclab-flows-2\nflow,side,status,start_ns,connected_ns,first_byte_ns,end_ns,bytes,"
    "retransmits,timeouts,marks,delivered,min_rtt_us,srtt_us,transport,subflows\n"
)
QUEUE_HEADER = "# fabriclab-queues-1\ntime_ns,port,bytes,packets,drops,marks,sent_bytes,sent_packets,overlimits\n"
TCP_HEADER = (
    "# fabriclab-tcp-2\n"
    "time_ns,node,flow,subflow,path,cwnd,ssthresh,srtt_us,rttvar_us,min_rtt_us,rto_us,unacked,lost,retrans,"
    "total_retrans,"
    "timeouts,delivered,delivered_ce,pacing_bps,delivery_bps,bytes_acked,state,ca_state,congestion,alpha\n"
)
TRACE_HEADER = "# fabriclab-trace-1\nflow,start_ns,src,dst,size_bytes,stop_ns,mode,connection,group,after,class\n"
MS = 1_000_000
SRU = 262_144


def plan_of(
    senders: int, variant: str, buffer: int, traffic: list[dict[str, Any]], receiver: str, **extra: Any
) -> dict[str, Any]:
    """A plan with one switch: the ports of its receiver side, and the senders' transport."""
    threshold = 30_000 if variant == "dctcp" else None
    queue = {"limit_bytes": buffer, "ecn_threshold_bytes": threshold, "non_ect": "drop"}

    def port(interface: str, node: str, peer: str) -> dict[str, Any]:
        link = {
            "rate_bps": 1_000_000_000,
            "delay_ns": 25_000,
            "mtu": 1500,
            "mac": "02:fa:00:00:00:01",
            "address": "10.0.0.0/31",
        }
        return {"interface": interface, "peer_node": node, "peer_interface": peer, **link, "queue": queue}

    transport = {"congestion_control": variant, "ecn": "on" if threshold else "off", "rto_min_us": 200_000}
    hosts = [f"h{i + 1}" for i in range(senders)] + [receiver]
    nodes: list[dict[str, Any]] = [
        {"name": host, "role": "host", "ports": [port("eth1", "s1", f"eth{i + 1}")], "transport": transport}
        for i, host in enumerate(hosts)
    ]
    nodes.append(
        {"name": "s1", "role": "switch", "ports": [port(f"eth{i + 1}", host, "eth1") for i, host in enumerate(hosts)]}
    )
    probes = {
        "queue_interval_ns": 100_000,
        "queue_ports": [f"s1:eth{len(hosts)}"],
        "tcp_interval_ns": MS,
        "tcp_classes": [traffic[0]["name"]],
        "interface_interval_ns": None,
    }
    base = {
        "format": "fabriclab-plan-1",
        "seed": 1,
        "limit_ns": 60_000 * MS,
        "nodes": nodes,
        "traffic": traffic,
        "probes": probes,
    }
    return base | {"settings": {}, "parameters": {}, "checks": [], "study": None} | extra


def manifest_of(plan: dict[str, Any], status: str = "complete", **extra: Any) -> dict[str, Any]:
    base = {
        "format": "fabriclab-run-1",
        "status": status,
        "message": "",
        "lab": plan["lab"],
        "title": plan["title"],
        "settings": plan["settings"],
        "seed": plan["seed"],
        "engine": "vm",
        "versions": {"kernel": "6.12.48", "fabriclab": "0.1.0", "iproute2": "6.15.0"},
        "artefacts": {"kernel": "4be1c09c", "rootfs": "9c2f1d7e", "tools": "07aa12f0"},
        "command": ["fabriclab", "run", f"labs/{plan['lab']}"],
        "started": "2026-11-21T02:00:00Z",
        "ended": "2026-11-21T02:00:04Z",
        "wall_s": 4.1,
        "virtual_s": 2.0,
        "host": {"cpu": "AMD EPYC", "cores": 2, "os": "Debian 12"},
        "files": {},
        "plan": plan,
    }
    return base | extra


def write_run(run_dir: Path, plan: dict[str, Any], files: dict[str, str], **manifest: Any) -> Path:
    """Write a run directory; `files` are texts by path. What its plan lacks is added."""
    plan = whole(plan)
    run_dir.mkdir(parents=True, exist_ok=True)
    (run_dir / "plan.json").write_text(json.dumps(plan))
    (run_dir / "manifest.json").write_text(json.dumps(manifest_of(plan, **manifest)))
    for name, text in files.items():
        path = run_dir / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return run_dir


def incast_round_ns(senders: int, variant: str, buffer: int, number: int) -> tuple[int, int]:
    """Time of a round and timeouts in it: in collapse a sender loses its last segments and waits for RTOmin."""
    base = int(senders * SRU * 8 * 1538 / 1448) + 400_000
    limit = buffer // (14_000 if variant != "dctcp" else 4_000)
    timeouts = max(0, senders - limit) if number % 7 else 0
    return base + (200 * MS if timeouts else 0), timeouts


def incast_run(
    run_dir: Path, senders: int, variant: str = "cubic", *, buffer: int = 64_000, rounds: int = 8, **manifest: Any
) -> Path:
    """A run of the in-cast lab: rounds, a queue that fills in each and stands empty during timeouts."""
    traffic = [
        {
            "kind": "rounds",
            "name": "sru",
            "senders": [f"h{i + 1}" for i in range(senders)],
            "receiver": "client",
            "size_bytes": SRU,
        }
    ]
    parameters = {"senders": senders, "buffer": f"{buffer // 1000} KB", "rto_min": "200 ms", "variant": variant}
    plan = plan_of(senders, variant, buffer, traffic, "client", lab="incast", title="TCP in-cast collapse", study="S4")
    plan |= {
        "parameters": parameters,
        "settings": {"variant": variant, "senders": senders},
        "checks": list(INCAST_CHECKS),
    }
    port = plan["probes"]["queue_ports"][0]
    trace, logs, queue = [TRACE_HEADER], {f"h{i + 1}": [FLOW_HEADER] for i in range(senders)}, [QUEUE_HEADER]
    client = [FLOW_HEADER]
    now, drops, flow = 0, 0, 0
    for number in range(rounds):
        duration, timeouts = incast_round_ns(senders, variant, buffer, number)
        after = f"r{number - 1}" if number else ""
        for sender in range(senders):
            late = sender < timeouts
            end = now + (duration if late or not timeouts else duration - 200 * MS) - sender * 1000
            trace.append(f"{flow},0,h{sender + 1},client,{SRU},,pull,c{sender},r{number},{after},sru\n")
            marks = 40 if variant == "dctcp" else 0
            logs[f"h{sender + 1}"].append(
                f"{flow},src,complete,,,{now + 60_000},{end + 50_000},{SRU},"
                f"{3 * late},{int(late)},{marks},182,51,{120 + 8 * senders},tcp,\n"
            )
            client.append(f"{flow},dst,complete,{now},,{now + 110_000},{end},{SRU},,,,,,,tcp,\n")
            flow += 1
        drops = _incast_queue(queue, port, now, duration, timeouts, senders, buffer, variant, drops)
        now += duration
    files = {
        "traffic/trace.csv": "".join(trace),
        "raw/queues.csv": "".join(queue),
        "raw/flows/client.csv": "".join(client),
    }
    files |= {f"raw/flows/{host}.csv": "".join(rows) for host, rows in logs.items()}
    files["raw/tcp.csv"] = TCP_HEADER
    report = {
        "figures": [
            {"kind": "metric", "metric": "goodput_bps", "x": "senders", "series": ["variant", "buffer"], "log_x": True}
        ]
    }
    report["figures"] += [{"kind": "queue"}, {"kind": "fct-cdf"}]
    return write_run(run_dir, plan, files, report=report, virtual_s=now / 1e9, **manifest)


def program_run(run_dir: Path, row: str = "1000000,11000000,itself,exit 0") -> Path:
    """A run of a server and its client, whose record is `row`."""
    common = {"kind": "program", "memory_bytes": 1 << 20, "start_ns": 0}
    traffic = [
        {"name": "server", "node": "h1", "argv": ["server"], "serves": True, **common},
        {"name": "client", "node": "h2", "argv": ["client"], "after": [{"program": "server", "port": 80}], **common},
    ]
    plan = plan_of(2, "cubic", 64_000, traffic, "client", lab="programs", title="A server and its client")
    head = "# fabriclab-program-1\nstart_ns,end_ns,ended_by,status\n"
    files = {
        "traffic/trace.csv": TRACE_HEADER,
        "raw/programs/server.csv": f"{head}0,101000000,signal,exit 0\n",
        "raw/programs/client.csv": f"{head}{row}\n",
    }
    return write_run(run_dir, plan, files)


def _incast_queue(
    rows: list[str],
    port: str,
    begin: int,
    duration: int,
    timeouts: int,
    senders: int,
    buffer: int,
    variant: str,
    drops: int,
) -> int:
    active = duration - (200 * MS if timeouts else 0)
    top = min(buffer, senders * 14_000) if variant != "dctcp" else min(buffer, max(32_000, senders * 4_000))
    step = 100_000
    for i in range(active // step):
        fill = min(1.0, i / 4) * (0.8 + 0.2 * math.sin(i * 0.9))
        drops += int(timeouts > 0 and i % 5 == 0)
        backlog = int(top * fill) // 1514 * 1514
        rows.append(
            f"{begin + i * step},{port},{backlog},{backlog // 1514},{drops},{int(variant == 'dctcp') * i},{i * 12500},"
            f"{i * 8},0\n"
        )
    rows.append(f"{begin + active},{port},0,0,{drops},0,0,0,0\n")
    if timeouts:
        rows.append(f"{begin + duration - 3 * MS},{port},9084,6,{drops},0,0,0,0\n")
    return drops


INCAST_CHECKS: tuple[dict[str, Any], ...] = (
    {
        "metric": "goodput_bps",
        "operator": "<",
        "value": 250e6,
        "where": {"variant": "cubic", "buffer": "64 KB", "senders": 16},
    },
    {
        "metric": "goodput_bps",
        "operator": ">",
        "value": 850e6,
        "where": {"variant": "cubic", "buffer": "64 KB", "senders": 4},
    },
    {
        "metric": "goodput_bps",
        "operator": ">",
        "value": 900e6,
        "where": {"variant": "dctcp", "buffer": "64 KB", "senders": 16},
    },
)


def incast_sweep(
    directory: Path, senders: tuple[int, ...] = (1, 2, 4, 8, 16, 32, 48), variants: tuple[str, ...] = ("cubic", "dctcp")
) -> Path:
    """A sweep of the in-cast lab, all points present."""
    points = []
    for variant in variants:
        for count in senders:
            run = f"points/{variant}-{count}-00000000"
            incast_run(directory / run, count, variant)
            points.append(
                {"settings": {"variant": variant, "senders": count}, "seed": 1, "run": run, "status": "complete"}
            )
    return write_sweep(directory, "incast", "demo", "TCP in-cast collapse", points)


def write_sweep(directory: Path, lab: str, matrix: str, title: str, points: list[dict[str, Any]]) -> Path:
    """Write the file that makes a directory of runs a sweep; return the directory."""
    data = {"format": "fabriclab-sweep-1", "lab": lab, "matrix": matrix, "title": title, "points": points}
    (directory / "sweep.json").write_text(json.dumps(data))
    return directory


def long_run(run_dir: Path, variant: str = "cubic", *, stop_ns: int = 2_000 * MS, **manifest: Any) -> Path:
    """A run of the DCTCP lab: two long flows; a saw tooth below the buffer for CUBIC, a band about K for DCTCP."""
    traffic = [
        {"kind": "long", "name": "long", "senders": ["h1", "h2"], "receiver": "h3", "start_ns": 0, "stop_ns": stop_ns}
    ]
    plan = plan_of(
        2,
        variant,
        700_000,
        traffic,
        "h3",
        lab="dctcp-queue",
        title="Queue of two long flows, CUBIC and DCTCP",
        study="S2",
    )
    parameters = {"rate": "1 Gbps", "buffer": "700 KB", "variant": variant} | (
        {"threshold": "30 KB"} if variant == "dctcp" else {}
    )
    plan |= {"settings": {"variant": variant}, "parameters": parameters}
    queue, tcp = [QUEUE_HEADER], [TCP_HEADER]
    for i in range(0, stop_ns // 100_000):
        time = i * 100_000
        backlog, marks, drops = _long_queue(i, variant)
        queue.append(f"{time},s1:eth3,{backlog},{backlog // 1514},{drops},{marks},{i * 12500},{i * 8},0\n")
        if i % 10 == 0:
            tcp += [_tcp_row(time, flow, variant, backlog, i) for flow in (0, 1)]
    received = stop_ns // 16 * 1448 // 1538
    trace = TRACE_HEADER + "".join(f"{f},{f * 10 * MS},h{f + 1},h3,,{stop_ns},push,,,,long\n" for f in (0, 1))
    marks = 9000 if variant == "dctcp" else 0
    files = {"traffic/trace.csv": trace, "raw/queues.csv": "".join(queue), "raw/tcp.csv": "".join(tcp)}
    for f in (0, 1):
        sent = (
            f"{f},src,stopped,{f * 10 * MS},{f * 10 * MS + 50_000},60000,{stop_ns},{received},{12 * (1 - f)},0,"
            f"{marks},80000,51,600,tcp,\n"
        )
        files[f"raw/flows/h{f + 1}.csv"] = FLOW_HEADER + sent
    read = "".join(
        f"{f},dst,stopped,,{f * 10 * MS + 50_000},{f * 10 * MS + 110_000},{stop_ns},{received},,,,,,,tcp,\n"
        for f in (0, 1)
    )
    files["raw/flows/h3.csv"] = FLOW_HEADER + read
    return write_run(run_dir, plan, files, **manifest)


def _long_queue(i: int, variant: str) -> tuple[int, int, int]:
    if variant == "dctcp":
        return (20 + (i * 7) % 5 if i > 2 else 4 * i) * 1514, i * 2, 0
    tooth = (i % 4000) / 4000
    return int(min(1.0, i / 50) * (490_000 + 208_000 * tooth)) // 1514 * 1514, 0, i // 4000 * 12


def _tcp_row(time: int, flow: int, variant: str, backlog: int, i: int) -> str:
    srtt = 100 + backlog * 8 // 1000
    cwnd = max(2, backlog // 1514 // 2 + (5 if flow else -5))
    alpha = "0.21" if variant == "dctcp" else ""
    acked = int(time / 8e9 * 0.47e9 * (1.1 if flow else 0.9))
    return (
        f"{time},h{flow + 1},{flow},,,{cwnd},{cwnd - 1},{srtt},{srtt // 4},51,201000,{cwnd},0,0,{i // 4000 * 6},0,{i},"
        "0,"
        f"18446744073709551615,470000000,{acked},ESTAB,open,{variant},{alpha}\n"
    )
