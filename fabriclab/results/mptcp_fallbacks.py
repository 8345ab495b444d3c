"""Why flows fell back from MPTCP to TCP, which RFC 8684, section 3.7, lets either end do during the handshake.

The length of the handshake tells the usual two reasons apart, where both ends have MPTCP. After two timeouts of its SYN
the opener sends one without MP_CAPABLE (mptcp_active_detect_blackhole in net/mptcp/ctrl.c). And the listener takes a
handshake that later data complete, since its last acknowledgement and the first data, which carry MP_CAPABLE, were lost
(subflow_syn_recv_sock in net/mptcp/subflow.c). That a flow's reason was none of the rarer ones, such as a peer without
MPTCP, its record can't tell: the kernel's counters of each host can (MPTcpExtMPCapableSYNTXDrop and -FallbackACK, which
may both count one connection).
"""

from __future__ import annotations

import polars as pl

_WITHOUT_MPTCP_NS = 3 * 10**9
"""When the third SYN leaves: timeouts of 1 s and 2 s (TCP_TIMEOUT_INIT, include/net/tcp.h; RFC 6298, section 2)."""
LOST_SYNS = "the handshake took 3 s or longer, as when two SYNs or their answers are lost"
LOST_MP_CAPABLE = (
    "the handshake took less than 3 s, as when its last acknowledgement and the first data are lost and later data "
    "come first"
)


def fallback_causes(flows: pl.LazyFrame) -> dict[str, int]:
    """Return how many flows of flows.parquet fell back, by what the length of their handshakes tells of the reason."""
    handshake = pl.col("connected_ns") - pl.col("start_ns")
    reason = pl.when(handshake >= _WITHOUT_MPTCP_NS).then(pl.lit(LOST_SYNS)).otherwise(pl.lit(LOST_MP_CAPABLE))
    counts = (
        flows.filter(pl.col("transport") == "fallback").group_by(reason.alias("reason")).len().sort("reason").collect()
    )
    return dict(counts.iter_rows())
