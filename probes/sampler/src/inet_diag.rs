//! What the kernel tells of one TCP socket: `struct inet_diag_msg` and its attributes
//! (`include/uapi/linux/inet_diag.h`).

use std::mem::offset_of;

use tcp_info::TcpInfo;

use crate::subflow::Subflow;
use netlink::{attributes, u16_at, u32_at, u64_at, Request};

/// Of `include/uapi/linux/inet_diag.h`. This request, older than SOCK_DIAG_BY_FAMILY, dumps IPv4 and IPv6 sockets in
/// one walk over the kernel's table (`inet_diag_dump_compat` in `net/ipv4/inet_diag.c`); the walk is what a sample of
/// an idle node costs.
const TCPDIAG_GETSOCK: u16 = 18;

/// `struct inet_diag_req`, and the places of its fields.
const REQUEST_BYTES: usize = 60;
const REQUEST_FAMILY_OFFSET: usize = 0;
const REQUEST_EXTENSIONS_OFFSET: usize = 3;
const REQUEST_STATES_OFFSET: usize = 52;

/// Every state in which a socket has a connection: established, syn_sent, fin_wait1, fin_wait2, close_wait, last_ack,
/// closing.
const CONNECTED_STATES: u32 =
    (1 << 1) | (1 << 2) | (1 << 4) | (1 << 5) | (1 << 8) | (1 << 9) | (1 << 11);

/// `struct inet_diag_msg` and the places of its fields.
pub const DIAG_HEADER_BYTES: usize = 72;
const STATE_OFFSET: usize = 1;
const COOKIE_OFFSET: usize = 44;

pub const INET_DIAG_INFO: u16 = 2;
const INET_DIAG_VEGASINFO: u16 = 3;
pub const INET_DIAG_CONG: u16 = 4;
const INET_DIAG_DCTCPINFO: u16 = 9;
const INET_DIAG_MARK: u16 = 15;
const INET_DIAG_ULP_INFO: u16 = 19;
/// Of `include/uapi/linux/fabriclab_samples.h`: a RoCE NIC's queue pair, in place of INET_DIAG_INFO.
const SAMPLES_ATTRIBUTE_PAIR: u16 = 200;

/// `idiag_ext` of a request: the attributes that are wanted. DCTCP's state is asked for as Vegas's; the mark comes
/// unasked, and MPTCP's ULP information with INET_DIAG_INFO (`tcp_diag_get_aux` in `net/ipv4/tcp_diag.c`).
const EXTENSIONS: u8 =
    (1 << (INET_DIAG_INFO - 1)) | (1 << (INET_DIAG_VEGASINFO - 1)) | (1 << (INET_DIAG_CONG - 1));

/// `TCP_CA_NAME_MAX` of `include/net/tcp.h`.
const CONGESTION_NAME_BYTES: usize = 16;
/// `TCP_INFINITE_SSTHRESH` of `include/net/tcp.h`: slow start has not ended yet.
const INFINITE_SSTHRESH: u64 = 0x7fff_ffff;
/// `DCTCP_MAX_ALPHA` of `net/ipv4/tcp_dctcp.c`.
const DCTCP_MAX_ALPHA: f64 = 1024.0;

/// `tcpi_state`, from `include/net/tcp_states.h`, by number.
const STATES: [&str; 13] = [
    "",
    "established",
    "syn_sent",
    "syn_recv",
    "fin_wait1",
    "fin_wait2",
    "time_wait",
    "close",
    "close_wait",
    "last_ack",
    "listen",
    "closing",
    "new_syn_recv",
];

/// `enum tcp_ca_state` of `include/uapi/linux/tcp.h`, by number.
const CA_STATES: [&str; 5] = ["open", "disorder", "cwr", "recovery", "loss"];

/// How many columns of numbers a row of the TCP file has.
pub const NUMBERS: usize = 16;

/// A connection at one moment: the columns of a row.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Connection {
    /// In the columns' order, from `cwnd` to `bytes_acked`; absent: unknown, infinite or unlimited.
    pub numbers: [Option<u64>; NUMBERS],
    state: u8,
    ca_state: u8,
    congestion: [u8; CONGESTION_NAME_BYTES],
    /// DCTCP's or DCQCN's estimate of the marked fraction, 0 to 1.
    alpha: Option<f64>,
}

impl Connection {
    pub fn state(&self) -> &'static str {
        STATES.get(usize::from(self.state)).copied().unwrap_or("")
    }

    pub fn ca_state(&self) -> &'static str {
        CA_STATES
            .get(usize::from(self.ca_state))
            .copied()
            .unwrap_or("")
    }

    /// The name of the congestion control.
    pub fn congestion(&self) -> &str {
        let end = self
            .congestion
            .iter()
            .position(|byte| *byte == 0)
            .unwrap_or(CONGESTION_NAME_BYTES);
        std::str::from_utf8(&self.congestion[..end]).unwrap_or("")
    }

    pub fn alpha(&self) -> Option<f64> {
        self.alpha
    }
}

/// A socket in a dump.
#[derive(Clone, Debug)]
pub struct DiagnosedSocket {
    pub mark: u32,
    /// Numbers the sockets of a machine in the order in which they were first asked for.
    pub cookie: u64,
    /// Of an MPTCP connection.
    pub subflow: Option<Subflow>,
    pub connection: Connection,
}

impl DiagnosedSocket {
    /// What has rows of its own, a flow or a subflow of one; rows of one time are in this order.
    pub fn key(&self) -> RowKey {
        (self.mark, self.subflow.map(|subflow| subflow.number))
    }
}

/// A flow's mark, and the number of its subflow.
pub type RowKey = (u32, Option<u32>);

/// A request for a dump of all sockets that have a connection.
pub fn dump_request() -> Request {
    let mut body = [0; REQUEST_BYTES];
    body[REQUEST_FAMILY_OFFSET] = libc::AF_INET as u8;
    body[REQUEST_EXTENSIONS_OFFSET] = EXTENSIONS;
    body[REQUEST_STATES_OFFSET..][..4].copy_from_slice(&CONNECTED_STATES.to_ne_bytes());
    Request::new(TCPDIAG_GETSOCK, libc::NLM_F_DUMP, &body)
}

/// Reads one message of a dump. `None` for what is no full socket any more (TIME_WAIT and the like have no `tcp_info`).
pub fn read_socket(payload: &[u8]) -> Option<DiagnosedSocket> {
    let (mut info, mut congestion, mut dctcp, mut mark) = (None, &[][..], None, 0);
    let mut pair = None;
    let mut subflow = None;
    for (attribute, value) in attributes(payload.get(DIAG_HEADER_BYTES..)?) {
        match attribute {
            INET_DIAG_INFO => info = Some(value),
            INET_DIAG_CONG => congestion = value,
            INET_DIAG_DCTCPINFO => dctcp = Some(value),
            INET_DIAG_MARK => mark = u32_at(value, 0)?,
            INET_DIAG_ULP_INFO => subflow = Subflow::read(payload, value),
            SAMPLES_ATTRIBUTE_PAIR => pair = Some(value),
            _ => {}
        }
    }
    let (numbers, ca_state, alpha) = match pair {
        Some(pair) => (numbers_of_pair(pair), u8::MAX, pair_alpha(pair)),
        None => {
            let info = info.filter(|info: &&[u8]| !info.is_empty())?;
            let ca_state = info.get(offset_of!(TcpInfo, ca_state)).copied();
            (
                numbers(info),
                ca_state.unwrap_or(u8::MAX),
                dctcp.and_then(read_alpha),
            )
        }
    };
    let mut name = [0; CONGESTION_NAME_BYTES];
    let length = congestion.len().min(CONGESTION_NAME_BYTES);
    name[..length].copy_from_slice(&congestion[..length]);
    let connection = Connection {
        numbers,
        state: payload[STATE_OFFSET],
        ca_state,
        congestion: name,
        alpha,
    };
    // Two 32-bit words, the lower one first (`__sock_gen_cookie`, `sock_diag_save_cookie`).
    let cookie = u64::from(u32_at(payload, COOKIE_OFFSET)?)
        | (u64::from(u32_at(payload, COOKIE_OFFSET + 4)?) << 32);
    Some(DiagnosedSocket {
        mark,
        cookie,
        subflow,
        connection,
    })
}

/// A number of `struct tcp_info`; `None` where this kernel's ends before it.
macro_rules! info_field {
    ($info:expr, $read:ident, $field:ident) => {
        $read($info, offset_of!(TcpInfo, $field)).map(u64::from)
    };
}
pub(crate) use info_field;

/// A number, `None` where it is the one that stands for none.
pub fn unless(value: Option<u64>, absent: u64) -> Option<u64> {
    value.filter(|value| *value != absent)
}

fn numbers(info: &[u8]) -> [Option<u64>; NUMBERS] {
    macro_rules! field {
        ($read:ident, $field:ident) => {
            info_field!(info, $read, $field)
        };
    }
    let bits = |bytes: Option<u64>| unless(bytes, u64::MAX).map(|bytes| bytes.saturating_mul(8));
    [
        field!(u32_at, snd_cwnd),
        unless(field!(u32_at, snd_ssthresh), INFINITE_SSTHRESH),
        field!(u32_at, rtt),
        field!(u32_at, rttvar),
        unless(field!(u32_at, min_rtt), u64::from(u32::MAX)),
        field!(u32_at, rto),
        field!(u32_at, unacked),
        field!(u32_at, lost),
        field!(u32_at, retrans),
        field!(u32_at, total_retrans),
        field!(u16_at, total_rto),
        field!(u32_at, delivered),
        field!(u32_at, delivered_ce),
        bits(field!(u64_at, pacing_rate)),
        bits(field!(u64_at, delivery_rate)),
        field!(u64_at, bytes_acked),
    ]
}

/// `struct tcp_dctcp_info`: enabled, ce_state (16 bits each), alpha, ... It is not enabled where the peer refused ECN.
fn read_alpha(info: &[u8]) -> Option<f64> {
    match u16_at(info, 0)? {
        0 => None,
        _ => Some(f64::from(u32_at(info, 4)?) / DCTCP_MAX_ALPHA),
    }
}

/// The columns of `struct samples_pair`. Only some congestion controls have a window, or measure round trips.
fn numbers_of_pair(pair: &[u8]) -> [Option<u64>; NUMBERS] {
    let count = |place: usize| u32_at(pair, place).map(u64::from);
    let mut numbers = [None; NUMBERS];
    numbers[0] = unless(count(64), 0);
    numbers[2] = unless(u64_at(pair, 56), 0).map(|rtt_ns| rtt_ns / 1000);
    numbers[5] = u64_at(pair, 16).map(|timeout_ns| timeout_ns / 1000);
    numbers[6] = count(24);
    // Sent again, timeouts, acknowledged, told of marks.
    for (column, place) in (9..13).zip((28..).step_by(4)) {
        numbers[column] = count(place);
    }
    numbers[13] = u64_at(pair, 0);
    numbers[15] = u64_at(pair, 8);
    numbers
}

/// An estimate that not every congestion control has.
fn pair_alpha(pair: &[u8]) -> Option<f64> {
    let alpha = f64::from(u32_at(pair, 44)?) / f64::from(u32::MAX);
    u32_at(pair, 48)
        .filter(|&has_one| has_one != 0)
        .map(|_| alpha)
}

#[cfg(test)]
#[path = "inet_diag_tests.rs"]
mod tests;
