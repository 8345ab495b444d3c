//! The host's RoCE NIC, by /dev/roce: what `uapi/roce.h` of the kernel's `switch_port` says, in Rust.
//!
//! The kernel has no call that ends one queue pair: a flow's pair stays, idle, until the file is closed with the end of
//! the program.

use std::fs::{File, OpenOptions};
use std::io::{self, Read};
use std::net::Ipv4Addr;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};
use std::os::unix::fs::OpenOptionsExt;

use crate::sys;

const DEVICE: &str = "/dev/roce";

/// `_IOW('r', number, size)` of include/uapi/asm-generic/ioctl.h.
const fn write_request(number: u32, size: usize) -> u32 {
    1 << 30 | (size as u32) << 16 | (b'r' as u32) << 8 | number
}

const CONNECT: u32 = write_request(1, size_of::<Connect>());
const POST: u32 = write_request(2, size_of::<Post>());

/// `struct roce_connect`.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Connect {
    /// In network byte order.
    peer: [u8; 4],
    pair: u32,
    peer_pair: u32,
    source_port: u16,
    reserved: u16,
}

impl Connect {
    /// A flow's queue pair, which has the same number and UDP source port at both ends; `ends` are the flow's source
    /// and destination.
    pub fn of(flow: u32, peer: Ipv4Addr, ends: [Ipv4Addr; 2]) -> Self {
        Self {
            peer: peer.octets(),
            pair: pair_of(flow),
            peer_pair: pair_of(flow),
            source_port: source_port(flow, ends),
            reserved: 0,
        }
    }
}

/// `struct roce_post`.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Post {
    id: u64,
    bytes: u64,
    pair: u32,
    operation: u32,
}

impl Post {
    /// `flow`: whose number the pair carries.
    pub fn of(flow: u32, message: Message) -> Self {
        Self {
            id: 0,
            bytes: message.bytes,
            pair: pair_of(flow),
            operation: message.operation as u32,
        }
    }
}

/// `enum roce_operation`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    Write = 0,
    Send = 1,
    Read = 2,
}

/// What is posted at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Message {
    pub operation: Operation,
    pub bytes: u64,
}

/// What became of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// One of this end is acknowledged, or read.
    Sent,
    /// One of the peer is whole.
    Received,
    /// All that a READ of the peer asks for has left.
    Answered,
    /// The error's number.
    Failed(i32),
}

/// `struct roce_completion`, without the identifier of its message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Completion {
    /// CLOCK_MONOTONIC.
    pub time_ns: i64,
    /// When the message's first packet of data left, or came.
    pub first_ns: Option<i64>,
    pub bytes: u64,
    pub flow: u32,
    pub event: Event,
    pub counters: Counters,
}

/// What the queue pair of a completion went through, until then.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    pub sent_again: u32,
    pub timeouts: u32,
    /// Notifications (CNPs) that it received.
    pub notifications: u32,
}

impl Counters {
    /// What came about since there were those.
    pub fn since(self, before: Self) -> Self {
        Self {
            sent_again: self.sent_again - before.sent_again,
            timeouts: self.timeouts - before.timeouts,
            notifications: self.notifications - before.notifications,
        }
    }
}

const COMPLETION_BYTES: usize = 56;
/// Completions taken from the kernel at a time.
const COMPLETIONS: usize = 256;
const ROCE_SENT: u16 = 0;
const ROCE_RECEIVED: u16 = 1;
const ROCE_DONE: u16 = 0;
const ROCE_RETRIES_EXCEEDED: u16 = 1;

impl Completion {
    /// Of [`COMPLETION_BYTES`] as the kernel writes them.
    fn of(bytes: &[u8]) -> Self {
        let (kind, status) = (
            u16::from_ne_bytes(field(bytes, 36)),
            u16::from_ne_bytes(field(bytes, 38)),
        );
        let event = match (status, kind) {
            (ROCE_DONE, ROCE_SENT) => Event::Sent,
            (ROCE_DONE, ROCE_RECEIVED) => Event::Received,
            (ROCE_DONE, _) => Event::Answered,
            (ROCE_RETRIES_EXCEEDED, _) => Event::Failed(libc::ETIMEDOUT),
            // Behind one that failed, or the NIC is gone.
            _ => Event::Failed(libc::ECONNABORTED),
        };
        Self {
            time_ns: i64::from_ne_bytes(field(bytes, 0)),
            first_ns: Some(i64::from_ne_bytes(field(bytes, 8))).filter(|&first_ns| first_ns != 0),
            bytes: u64::from_ne_bytes(field(bytes, 24)),
            flow: u32::from_ne_bytes(field(bytes, 32)).wrapping_sub(1),
            event,
            counters: Counters {
                sent_again: u32::from_ne_bytes(field(bytes, 40)),
                timeouts: u32::from_ne_bytes(field(bytes, 44)),
                notifications: u32::from_ne_bytes(field(bytes, 48)),
            },
        }
    }
}

/// The bytes of a field at a place of a structure.
fn field<const LENGTH: usize>(bytes: &[u8], at: usize) -> [u8; LENGTH] {
    std::array::from_fn(|index| bytes[at + index])
}

/// A file of /dev/roce, with all queue pairs of this program.
pub struct Device(File);

impl Device {
    pub fn open() -> io::Result<Self> {
        let mut options = OpenOptions::new();
        options.read(true).write(true);
        let opened = options.custom_flags(libc::O_NONBLOCK).open(DEVICE);
        let named = |error: io::Error| io::Error::new(error.kind(), format!("{DEVICE}: {error}"));
        opened.map(Self).map_err(named)
    }

    /// Connects a queue pair; it may wait for the peer's hardware address, up to a second.
    pub fn connect(&self, connect: &Connect) -> io::Result<()> {
        sys::write_to_device(self.0.as_raw_fd(), CONNECT, connect)
    }

    pub fn post(&self, post: &Post) -> io::Result<()> {
        sys::write_to_device(self.0.as_raw_fd(), POST, post)
    }

    /// Adds the completions that there are.
    pub fn read_completions(&self, to: &mut Vec<Completion>) -> io::Result<()> {
        let mut buffer = [0; COMPLETIONS * COMPLETION_BYTES];
        loop {
            let got = match (&self.0).read(&mut buffer) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(()),
                got => got?,
            };
            let whole = buffer[..got].chunks_exact(COMPLETION_BYTES);
            to.extend(whole.map(Completion::of));
            if got < buffer.len() {
                return Ok(());
            }
        }
    }
}

impl AsFd for Device {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

/// The number of a flow's queue pair: never 0, which is none.
fn pair_of(flow: u32) -> u32 {
    flow + 1
}

/// The UDP source port of a flow, by which switches choose its path: 0xC000 and 14 bits, as Linux has it
/// (`rdma_flow_label_to_udp_sport`, include/rdma/ib_verbs.h). Linux mixes the product of both ends' numbers
/// (`rdma_calc_flow_label`); here they are equal, and few of a square's low bits differ. So this is the finalizer of
/// SplitMix64 (Steele, Lea, Flood: "Fast Splittable Pseudorandom Number Generators", OOPSLA 2014; variant 13 of
/// Stafford), of the addresses and then of the number.
fn source_port(flow: u32, [src, dst]: [Ipv4Addr; 2]) -> u16 {
    let addresses = u64::from(src.to_bits()) << 32 | u64::from(dst.to_bits());
    0xC000 | (mix(mix(addresses) ^ u64::from(flow)) >> 50) as u16
}

fn mix(value: u64) -> u64 {
    let value = value.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let value = (value ^ value >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let value = (value ^ value >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ value >> 31
}

#[cfg(test)]
#[path = "tests.rs"]
mod tests;
