//! The kernel's counters of one connection: `TCP_INFO`, layout of Linux 6.12 `include/uapi/linux/tcp.h`.
//!
//! An older kernel gives a shorter structure; what it does not have reads as `None`.

use std::mem::{offset_of, size_of};
use std::os::fd::RawFd;

/// `struct tcp_info` up to `tcpi_total_rto_time`. Bit fields are whole bytes here.
#[repr(C)]
#[derive(Clone, Copy, Default)]
pub struct RawTcpInfo {
    state: u8,
    ca_state: u8,
    retransmits: u8,
    probes: u8,
    backoff: u8,
    options: u8,
    window_scales: u8,
    flags: u8,
    rto_us: u32,
    ato_us: u32,
    snd_mss: u32,
    rcv_mss: u32,
    unacked: u32,
    sacked: u32,
    lost: u32,
    retrans: u32,
    fackets: u32,
    last_data_sent_ms: u32,
    last_ack_sent_ms: u32,
    last_data_recv_ms: u32,
    last_ack_recv_ms: u32,
    pmtu: u32,
    rcv_ssthresh: u32,
    rtt_us: u32,
    rttvar_us: u32,
    snd_ssthresh: u32,
    snd_cwnd: u32,
    advmss: u32,
    reordering: u32,
    rcv_rtt_us: u32,
    rcv_space: u32,
    total_retrans: u32,
    pacing_rate: u64,
    max_pacing_rate: u64,
    bytes_acked: u64,
    bytes_received: u64,
    segs_out: u32,
    segs_in: u32,
    notsent_bytes: u32,
    min_rtt_us: u32,
    data_segs_in: u32,
    data_segs_out: u32,
    delivery_rate: u64,
    busy_time_us: u64,
    rwnd_limited_us: u64,
    sndbuf_limited_us: u64,
    delivered: u32,
    delivered_ce: u32,
    bytes_sent: u64,
    bytes_retrans: u64,
    dsack_dups: u32,
    reord_seen: u32,
    rcv_ooopack: u32,
    snd_wnd: u32,
    rcv_wnd: u32,
    rehash: u32,
    total_rto: u16,
    total_rto_recoveries: u16,
    total_rto_time_ms: u32,
}

impl RawTcpInfo {
    /// Whether the handshake is over and the connection not closed (`include/net/tcp_states.h`).
    pub fn is_established(&self) -> bool {
        const ESTABLISHED: u8 = 1;
        const FIN_WAIT_1: u8 = 4;
        const FIN_WAIT_2: u8 = 5;
        const CLOSE_WAIT: u8 = 8;
        const LAST_ACK: u8 = 9;
        const CLOSING: u8 = 11;
        matches!(
            self.state,
            ESTABLISHED | FIN_WAIT_1 | FIN_WAIT_2 | CLOSE_WAIT | LAST_ACK | CLOSING
        )
    }
}

/// What the flow log wants of a connection; counters are since the connection began.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TcpCounters {
    pub retransmits: Option<u32>,
    pub timeouts: Option<u16>,
    pub marks: Option<u32>,
    pub delivered: Option<u32>,
    pub min_rtt_us: Option<u32>,
    pub srtt_us: Option<u32>,
}

impl TcpCounters {
    /// Reads a socket's counters; all are absent where the kernel refuses.
    pub fn read(fd: RawFd) -> Self {
        let mut raw = RawTcpInfo::default();
        let mut length = size_of::<RawTcpInfo>() as libc::socklen_t;
        // SAFETY: `raw` is plain integers of `length` bytes; the kernel writes no more than `length`.
        let status = unsafe {
            libc::getsockopt(
                fd,
                libc::IPPROTO_TCP,
                libc::TCP_INFO,
                (&raw mut raw).cast(),
                &mut length,
            )
        };
        if status == 0 {
            Self::from_raw(&raw, length as usize)
        } else {
            Self::default()
        }
    }

    /// Of a structure that the kernel filled wholly.
    pub fn of(raw: &RawTcpInfo) -> Self {
        Self::from_raw(raw, size_of::<RawTcpInfo>())
    }

    fn from_raw(raw: &RawTcpInfo, length: usize) -> Self {
        let has = |offset: usize, size: usize| offset + size <= length;
        Self {
            retransmits: has(offset_of!(RawTcpInfo, total_retrans), 4).then_some(raw.total_retrans),
            timeouts: has(offset_of!(RawTcpInfo, total_rto), 2).then_some(raw.total_rto),
            marks: has(offset_of!(RawTcpInfo, delivered_ce), 4).then_some(raw.delivered_ce),
            delivered: has(offset_of!(RawTcpInfo, delivered), 4).then_some(raw.delivered),
            // The kernel has no sample yet: it says 2^32-1 for the minimum and 0 for the smoothed time.
            min_rtt_us: has(offset_of!(RawTcpInfo, min_rtt_us), 4)
                .then_some(raw.min_rtt_us)
                .filter(|&us| us != u32::MAX),
            srtt_us: has(offset_of!(RawTcpInfo, rtt_us), 4)
                .then_some(raw.rtt_us)
                .filter(|&us| us != 0),
        }
    }

    /// The counters of a new connection: the kernel counts the delivery of its own SYN or SYN-ACK, which is no flow's.
    pub fn at_start_of_connection() -> Self {
        Self {
            retransmits: Some(0),
            timeouts: Some(0),
            marks: Some(0),
            delivered: Some(1),
            ..Self::default()
        }
    }

    /// What two subflows have counted together; the lesser round-trip time, and no smoothed one.
    pub fn and(self, other: Self) -> Self {
        fn sum<T>(one: Option<T>, other: Option<T>, add: fn(T, T) -> T) -> Option<T> {
            one.zip(other).map(|(one, other)| add(one, other))
        }
        let least = [self.min_rtt_us, other.min_rtt_us];
        Self {
            retransmits: sum(self.retransmits, other.retransmits, u32::wrapping_add),
            timeouts: sum(self.timeouts, other.timeouts, u16::wrapping_add),
            marks: sum(self.marks, other.marks, u32::wrapping_add),
            delivered: sum(self.delivered, other.delivered, u32::wrapping_add),
            min_rtt_us: least.into_iter().flatten().min(),
            srtt_us: None,
        }
    }

    /// What happened since `earlier`; the round-trip times are as they are now.
    pub fn since(self, earlier: Self) -> Self {
        fn less<T>(now: Option<T>, earlier: Option<T>, subtract: fn(T, T) -> T) -> Option<T> {
            now.zip(earlier)
                .map(|(now, earlier)| subtract(now, earlier))
        }
        Self {
            retransmits: less(self.retransmits, earlier.retransmits, u32::wrapping_sub),
            timeouts: less(self.timeouts, earlier.timeouts, u16::wrapping_sub),
            marks: less(self.marks, earlier.marks, u32::wrapping_sub),
            delivered: less(self.delivered, earlier.delivered, u32::saturating_sub),
            ..self
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Offsets of the header file, which the log depends on.
    #[test]
    fn the_layout_is_the_kernels() {
        assert_eq!(offset_of!(RawTcpInfo, total_retrans), 100);
        assert_eq!(offset_of!(RawTcpInfo, pacing_rate), 104);
        assert_eq!(offset_of!(RawTcpInfo, min_rtt_us), 148);
        assert_eq!(offset_of!(RawTcpInfo, delivered), 192);
        assert_eq!(offset_of!(RawTcpInfo, total_rto), 240);
        assert_eq!(size_of::<RawTcpInfo>(), 248);
    }

    #[test]
    fn an_older_kernel_leaves_fields_empty() {
        let raw = RawTcpInfo {
            total_retrans: 3,
            min_rtt_us: u32::MAX,
            rtt_us: 50,
            delivered: 9,
            ..RawTcpInfo::default()
        };
        let counters = TcpCounters::from_raw(&raw, offset_of!(RawTcpInfo, delivered));
        let expected = TcpCounters {
            retransmits: Some(3),
            srtt_us: Some(50),
            ..TcpCounters::default()
        };
        assert_eq!(counters, expected);
    }

    #[test]
    fn differences_are_of_counters_only() {
        let earlier = TcpCounters {
            delivered: Some(10),
            retransmits: Some(1),
            srtt_us: Some(40),
            ..TcpCounters::default()
        };
        let now = TcpCounters {
            delivered: Some(25),
            retransmits: Some(4),
            srtt_us: Some(60),
            ..TcpCounters::default()
        };
        let flow = now.since(earlier);
        assert_eq!(
            (
                flow.delivered,
                flow.retransmits,
                flow.timeouts,
                flow.srtt_us
            ),
            (Some(15), Some(3), None, Some(60))
        );
    }
}
