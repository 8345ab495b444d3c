"""TCP connections of a look as what they say."""

from __future__ import annotations

import socket
import struct
from collections.abc import Iterator
from typing import Any

from fabriclab.formats.live_look import CONNECTION, CONNECTION_STATE
from fabriclab.live.packets import Ends
from fabriclab.live.records import known, split

_ENDS, _STATE = struct.Struct(CONNECTION), struct.Struct(CONNECTION_STATE)
_STATES = (
    *("established", "syn_sent", "syn_recv", "fin_wait1", "fin_wait2", "time_wait"),
    *("close", "close_wait", "last_ack", "listen", "closing", "new_syn_recv"),
)
_CA_STATES = ("open", "disorder", "cwr", "recovery", "loss")
_OPTIONS = {1: "timestamps", 2: "sack", 4: "window scaling", 8: "ecn"}
_INFINITE_THRESHOLD = 0x7FFFFFFF
_SEQUENCES = 1 << 32
_DCTCP, _BBR, _VEGAS = 9, 16, 3
"""INET_DIAG_DCTCPINFO, INET_DIAG_BBRINFO, INET_DIAG_VEGASINFO (include/uapi/linux/inet_diag.h)."""
_DCTCP_ALPHA = 1024


def flows_of(records: bytes) -> dict[Ends, int]:
    """Return the lab's flow of each pair of ends, both ways."""
    found: dict[Ends, int] = {}
    for raw in split(records):
        _, _, mark, *_ = _ENDS.unpack_from(raw.body)
        if mark:
            local, remote = _ends(raw.body)
            found[local, remote] = found[remote, local] = mark - 1
    return found


def connections_of(records: bytes) -> Iterator[dict[str, Any]]:
    """Yield what there is to say of each connection."""
    for raw in split(records):
        _, state, mark, *_ = _ENDS.unpack_from(raw.body)
        local, remote = _ends(raw.body)
        answer = {"local": local, "remote": remote, "state": _STATES[state - 1], "flow": mark - 1 if mark else None}
        if len(raw.body) > _ENDS.size:
            answer |= _state(raw.body[_ENDS.size :])
        yield answer


def _ends(body: memoryview) -> Ends:
    family, _, _, local_port, remote_port, _, local, remote = _ENDS.unpack_from(body)
    if family == socket.AF_INET6:
        hosts = [socket.inet_ntop(socket.AF_INET6, host) for host in (local, remote)]
        hosts = [host.removeprefix("::ffff:") if "." in host else f"[{host}]" for host in hosts]
    else:
        hosts = [socket.inet_ntop(socket.AF_INET, host[:4]) for host in (local, remote)]
    return f"{hosts[0]}:{local_port}", f"{hosts[1]}:{remote_port}"


def _state(body: memoryview) -> dict[str, Any]:
    words = _STATE.unpack_from(body)
    srtt, rttvar, least, rto, pacing, delivery, sent, acked, resent, received = words[1:11]
    ca_state, retransmits, backoff, options, cwnd, ssthresh, mss, send_window = words[11:19]
    unacked, sacked, lost, retrans, total, timeouts, delivered, delivered_ce = words[19:27]
    una, following, written, to_come, read, window = words[27:33]
    return {
        **{"congestion_control": words[0].rstrip(b"\0").decode(), "own": _own(words[33], words[34:39])},
        **{"ca_state": _CA_STATES[ca_state], "cwnd_segments": cwnd, "cwnd_bytes": cwnd * mss},
        **{"ssthresh_segments": None if ssthresh >= _INFINITE_THRESHOLD else ssthresh, "mss_bytes": mss},
        **{"srtt_ns": srtt or None, "rttvar_ns": rttvar if srtt else None, "min_rtt_ns": known(least), "rto_ns": rto},
        **{"unacked": unacked, "sacked": sacked, "lost": lost, "retrans": retrans, "retransmitted": total},
        **{"timeouts": timeouts, "retransmits": retransmits, "backoff": backoff},
        **{"delivered": delivered, "delivered_ce": delivered_ce},
        **{"pacing_bps": _bps(pacing), "delivery_bps": _bps(delivery)},
        **{"bytes_sent": sent, "bytes_acked": acked, "bytes_retransmitted": resent, "bytes_received": received},
        **{"send_queue_bytes": (written - una) % _SEQUENCES, "unsent_bytes": (written - following) % _SEQUENCES},
        **{"receive_queue_bytes": (to_come - read) % _SEQUENCES},
        **{"send_window_bytes": send_window, "receive_window_bytes": window},
        **{"seq_unacked": una, "seq_next": following, "seq_to_come": to_come},
        "options": [name for bit, name in _OPTIONS.items() if options & bit],
    }


def _bps(rate: int) -> int | None:
    found = known(rate)
    return None if found is None else found * 8


def _own(kind: int, words: tuple[int, ...]) -> dict[str, Any]:
    """Return what the congestion control says of itself (`union tcp_cc_info`)."""
    data = struct.pack("=5I", *words)
    if kind == _DCTCP:
        enabled, _, alpha, ecn_bytes, total_bytes = struct.unpack_from("=HHIII", data)
        # Where the peer refused ECN it is Reno.
        return {"alpha": alpha / _DCTCP_ALPHA, "marked_bytes": ecn_bytes, "bytes": total_bytes} if enabled else {}
    if kind == _BBR:
        low, high, least_us, pacing_gain, cwnd_gain = struct.unpack_from("=5I", data)
        bandwidth = (high << 32 | low) * 8
        gains = {"pacing_gain": pacing_gain / 256, "cwnd_gain": cwnd_gain / 256}
        return {"bandwidth_bps": bandwidth, "min_rtt_ns": least_us * 1000, **gains}
    if kind == _VEGAS:
        _, _, rtt_us, least_us = struct.unpack_from("=4I", data)
        return {"rtt_ns": rtt_us * 1000, "min_rtt_ns": least_us * 1000}
    return {}
