//! The kernel's counters of one connection, from `TCP_INFO`.
//!
//! An older kernel gives a shorter structure; what it does not have reads as `None`.

use std::mem::{offset_of, size_of};
use std::os::fd::RawFd;

use tcp_info::TcpInfo;

use crate::sys;

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
        sys::read_tcp_info(fd)
            .map(|(raw, length)| Self::from_raw(&raw, length))
            .unwrap_or_default()
    }

    /// Of a structure that the kernel filled wholly.
    pub fn of(raw: &TcpInfo) -> Self {
        Self::from_raw(raw, size_of::<TcpInfo>())
    }

    fn from_raw(raw: &TcpInfo, length: usize) -> Self {
        let has = |offset: usize, size: usize| offset + size <= length;
        Self {
            retransmits: has(offset_of!(TcpInfo, total_retrans), 4).then_some(raw.total_retrans),
            timeouts: has(offset_of!(TcpInfo, total_rto), 2).then_some(raw.total_rto),
            marks: has(offset_of!(TcpInfo, delivered_ce), 4).then_some(raw.delivered_ce),
            delivered: has(offset_of!(TcpInfo, delivered), 4).then_some(raw.delivered),
            // The kernel has no sample yet: it says 2^32-1 for the minimum and 0 for the smoothed time.
            min_rtt_us: has(offset_of!(TcpInfo, min_rtt), 4)
                .then_some(raw.min_rtt)
                .filter(|&us| us != u32::MAX),
            srtt_us: has(offset_of!(TcpInfo, rtt), 4)
                .then_some(raw.rtt)
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

    #[test]
    fn an_older_kernel_leaves_fields_empty() {
        let raw = TcpInfo {
            total_retrans: 3,
            min_rtt: u32::MAX,
            rtt: 50,
            delivered: 9,
            ..TcpInfo::default()
        };
        let counters = TcpCounters::from_raw(&raw, offset_of!(TcpInfo, delivered));
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
