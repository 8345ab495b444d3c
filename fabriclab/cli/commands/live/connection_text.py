"""A TCP connection in words: a line of a table, or all that there is to say."""

from __future__ import annotations

from collections.abc import Iterator

from fabriclab.live.seen import ConnectionState
from fabriclab.units import format_duration, format_rate, format_size

COLUMNS = ("flow", "local", "remote", "state", "cwnd", "ssthresh", "srtt", "in flight", "send queue", "resent", "by")
LEFT = ("local", "remote", "state", "by")


def connection_row(of: ConnectionState) -> list[str]:
    """Return what stands in COLUMNS."""
    return [
        *("-" if of.flow is None else str(of.flow), of.local, of.remote, of.state),
        *(_number(of.cwnd_segments), _number(of.ssthresh_segments), _duration(of.srtt_ns), _number(of.unacked)),
        *(_size(of.send_queue_bytes), _number(of.retransmitted), of.congestion_control or "-"),
    ]


def connection_lines(of: ConnectionState) -> Iterator[str]:
    """Yield all that there is to say of a connection, a line each."""
    flow = "" if of.flow is None else f"flow {of.flow}, "
    yield f"{flow}{of.local} to {of.remote}: {of.state}"
    if of.congestion_control is None:
        return
    own = "".join(f", {name} {value:.6g}" for name, value in (of.own or {}).items())
    yield f"  congestion control {of.congestion_control}, state {of.ca_state}{own}"
    threshold = "none yet (slow start)" if of.ssthresh_segments is None else f"{of.ssthresh_segments} segments"
    yield (
        f"  congestion window {of.cwnd_segments} segments of {of.mss_bytes} bytes ({_size(of.cwnd_bytes)}), "
        f"slow-start threshold {threshold}"
    )
    yield (
        f"  round-trip time {_duration(of.srtt_ns)} smoothed, variation {_duration(of.rttvar_ns)}, minimum "
        f"{_duration(of.min_rtt_ns)}; retransmission timeout {_duration(of.rto_ns)}"
    )
    yield (
        f"  in flight {of.unacked} segments: {of.sacked} acknowledged out of order, {of.lost} considered lost, "
        f"{of.retrans} retransmitted"
    )
    yield (
        f"  since its start {of.delivered} segments delivered, {of.delivered_ce} of them with ECE, "
        f"{of.retransmitted} retransmitted, {of.timeouts} timeouts"
        + (f"; now after {of.retransmits} in a row, backoff {of.backoff}" if of.retransmits else "")
    )
    yield (
        f"  sent {_size(of.bytes_sent)}, acknowledged {_size(of.bytes_acked)}, retransmitted "
        f"{_size(of.bytes_retransmitted)}, received {_size(of.bytes_received)}"
    )
    yield (
        f"  send queue {_size(of.send_queue_bytes)}, of which unsent {_size(of.unsent_bytes)}; receive queue "
        f"{_size(of.receive_queue_bytes)}"
    )
    yield (
        f"  windows: the peer's {_size(of.send_window_bytes)}, its own {_size(of.receive_window_bytes)}; "
        f"pacing {_rate(of.pacing_bps)}, delivery rate {_rate(of.delivery_bps)}"
    )
    yield f"  sequence numbers: unacknowledged {of.seq_unacked}, next {of.seq_next}, next expected {of.seq_to_come}"
    yield f"  options: {', '.join(of.options) or 'none'}"


def _number(value: int | None) -> str:
    return "-" if value is None else f"{value:,}"


def _size(value: int | None) -> str:
    return "-" if value is None else format_size(value, 4)


def _duration(value: int | None) -> str:
    return "-" if value is None else format_duration(value, 4)


def _rate(value: int | None) -> str:
    return "none" if value is None else format_rate(value, 4)
