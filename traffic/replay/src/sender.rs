//! The sending side of a connection: flows in order, one after the other into the socket.

use std::collections::VecDeque;
use std::io;
use std::os::fd::RawFd;

use crate::clock::Clock;
use crate::counters::TcpCounters;
use crate::head::Head;
use crate::schedule::RowId;
use crate::sys;
use crate::trace::{Extent, Flow, HEAD_BYTES};

/// A flow that is being sent.
#[derive(Debug)]
pub struct Outgoing {
    pub row: RowId,
    /// When this host started it; `None` if the peer did (pull).
    pub start_ns: Option<i64>,
    pub first_byte_ns: Option<i64>,
    pub written: u64,
    number: [u8; HEAD_BYTES as usize],
    /// `None` for a long flow.
    size: Option<u64>,
    /// Where its last byte stands in the connection's stream; known when it is written.
    end_offset: u64,
}

impl Outgoing {
    pub fn new(row: RowId, flow: &Flow, start_ns: Option<i64>) -> Self {
        let size = match flow.extent {
            Extent::Bytes(bytes) => Some(bytes),
            Extent::UntilNs(_) => None,
        };
        Self {
            row,
            start_ns,
            first_byte_ns: None,
            written: 0,
            number: flow.number.to_be_bytes(),
            size,
            end_offset: 0,
        }
    }

    fn is_written(&self) -> bool {
        self.size == Some(self.written)
    }
}

pub struct Sender {
    queue: VecDeque<Outgoing>,
    /// How many flows at the queue's front are wholly written and wait for their delivery.
    written_flows: usize,
    /// Bytes written to the connection.
    offset: u64,
    /// On a kept connection nothing but the acknowledgement tells that a flow is delivered.
    report_delivery: bool,
    /// The connection's counters when the flow before was delivered.
    counted: TcpCounters,
    /// What is read of a pull's request.
    request: Request,
}

/// A pull's request as it comes in: the flow's number, then zeroes.
#[derive(Default)]
struct Request {
    head: Head,
    /// The flow that is asked for, and how many zeroes are to come.
    asked: Option<(RowId, u64)>,
}

impl Sender {
    pub fn new(report_delivery: bool) -> Self {
        let counted = TcpCounters::at_start_of_connection();
        Self {
            queue: VecDeque::new(),
            written_flows: 0,
            offset: 0,
            report_delivery,
            counted,
            request: Request::default(),
        }
    }

    pub fn push(&mut self, flow: Outgoing) {
        self.queue.push_back(flow);
    }

    /// The number of the next flow that is asked for, from the front of `data`; its request goes on with
    /// [`Sender::begin_request`].
    pub fn take_number(&mut self, data: &mut &[u8]) -> Option<u32> {
        self.request.head.take(data)
    }

    /// Begins with what follows a request's number.
    pub fn begin_request(&mut self, row: RowId, flow: &Flow) {
        let to_come = u64::from(flow.request_bytes) - HEAD_BYTES;
        self.request.asked = Some((row, to_come));
    }

    /// Takes the rest of a request from the front of `data`; its flow when it is whole.
    pub fn take_rest(&mut self, data: &mut &[u8]) -> Option<RowId> {
        let (row, to_come) = self.request.asked?;
        let count = to_come.min(data.len() as u64);
        *data = &data[count as usize..];
        self.request.asked = Some((row, to_come - count)).filter(|(_, rest)| *rest > 0);
        self.request.asked.is_none().then_some(row)
    }

    /// Whether a request has come in part.
    pub fn reads_request(&self) -> bool {
        self.request.asked.is_some()
    }

    pub fn has_unwritten(&self) -> bool {
        self.written_flows < self.queue.len()
    }

    /// Writes until all is written or the socket is full; the kernel then reports when it has room.
    pub fn write(&mut self, fd: RawFd, clock: &Clock) -> io::Result<()> {
        while let Some(flow) = self.queue.get_mut(self.written_flows) {
            let head = &flow.number[(flow.written.min(HEAD_BYTES)) as usize..];
            let to_come = flow.size.map_or(u64::MAX, |size| size - flow.written);
            let body = (to_come - head.len() as u64).min(sys::BLOCK_BYTES as u64) as usize;
            let asked = head.len() + body;
            let last = asked as u64 == to_come;
            let taken = match sys::send(fd, head, body, self.report_delivery && last) {
                Ok(taken) => taken,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(()),
                Err(error) => return Err(error),
            };
            flow.first_byte_ns.get_or_insert_with(|| clock.now_ns());
            flow.written += taken as u64;
            self.offset += taken as u64;
            if flow.is_written() {
                flow.end_offset = self.offset;
                self.written_flows += 1;
            } else if taken < asked {
                return Ok(());
            }
        }
        Ok(())
    }

    /// The next flow that the peer has acknowledged wholly, as far as `acknowledged` bytes of the stream go.
    pub fn next_delivered(&mut self, acknowledged: u64) -> Option<Outgoing> {
        let first = self.queue.front().filter(|_| self.written_flows > 0)?;
        if first.end_offset > acknowledged {
            return None;
        }
        self.written_flows -= 1;
        self.queue.pop_front()
    }

    /// How much of the stream the peer has acknowledged.
    pub fn acknowledged(&self, fd: RawFd) -> io::Result<u64> {
        Ok(self.offset - sys::unacknowledged_bytes(fd)?)
    }

    /// Takes whatever flow is first, delivered or not.
    pub fn abandon(&mut self) -> Option<Outgoing> {
        self.written_flows = self.written_flows.saturating_sub(1);
        self.queue.pop_front()
    }

    /// The counters since the flow before.
    pub fn count(&mut self, fd: RawFd) -> TcpCounters {
        let now = TcpCounters::read(fd);
        let flow = now.since(self.counted);
        self.counted = now;
        flow
    }
}
