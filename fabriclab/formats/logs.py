"""What is logged of flows, queues, TCP and interfaces while a run lasts (`traffic/README.md`, `probes/README.md`)."""

from __future__ import annotations

from fabriclab.formats.table import Table, integers, texts

FLOW_LOG = Table(
    "flows",
    2,
    {
        **integers("flow"),
        **texts("side", "status"),
        **integers("start_ns", "connected_ns", "first_byte_ns", "end_ns", "bytes", "retransmits", "timeouts", "marks"),
        **integers("delivered", "min_rtt_us", "srtt_us"),
        **texts("transport"),
        **integers("subflows"),
    },
)
"""A row for each end of a flow, `side` src or dst: `raw/flows/HOST.csv`, by `traffic/replay`."""
EXEC_LOG = Table("exec", 1, {**integers("start_ns", "end_ns"), **texts("ended_by", "status")})
"""When a program of its own time ran, before what it wrote: `raw/iperf3/FLOW-SIDE.log`, by `replay exec`."""
PROGRAM_LOG = Table("program", 1, {**integers("start_ns", "end_ns"), **texts("ended_by", "status")})
"""When a program of the lab's own ran, and how it ended: `raw/programs/NAME.csv`, by `replay program`."""
COST_LOG = Table("costs", 1, {**texts("what"), **integers("start_ns", "end_ns", "bytes")})
"""What a process of Hadoop's was charged, by CLOCK_MONOTONIC: `raw/costs/CLUSTER/NODE.PROCESS.csv`, by
`images/machine/preload/costs.c`."""
QUEUES = Table(
    "queues",
    1,
    {
        **integers("time_ns"),
        **texts("port"),
        **integers("bytes", "packets", "drops", "marks", "sent_bytes", "sent_packets", "overlimits"),
    },
)
"""A port's qdisc: `raw/queues.csv`, by `probes/sampler`."""
TCP = Table(
    "tcp",
    2,
    {
        **integers("time_ns"),
        **texts("node"),
        **integers("flow", "subflow"),
        **texts("path"),
        **integers("cwnd", "ssthresh", "srtt_us", "rttvar_us", "min_rtt_us", "rto_us", "unacked", "lost", "retrans"),
        **integers("total_retrans", "timeouts", "delivered", "delivered_ce"),
        "pacing_bps": "unsigned",
        "delivery_bps": "unsigned",
        **integers("bytes_acked"),
        **texts("state", "ca_state", "congestion"),
        "alpha": "number",
    },
)
"""A connection, or an MPTCP subflow, of a sampled flow: `raw/tcp.csv`, by `probes/sampler`."""
INTERFACES = Table(
    "interfaces",
    1,
    {
        **integers("time_ns"),
        **texts("port"),
        **integers("rx_bytes", "rx_packets", "rx_dropped", "tx_bytes", "tx_packets", "tx_dropped"),
    },
)
"""An interface's counters: `raw/interfaces.csv`, by `probes/sampler`."""
CONNECTIONS = Table(
    "connections",
    1,
    {
        **integers("end_ns"),
        **texts("node", "address"),
        **integers("port"),
        **texts("peer_address"),
        **integers("peer_port"),
        **texts("state"),
        **integers("bytes_sent", "bytes_acked", "bytes_received", "segments_sent", "segments_received", "retransmits"),
        **integers("retransmitted_bytes", "duplicates", "timeouts", "delivered", "delivered_ce"),
        **integers("min_rtt_us", "srtt_us"),
        **texts("congestion"),
    },
)
"""A node's end of a TCP connection, when its socket was gone or the run over: `raw/connections.csv`, by
`probes/sampler`."""
