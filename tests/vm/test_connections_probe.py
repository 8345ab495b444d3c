"""The probe `connections` in the machine: what TCP did in the connections of two clients through a shallow queue."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest
from sample_plans import star
from vm import Vm

from fabriclab.formats.plan.model import Plan
from fabriclab.formats.plan.node import Queue
from fabriclab.formats.plan.traffic import Awaited, ProgramTraffic

pytestmark = pytest.mark.vm

MS = 1_000_000
BYTES = 2_000_000
SERVER = """
import socket
server = socket.create_server(("", 8000))
kept = []
while True:
    connection = server.accept()[0]
    kept.append(connection)
    if connection.recv(1) == b"a":
        while connection.recv(65536):
            pass
        connection.close()
"""
CLIENT = f"""
import socket
sender = socket.create_connection(("h1", 8000))
sender.sendall(b"a" * {BYTES})
sender.close()
open = socket.create_connection(("h1", 8000))
open.sendall(b"b")
import time
time.sleep(0.05)
"""


def shallow(**probes: Any) -> Plan:
    """Return a server and two clients, whose data meet in a queue of ten packets; nothing else is sampled."""
    common: dict[str, Any] = {"start_ns": 0, "memory_bytes": 64 << 20}
    server = ProgramTraffic(name="server", node="h1", argv=("python3", "-c", SERVER), serves=True, **common)
    after = (Awaited(program="server", port=8000),)
    argv = ("python3", "-c", CLIENT)
    clients = [ProgramTraffic(name=f"of-{node}", node=node, argv=argv, after=after, **common) for node in ("h2", "h3")]
    plan = star(3, traffic=(server, *clients), queue=Queue(limit_bytes=15_000))
    nothing: dict[str, Any] = {"tcp_interval_ns": None, "tcp_classes": (), "queue_interval_ns": None, "queue_ports": ()}
    nothing |= {"interface_interval_ns": None}
    return plan.model_copy(update={"probes": plan.probes.model_copy(update=nothing | probes)})


def test_each_connection_is_told_with_what_was_sent_again_and_the_same_again(vm: Vm) -> None:
    plan = shallow(connection_hosts=("h1", "h2", "h3"))
    assert vm.run(plan).status == "complete"
    rows = pl.read_parquet(vm.directory / "run/connections.parquet")
    assert set(rows["server_port"]) == {8000} and set(rows["peer"]) == {"h1", "h2", "h3"}
    sent = rows.filter((pl.col("node") == "h2") & (pl.col("bytes_sent") >= BYTES)).row(0, named=True)
    assert sent["retransmits"] > 0 and sent["state"] == "ended" and sent["congestion"] is None
    assert sent["bytes_sent"] - sent["retransmitted_bytes"] == BYTES
    assert sent["bytes_acked"] == BYTES + 2, "SYN and FIN count"
    assert sent["retransmitted_bytes"] == 1448 * sent["retransmits"], "full segments"
    ends = {"address": sent["peer_address"], "port": 8000, "peer_port": sent["port"]}
    (received,) = rows.filter(**ends).to_dicts()
    assert (received["bytes_received"], received["state"]) == (BYTES + 1, "ended"), "FIN counts"
    assert sent["end_ns"] > BYTES * 8 and max(rows["end_ns"].to_list()) > 2 * BYTES * 8, (
        "the line's time for one, and for both"
    )
    assert sent["min_rtt_us"] in (100, 101), "four delays of 25 us, and two frames of two NICs"
    small = rows.filter((pl.col("node") == "h2") & (pl.col("bytes_sent") == 1)).to_dicts()
    assert [(one["retransmits"], one["timeouts"]) for one in small] == [(0, 0)]
    assert rows["end_ns"].is_sorted() and rows.height == 8, "two connections of two clients, both ends"
    assert vm.run(plan, "again").status == "complete"
    again, first = (vm.directory / name / "connections.parquet" for name in ("again", "run"))
    assert again.read_bytes() == first.read_bytes()
