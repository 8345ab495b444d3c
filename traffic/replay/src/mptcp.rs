//! What an MPTCP connection is made of: its subflows and their counters, and whether it is plain TCP after all.
//!
//! Socket options of level SOL_MPTCP, Linux 6.12 `include/uapi/linux/mptcp.h`; `net/mptcp/sockopt.c` answers them. A
//! socket that has fallen back passes them to TCP, which refuses. Before Linux 6.5 there is no MPTCP_FULL_INFO:
//! counters read as absent then.

use std::os::fd::RawFd;

use tcp_info::TcpInfo;

use crate::counters::TcpCounters;
use crate::sys;

/// Subflows looked at; the kernel's path manager makes eight beside the first, the user-space ones as many as they
/// like.
const MOST: usize = 32;

/// A subflow as it was last seen; one that is gone keeps its counts.
#[derive(Clone, Copy, Debug)]
struct Subflow {
    id: u32,
    counters: TcpCounters,
}

/// What has been seen of a connection for which MPTCP was asked.
#[derive(Debug, Default)]
pub struct Subflows {
    seen: Vec<Subflow>,
    most_established: u32,
    is_tcp: bool,
}

impl Subflows {
    /// Looks at the connection's subflows as they are now.
    pub fn look(&mut self, fd: RawFd) {
        if self.is_tcp || !sys::is_mptcp(fd) {
            self.is_tcp = true;
            return;
        }
        let mut ids = [0u32; MOST];
        let mut infos = [TcpInfo::default(); MOST];
        let count = sys::read_subflows(fd, &mut ids, &mut infos);
        let found = ids.iter().zip(&infos).take(count);
        let established: Vec<_> = found.filter(|(_, info)| is_established(info)).collect();
        self.most_established = self.most_established.max(established.len() as u32);
        for (&id, info) in established {
            self.note(id, TcpCounters::of(info));
        }
    }

    fn note(&mut self, id: u32, counters: TcpCounters) {
        let counters = counters.since(TcpCounters::at_start_of_connection());
        match self.seen.iter_mut().find(|subflow| subflow.id == id) {
            Some(subflow) => subflow.counters = counters,
            None => self.seen.push(Subflow { id, counters }),
        }
    }

    /// Whether plain TCP came of it.
    pub fn is_tcp(&self) -> bool {
        self.is_tcp
    }

    /// Most subflows that were established at one time; `None` when none was seen.
    pub fn most_established(&self) -> Option<u32> {
        Some(self.most_established).filter(|&most| most > 0)
    }

    /// Sums over all subflows; the least round-trip time, and the smoothed one of the subflow that delivered most.
    pub fn counters(&self) -> TcpCounters {
        let counters = self.seen.iter().map(|subflow| subflow.counters);
        let sum = counters.reduce(TcpCounters::and);
        let busiest = self
            .seen
            .iter()
            .rev()
            .max_by_key(|subflow| subflow.counters.delivered);
        TcpCounters {
            srtt_us: busiest.and_then(|subflow| subflow.counters.srtt_us),
            ..sum.unwrap_or_default()
        }
    }
}

/// Whether a subflow's handshake is over and it is not closed (`include/net/tcp_states.h`).
fn is_established(info: &TcpInfo) -> bool {
    const ESTABLISHED: u8 = 1;
    const FIN_WAIT_1: u8 = 4;
    const FIN_WAIT_2: u8 = 5;
    const CLOSE_WAIT: u8 = 8;
    const LAST_ACK: u8 = 9;
    const CLOSING: u8 = 11;
    matches!(
        info.state,
        ESTABLISHED | FIN_WAIT_1 | FIN_WAIT_2 | CLOSE_WAIT | LAST_ACK | CLOSING
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counters(delivered: u32, min_rtt_us: u32, srtt_us: u32) -> TcpCounters {
        TcpCounters {
            retransmits: Some(2),
            timeouts: Some(1),
            marks: Some(0),
            delivered: Some(delivered),
            min_rtt_us: Some(min_rtt_us),
            srtt_us: Some(srtt_us),
        }
    }

    #[test]
    fn counters_are_sums_without_the_syns() {
        let mut subflows = Subflows::default();
        subflows.note(0, counters(11, 50, 70));
        subflows.note(1, counters(31, 60, 90));
        subflows.note(0, counters(21, 50, 80));
        let expected = TcpCounters {
            retransmits: Some(4),
            timeouts: Some(2),
            ..counters(50, 50, 90)
        };
        assert_eq!(subflows.counters(), expected);
    }

    #[test]
    fn nothing_seen_is_absent() {
        let subflows = Subflows::default();
        assert_eq!(subflows.counters(), TcpCounters::default());
        assert_eq!(subflows.most_established(), None);
    }

    #[test]
    fn what_is_no_mptcp_socket_is_a_fallback() {
        let socket = std::net::TcpListener::bind("127.0.0.1:0").expect("bind");
        let mut subflows = Subflows::default();
        subflows.look(std::os::fd::AsRawFd::as_raw_fd(&socket));
        assert!(subflows.is_tcp());
    }
}
