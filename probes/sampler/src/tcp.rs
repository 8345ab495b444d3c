//! Samples TCP connections: a dump of a node's sockets by sock_diag, filtered in the kernel by their marks. Where the
//! kernel takes samples itself, it records the same ([`recorded`]).

pub mod recorded;

use std::collections::BTreeMap;
use std::path::PathBuf;

use crate::config::{Flow, Tcp};
use crate::inet_diag::{dump_request, read_socket, Connection, DiagnosedSocket, RowKey, NUMBERS};
use crate::links::{receive_dump, DUMP_BYTES};
use crate::namespace::{describe, open_socket};
use crate::probe::Probe;
use crate::series::Series;
use crate::subflow::{Numbering, Path};
use netlink::{Inbox, Protocol, Socket};

const FORMAT: (&str, &str) = (
    "fabriclab-tcp-2",
    "time_ns,node,flow,subflow,path,cwnd,ssthresh,srtt_us,rttvar_us,min_rtt_us,rto_us,unacked,lost,retrans,\
     total_retrans,timeouts,delivered,delivered_ce,pacing_bps,delivery_bps,bytes_acked,state,ca_state,congestion,alpha",
);

/// How many columns follow `path`.
const COLUMNS: usize = NUMBERS + 4;

const INET_DIAG_REQ_BYTECODE: u16 = 1;
const INET_DIAG_BC_JMP: u8 = 1;
const INET_DIAG_BC_MARK_COND: u8 = 10;
/// A condition is `struct inet_diag_bc_op` (4 bytes) and `struct inet_diag_markcond` (8 bytes); a jump is the former
/// alone.
const CONDITION_BYTES: u16 = 12;
const JUMP_BYTES: u16 = 4;

/// The kernel tries the flows one after the other for each socket; beyond so many a search in our sorted list is
/// cheaper.
const MAX_FLOWS_IN_KERNEL: usize = 64;

/// What the last row said of a socket.
struct Written {
    cookie: u64,
    connection: Connection,
}

struct Node {
    name: String,
    netns: Option<PathBuf>,
    socket: Socket,
    numbering: Numbering,
    /// The last rows of what is not gone.
    written: BTreeMap<RowKey, Written>,
}

pub struct TcpSampler {
    nodes: Vec<Node>,
    /// The marks that are wanted, sorted; `None`: all.
    marks: Option<Vec<u32>>,
    request: Vec<u8>,
    inbox: Inbox,
    /// The sockets of one dump; kept so as not to allocate it anew.
    sockets: Vec<DiagnosedSocket>,
    series: Series,
}

impl TcpSampler {
    /// Opens the sockets, tries the request on each node, then creates the output file.
    pub fn open(tcp: &Tcp) -> Result<Self, String> {
        let marks = tcp.flows.as_deref().map(sorted_marks);
        let request = build_request(marks.as_deref());
        let mut inbox = Inbox::new(4, DUMP_BYTES);
        let mut nodes = Vec::new();
        for (index, node) in tcp.nodes.iter().enumerate() {
            let netns = node.netns.as_deref();
            let socket = open_socket(netns, Protocol::SockDiag)
                .map_err(|error| format!("tcp.nodes[{index}].netns: {error}"))?;
            receive_dump(&socket, &request, &mut inbox, |_, _| {}).map_err(|error| {
                format!(
                    "tcp.nodes[{index}]: sockets of {} (their marks take CAP_NET_ADMIN): {error}",
                    describe(netns)
                )
            })?;
            nodes.push(Node {
                name: node.name.0.clone(),
                netns: node.netns.clone(),
                socket,
                numbering: Numbering::default(),
                written: BTreeMap::new(),
            });
        }
        let series = Series::create(&tcp.output, FORMAT.0, FORMAT.1)?;
        Ok(Self {
            nodes,
            marks,
            request,
            inbox,
            sockets: Vec::new(),
            series,
        })
    }
}

impl Probe for TcpSampler {
    fn sample(&mut self, time_ns: u64, last: bool) -> Result<(), String> {
        for node in &mut self.nodes {
            self.sockets.clear();
            receive_dump(
                &node.socket,
                &self.request,
                &mut self.inbox,
                |_, payload| self.sockets.extend(read_socket(payload)),
            )
            .map_err(|error| format!("sampling the connections of {}: {error}", node.name))?;
            let marks = self.marks.as_deref();
            node.take(&mut self.sockets, marks, (time_ns, last), &mut self.series)?;
        }
        self.series.flush_by_time(time_ns)
    }

    fn finish(&mut self) -> Result<(), String> {
        self.series.flush()
    }
}

impl Node {
    /// Takes all sockets of a sample, and writes their rows; (the sample's time, whether it is the last one).
    fn take(
        &mut self,
        sockets: &mut Vec<DiagnosedSocket>,
        marks: Option<&[u32]>,
        (time_ns, last): (u64, bool),
        series: &mut Series,
    ) -> Result<(), String> {
        keep_wanted(sockets, marks);
        self.number_subflows(sockets);
        self.write_rows(sockets, time_ns, last, series)
    }

    /// Numbers the subflows among the sockets, which [`keep_wanted`] has sorted, and sorts by these numbers.
    fn number_subflows(&mut self, sockets: &mut [DiagnosedSocket]) {
        let mut found = false;
        for socket in &mut *sockets {
            if let Some(subflow) = &mut socket.subflow {
                subflow.number = self.numbering.number(socket.mark, socket.cookie);
                found = true;
            }
        }
        if found {
            sockets.sort_unstable_by_key(DiagnosedSocket::key);
        }
    }

    /// `sockets` are sorted by their keys, and so are the rows.
    fn write_rows(
        &mut self,
        sockets: &[DiagnosedSocket],
        time_ns: u64,
        last: bool,
        series: &mut Series,
    ) -> Result<(), String> {
        for socket in sockets {
            let written = Written {
                cookie: socket.cookie,
                connection: socket.connection,
            };
            let before = self.written.insert(socket.key(), written);
            if last || before.map(|before| before.connection) != Some(socket.connection) {
                let path = socket.subflow.map(|subflow| subflow.path);
                let values = Some((path, &socket.connection));
                write_row(series, time_ns, &self.name, socket.key(), values)?;
            }
        }
        if self.written.len() > sockets.len() {
            self.write_gone(sockets, time_ns, series)?;
        }
        Ok(())
    }

    /// A connection that is gone gets one row of empty values, else its last row would hold for ever.
    fn write_gone(
        &mut self,
        sockets: &[DiagnosedSocket],
        time_ns: u64,
        series: &mut Series,
    ) -> Result<(), String> {
        let Self {
            name, numbering, ..
        } = self;
        let mut result = Ok(());
        self.written.retain(|key, written| {
            let alive = sockets
                .binary_search_by_key(key, DiagnosedSocket::key)
                .is_ok();
            if !alive && result.is_ok() {
                numbering.forget(written.cookie);
                result = write_row(series, time_ns, name, *key, None);
            }
            alive
        });
        result
    }
}

/// Writes what is known of a connection, and of a subflow its ends; `None`: it is gone.
fn write_row(
    series: &mut Series,
    time_ns: u64,
    node: &str,
    (mark, subflow): RowKey,
    values: Option<(Option<Path>, &Connection)>,
) -> Result<(), String> {
    series.row(time_ns, node);
    series.number(u64::from(mark) - 1);
    series.optional(subflow.map(u64::from));
    match values {
        None => series.empty(1 + COLUMNS),
        Some((path, connection)) => {
            match path {
                Some(path) => series.display(path),
                None => series.empty(1),
            }
            write_connection(series, connection);
        }
    }
    series.end_row()
}

fn write_connection(series: &mut Series, connection: &Connection) {
    connection
        .numbers
        .iter()
        .for_each(|number| series.optional(*number));
    series.text(connection.state());
    series.text(connection.ca_state());
    series.text(connection.congestion());
    match connection.alpha() {
        Some(alpha) => series.fraction(alpha),
        None => series.empty(1),
    }
}

fn sorted_marks(flows: &[Flow]) -> Vec<u32> {
    let mut marks: Vec<u32> = flows.iter().map(|flow| flow.mark()).collect();
    marks.sort_unstable();
    marks.dedup();
    marks
}

/// Keeps the wanted sockets and sorts them by mark: subflows in the order of [`Subflow`](crate::subflow::Subflow), of
/// several plain connections with one mark only the oldest.
fn keep_wanted(sockets: &mut Vec<DiagnosedSocket>, marks: Option<&[u32]>) {
    sockets.retain(|socket| {
        socket.mark != 0 && marks.is_none_or(|marks| marks.binary_search(&socket.mark).is_ok())
    });
    sockets.sort_unstable_by_key(|socket| (socket.mark, socket.subflow, socket.cookie));
    sockets.dedup_by(|later, earlier| {
        later.mark == earlier.mark && later.subflow.is_none() && earlier.subflow.is_none()
    });
}

fn build_request(marks: Option<&[u32]>) -> Vec<u8> {
    let filter = match marks {
        Some(marks) if marks.len() <= MAX_FLOWS_IN_KERNEL => marked_with_one_of(marks),
        _ => marked_at_all(),
    };
    dump_request()
        .attribute(INET_DIAG_REQ_BYTECODE, &filter)
        .finish(0)
        .to_vec()
}

/// A filter program that accepts a socket whose mark is not 0. A program accepts at its end and refuses beyond it.
fn marked_at_all() -> Vec<u8> {
    let mut program = Vec::new();
    append_condition(&mut program, 0, CONDITION_BYTES + JUMP_BYTES);
    append_jump(&mut program, JUMP_BYTES + 4);
    program
}

/// A filter program that accepts a socket with one of these marks: for each a condition, and behind it a jump to the
/// end.
fn marked_with_one_of(marks: &[u32]) -> Vec<u8> {
    let mut program = Vec::new();
    let mut left = marks.len() as u16 * (CONDITION_BYTES + JUMP_BYTES) - JUMP_BYTES;
    for mark in marks {
        let last = left == CONDITION_BYTES;
        append_condition(
            &mut program,
            *mark,
            if last {
                left + 4
            } else {
                CONDITION_BYTES + JUMP_BYTES
            },
        );
        left -= CONDITION_BYTES;
        if !last {
            append_jump(&mut program, left);
            left -= JUMP_BYTES;
        }
    }
    program
}

/// Goes on behind it if the mark is `mark`, else `otherwise` bytes from its beginning.
fn append_condition(program: &mut Vec<u8>, mark: u32, otherwise: u16) {
    program.extend_from_slice(&[INET_DIAG_BC_MARK_COND, CONDITION_BYTES as u8]);
    program.extend_from_slice(&otherwise.to_ne_bytes());
    program.extend_from_slice(&mark.to_ne_bytes());
    program.extend_from_slice(&u32::MAX.to_ne_bytes());
}

/// Goes on `distance` bytes from its beginning.
fn append_jump(program: &mut Vec<u8>, distance: u16) {
    program.extend_from_slice(&[INET_DIAG_BC_JMP, JUMP_BYTES as u8]);
    program.extend_from_slice(&distance.to_ne_bytes());
}

#[cfg(test)]
#[path = "tcp_tests.rs"]
mod tests;
