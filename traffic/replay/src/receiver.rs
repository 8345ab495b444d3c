//! The receiving side of a connection: a stream of flows, each a number and its data, read with as few wake-ups as can
//! be.
//!
//! The head of a flow is read as soon as it is there, which gives the time of its first byte. Its rest is thrown away
//! unread (MSG_TRUNC), and the kernel wakes us for it only when SO_RCVLOWAT bytes have come.

use std::collections::VecDeque;
use std::io;
use std::os::fd::{AsRawFd, RawFd};

use socket2::Socket;

use crate::clock::Clock;
use crate::head::Head;
use crate::schedule::RowId;
use crate::sys;
use crate::trace::{Extent, Flow, HEAD_BYTES};
use crate::window::WindowLimit;

/// Bytes that are worth a wake-up.
const WAKE_BYTES: u64 = 64 * 1024;
/// The part of the receive buffer that may lie unread, as what lies unread is not advertised. The kernel counts a
/// packet's memory, not its payload, so that about half of the buffer can be advertised at all.
const BUFFER_SHARE: u64 = 4;
/// A buffer below the kernel's default limits the window on purpose, as a route's window does: then every packet is
/// read at once. (With 16 KB, a quarter of it unread cost 18 % of the goodput.)
const SMALL_BUFFER_BYTES: u64 = 128 * 1024;
/// After how many bytes to look for the first time whether the receive buffer has grown; then each time that many again
/// have come.
const FIRST_BUFFER_CHECK_BYTES: u64 = 256 * 1024;
/// Room for the head of a flow and what comes with it, an initial window of ten segments.
pub const HEAD_BUFFER_BYTES: usize = 16 * 1024;

/// A flow that is being received.
#[derive(Debug)]
pub struct Incoming {
    pub row: RowId,
    pub start_ns: Option<i64>,
    pub first_byte_ns: Option<i64>,
    pub bytes: u64,
    /// `None` for a long flow.
    size: Option<u64>,
}

impl Incoming {
    fn to_come(&self) -> u64 {
        self.size.map_or(u64::MAX, |size| size - self.bytes)
    }

    pub fn is_complete(&self) -> bool {
        self.size == Some(self.bytes)
    }
}

/// A pull's request that is being sent: the flow's number, then zeroes.
struct Request {
    number: [u8; HEAD_BYTES as usize],
    bytes: u64,
    written: u64,
}

/// Why reading ended.
#[derive(Debug)]
pub enum ReadEnd {
    /// Nothing more is there now.
    Blocked,
    Closed,
    Failed(io::Error),
}

/// Finds a flow of this connection by its number.
pub trait FindFlow {
    fn find(&self, number: u32) -> Option<(RowId, Extent)>;
}

pub struct Receiver {
    head: Head,
    current: Option<Incoming>,
    /// Pulls that were asked for and whose answers are to come, in order, with their start times.
    asked: VecDeque<(RowId, i64)>,
    /// Requests that the socket has not taken wholly.
    requests: VecDeque<Request>,
    /// Whether data comes only when asked for.
    pull: bool,
    /// Whether the connection carries more than one flow.
    kept: bool,
    low_water: u32,
    share: u64,
    window: Option<WindowLimit>,
    received: u64,
    next_buffer_check: u64,
}

impl Receiver {
    /// `buffer_bytes` is the size of the receive buffer of a new socket.
    pub fn new(pull: bool, kept: bool, buffer_bytes: u64) -> Self {
        Self {
            head: Head::default(),
            current: None,
            asked: VecDeque::new(),
            requests: VecDeque::new(),
            pull,
            kept,
            low_water: 1,
            share: unread_share(buffer_bytes),
            window: None,
            received: 0,
            next_buffer_check: FIRST_BUFFER_CHECK_BYTES,
        }
    }

    /// Bounds the window of the receiver's connection, which is established.
    pub fn bound_window(&mut self, limit: WindowLimit) {
        self.window = Some(limit);
        self.share = self.share.min(unread_share(limit.bytes().into()));
    }

    /// Sees to the window again after data have come.
    pub fn keep_window(&self, socket: &Socket) -> io::Result<()> {
        self.window
            .map_or(Ok(()), |limit| limit.keep(socket, self.received))
    }

    /// Notes a pull; its request leaves with [`Receiver::write_requests`].
    pub fn ask(&mut self, row: RowId, flow: &Flow, start_ns: i64) {
        self.asked.push_back((row, start_ns));
        self.requests.push_back(Request {
            number: flow.number.to_be_bytes(),
            bytes: u64::from(flow.request_bytes),
            written: 0,
        });
    }

    pub fn is_pull(&self) -> bool {
        self.pull
    }

    pub fn has_requests(&self) -> bool {
        !self.requests.is_empty()
    }

    /// Writes what the socket takes.
    pub fn write_requests(&mut self, fd: RawFd) -> io::Result<()> {
        while let Some(request) = self.requests.front_mut() {
            let head = &request.number[request.written.min(HEAD_BYTES) as usize..];
            let to_come = request.bytes - request.written;
            let body = (to_come - head.len() as u64).min(sys::BLOCK_BYTES as u64) as usize;
            let asked = head.len() + body;
            match sys::send(fd, head, body, false) {
                Ok(taken) => {
                    request.written += taken as u64;
                    if request.written == request.bytes {
                        self.requests.pop_front();
                    } else if taken < asked {
                        return Ok(());
                    }
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(()),
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Reads all that is there; flows whose last byte came are added to `complete`. `buffer` is for the heads of flows.
    pub fn read(
        &mut self,
        socket: &Socket,
        buffer: &mut [u8],
        flows: &impl FindFlow,
        clock: &Clock,
        complete: &mut Vec<Incoming>,
    ) -> ReadEnd {
        let end = self.read_until_blocked(socket.as_raw_fd(), buffer, flows, clock, complete);
        if matches!(end, ReadEnd::Blocked) && !self.is_finished() {
            if let Err(error) = self.adjust_low_water(socket) {
                return ReadEnd::Failed(error);
            }
        }
        end
    }

    fn read_until_blocked(
        &mut self,
        fd: RawFd,
        buffer: &mut [u8],
        flows: &impl FindFlow,
        clock: &Clock,
        complete: &mut Vec<Incoming>,
    ) -> ReadEnd {
        loop {
            let (asked, got) = match &self.current {
                Some(flow) => {
                    let length = flow.to_come().min(sys::BLOCK_BYTES as u64) as usize;
                    (length, sys::discard(fd, length))
                }
                None => (buffer.len(), sys::receive(fd, buffer)),
            };
            let got = match got {
                Ok(0) => return ReadEnd::Closed,
                Ok(got) => got,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return ReadEnd::Blocked,
                Err(error) => return ReadEnd::Failed(error),
            };
            if self.current.is_some() {
                self.advance(got as u64, complete);
            } else if let Err(error) = self.take(&buffer[..got], flows, clock, complete) {
                return ReadEnd::Failed(error);
            }
            if got < asked || self.expects_nothing() {
                return ReadEnd::Blocked;
            }
        }
    }

    /// Takes bytes that were read at the head of a flow; they may go on into its data and into further flows.
    pub fn take(
        &mut self,
        mut data: &[u8],
        flows: &impl FindFlow,
        clock: &Clock,
        complete: &mut Vec<Incoming>,
    ) -> io::Result<()> {
        while !data.is_empty() {
            if self.current.is_none() {
                let Some(number) = self.head.take(&mut data) else {
                    return Ok(());
                };
                self.received += HEAD_BYTES;
                self.begin(number, flows, clock)?;
            }
            let to_come = self.current.as_ref().map_or(0, Incoming::to_come);
            let count = to_come.min(data.len() as u64);
            data = &data[count as usize..];
            self.advance(count, complete);
        }
        Ok(())
    }

    fn begin(&mut self, number: u32, flows: &impl FindFlow, clock: &Clock) -> io::Result<()> {
        let unexpected = || io::Error::from_raw_os_error(libc::EPROTO);
        let (row, extent) = flows.find(number).ok_or_else(unexpected)?;
        let start_ns = match self.asked.pop_front() {
            Some((asked, start_ns)) if asked == row => Some(start_ns),
            None if !self.pull => None,
            _ => return Err(unexpected()),
        };
        let size = match extent {
            Extent::Bytes(bytes) => Some(bytes),
            Extent::UntilNs(_) => None,
        };
        let bytes = HEAD_BYTES;
        self.current = Some(Incoming {
            row,
            start_ns,
            first_byte_ns: Some(clock.now_ns()),
            bytes,
            size,
        });
        Ok(())
    }

    fn advance(&mut self, count: u64, complete: &mut Vec<Incoming>) {
        self.received += count;
        let Some(flow) = &mut self.current else {
            return;
        };
        flow.bytes += count;
        if flow.is_complete() {
            complete.extend(self.current.take());
        }
    }

    /// Whether no byte can come now: the connection's only flow is complete, or nothing is asked for.
    fn expects_nothing(&self) -> bool {
        self.is_finished() || (self.pull && self.current.is_none() && self.asked.is_empty())
    }

    /// Whether the connection's only flow is complete.
    fn is_finished(&self) -> bool {
        !self.kept && self.current.is_none() && self.received >= HEAD_BYTES
    }

    /// Lets the kernel wake us when it is worth it, never later than the flow's end.
    pub fn adjust_low_water(&mut self, socket: &Socket) -> io::Result<()> {
        self.keep_window(socket)?;
        if self.received >= self.next_buffer_check && self.share < WAKE_BYTES {
            let buffer_bytes = socket.recv_buffer_size()? as u64;
            let window_bytes = self.window.map_or(u64::MAX, |limit| limit.bytes().into());
            self.share = unread_share(buffer_bytes.min(window_bytes));
            self.next_buffer_check = 2 * self.received;
        }
        let wanted = match &self.current {
            Some(flow) => flow.to_come().min(WAKE_BYTES).min(self.share) as u32,
            None => 1,
        };
        if wanted != self.low_water {
            sys::set_receive_low_water(socket, wanted)?;
            self.low_water = wanted;
        }
        Ok(())
    }

    /// Throws away what has arrived of the current flow and counts it.
    pub fn drain(&mut self, fd: RawFd) {
        while let Some(flow) = &mut self.current {
            let length = flow.to_come().min(sys::BLOCK_BYTES as u64) as usize;
            match sys::discard(fd, length) {
                Ok(got) if got > 0 => flow.bytes += got as u64,
                _ => return,
            }
            if flow.is_complete() {
                return;
            }
        }
    }

    /// Takes whatever flow is first, complete or not.
    pub fn abandon(&mut self) -> Option<Incoming> {
        self.current.take().or_else(|| {
            let (row, start_ns) = self.asked.pop_front()?;
            Some(Incoming {
                row,
                start_ns: Some(start_ns),
                first_byte_ns: None,
                bytes: 0,
                size: None,
            })
        })
    }
}

/// How many bytes of a receive buffer, or of a window, may lie unread.
fn unread_share(buffer_bytes: u64) -> u64 {
    if buffer_bytes < SMALL_BUFFER_BYTES {
        1
    } else {
        buffer_bytes / BUFFER_SHARE
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_small_buffer_is_read_packet_by_packet() {
        assert_eq!(unread_share(16 * 1024), 1);
        assert_eq!(unread_share(128 * 1024), 32 * 1024);
    }
}
