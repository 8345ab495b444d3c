//! What the kernel tells of a connection, as a row.

use std::mem::offset_of;

use tcp_info::TcpInfo;

use crate::inet_diag::{info_field, unless, DIAG_HEADER_BYTES, INET_DIAG_CONG, INET_DIAG_INFO};
use crate::series::Series;
use crate::subflow::Path;
use netlink::{attributes, text, u16_at, u32_at, u64_at};

pub const FORMAT: (&str, &str) = (
    "fabriclab-connections-1",
    "end_ns,node,address,port,peer_address,peer_port,state,bytes_sent,bytes_acked,bytes_received,segments_sent,\
     segments_received,retransmits,retransmitted_bytes,duplicates,timeouts,\
     delivered,delivered_ce,min_rtt_us,srtt_us,congestion",
);

/// How many columns of numbers follow `state`.
const NUMBERS: usize = 13;

/// TCP_LISTEN of `include/net/tcp_states.h`.
const LISTEN: u8 = 10;

/// Whether a connection's socket is gone.
#[derive(Clone, Copy, Debug)]
pub enum State {
    Ended,
    Open,
}

impl State {
    fn word(self) -> &'static str {
        match self {
            Self::Ended => "ended",
            Self::Open => "open",
        }
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct ConnectionRow {
    pub path: Path,
    /// In the columns' order, from `bytes_sent` to `srtt_us`.
    pub numbers: [Option<u64>; NUMBERS],
    /// Empty where the kernel does not tell it, as of a socket that is gone.
    congestion: String,
}

impl ConnectionRow {
    pub fn write(
        &self,
        series: &mut Series,
        end_ns: i64,
        node: &str,
        state: State,
    ) -> Result<(), String> {
        series.signed_row(end_ns);
        series.text(node);
        for end in [self.path.local, self.path.remote] {
            series.display(end.ip());
            series.number(u64::from(end.port()));
        }
        series.text(state.word());
        for number in self.numbers {
            series.optional(number);
        }
        series.text(&self.congestion);
        series.end_row()
    }
}

/// Reads a message. `None` for what has no connection: a socket that listened, that never had a peer, or whose
/// connection the kernel took back with all its counters (`tcp_disconnect`: refused, or closed with SO_LINGER 0).
pub fn read_connection(payload: &[u8]) -> Option<ConnectionRow> {
    let path = Path::read(payload)?;
    let (mut info, mut congestion) = (&[][..], String::new());
    for (attribute, value) in attributes(payload.get(DIAG_HEADER_BYTES..)?) {
        match attribute {
            INET_DIAG_INFO => info = value,
            INET_DIAG_CONG => congestion = text(value),
            _ => {}
        }
    }
    let state = *info.first()?;
    (state != LISTEN && path.remote.port() != 0).then(|| ConnectionRow {
        path,
        numbers: numbers(info),
        congestion,
    })
}

fn numbers(info: &[u8]) -> [Option<u64>; NUMBERS] {
    macro_rules! field {
        ($read:ident, $field:ident) => {
            info_field!(info, $read, $field)
        };
    }
    [
        field!(u64_at, bytes_sent),
        field!(u64_at, bytes_acked),
        field!(u64_at, bytes_received),
        field!(u32_at, segs_out),
        field!(u32_at, segs_in),
        field!(u32_at, total_retrans),
        field!(u64_at, bytes_retrans),
        field!(u32_at, dsack_dups),
        field!(u16_at, total_rto),
        field!(u32_at, delivered),
        field!(u32_at, delivered_ce),
        // Before the first measurement there is neither.
        unless(field!(u32_at, min_rtt), u64::from(u32::MAX)),
        unless(field!(u32_at, rtt), 0),
    ]
}
