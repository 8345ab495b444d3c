//! Many datagrams in one system call.

use std::io::{self, IoSliceMut};
use std::os::fd::AsRawFd;

use nix::errno::Errno;
use nix::sys::socket::{recvmmsg, MsgFlags, MultiHeaders, NetlinkAddr};

use crate::Socket;

/// Buffers for datagrams, allocated once.
pub struct Inbox {
    bytes: Vec<u8>,
    slot_bytes: usize,
    headers: MultiHeaders<NetlinkAddr>,
    lengths: Vec<usize>,
}

impl Inbox {
    /// The most datagrams that one call takes.
    pub const MAX_SLOTS: usize = 32;

    /// Room for `slots` (at most `MAX_SLOTS`) datagrams of `slot_bytes` bytes each.
    ///
    /// # Panics
    /// If there are to be more slots, or none.
    pub fn new(slots: usize, slot_bytes: usize) -> Self {
        assert!((1..=Self::MAX_SLOTS).contains(&slots));
        Self {
            bytes: vec![0; slots * slot_bytes],
            slot_bytes,
            headers: MultiHeaders::preallocate(slots, None),
            lengths: Vec::with_capacity(slots),
        }
    }

    /// Takes what is there, without waiting: the kernel queues its answers before `send` returns. At most `want`
    /// datagrams; how many came is `len`. A datagram larger than a slot is an error, as are answers that the kernel had
    /// to drop (`ENOBUFS`).
    pub fn receive(&mut self, socket: &Socket, want: usize) -> io::Result<()> {
        self.lengths.clear();
        let mut slots: Vec<[IoSliceMut; 1]> = self
            .bytes
            .chunks_exact_mut(self.slot_bytes)
            .take(want)
            .map(|slot| [IoSliceMut::new(slot)])
            .collect();
        let received = match recvmmsg(
            socket.as_raw_fd(),
            &mut self.headers,
            &mut slots,
            MsgFlags::MSG_DONTWAIT,
            None,
        ) {
            Err(Errno::EAGAIN) => return Ok(()),
            received => received?,
        };
        for datagram in received {
            if datagram.flags.contains(MsgFlags::MSG_TRUNC) {
                return Err(io::Error::other(format!(
                    "a netlink answer is larger than {} bytes",
                    self.slot_bytes
                )));
            }
            self.lengths.push(datagram.bytes);
        }
        Ok(())
    }

    /// How many datagrams the latest `receive` took.
    pub fn len(&self) -> usize {
        self.lengths.len()
    }

    pub fn is_empty(&self) -> bool {
        self.lengths.is_empty()
    }

    /// The datagrams of the latest `receive`.
    pub fn datagrams(&self) -> impl Iterator<Item = &[u8]> {
        self.bytes
            .chunks_exact(self.slot_bytes)
            .zip(&self.lengths)
            .map(|(slot, length)| &slot[..*length])
    }
}
