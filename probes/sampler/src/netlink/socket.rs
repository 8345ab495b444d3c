//! A netlink socket, and an inbox that takes many datagrams in one system call.

use std::io;
use std::mem::{size_of_val, zeroed};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Protocol {
    Route,
    SockDiag,
    Generic,
}

/// Of `include/uapi/linux/netlink.h` and `include/uapi/linux/sock_diag.h`; `libc` has none of these for our target.
const SK_MEMINFO_DROPS: usize = 8;
const SK_MEMINFO_VALUES: usize = 9;

/// A netlink socket to the kernel, bound to the network namespace in which it was opened, for as long as it is open.
pub struct Socket(OwnedFd);

impl Socket {
    pub fn open(protocol: Protocol) -> io::Result<Self> {
        let protocol = match protocol {
            Protocol::Route => libc::NETLINK_ROUTE,
            Protocol::SockDiag => libc::NETLINK_SOCK_DIAG,
            Protocol::Generic => libc::NETLINK_GENERIC,
        };
        // SAFETY: no pointers are passed; the result is checked before it is used.
        let fd = unsafe {
            libc::socket(
                libc::AF_NETLINK,
                libc::SOCK_RAW | libc::SOCK_CLOEXEC,
                protocol,
            )
        };
        if fd < 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: the descriptor was just opened and nobody else owns it.
        Ok(Self(unsafe { OwnedFd::from_raw_fd(fd) }))
    }

    /// Sends requests, one or several behind each other. The kernel handles them before the call returns.
    pub fn send(&self, requests: &[u8]) -> io::Result<()> {
        // SAFETY: the pointer and the length are those of a slice that outlives the call. Without an address it goes to the kernel.
        let sent = unsafe {
            libc::send(
                self.0.as_raw_fd(),
                requests.as_ptr().cast(),
                requests.len(),
                0,
            )
        };
        match sent {
            -1 => Err(io::Error::last_os_error()),
            _ => Ok(()),
        }
    }

    /// Takes part in a multicast group.
    pub fn join(&self, group: u32) -> io::Result<()> {
        self.set_option(libc::SOL_NETLINK, libc::NETLINK_ADD_MEMBERSHIP, group)
    }

    /// From here on a multicast message for which there is no room is counted, and no error of `receive`.
    pub fn count_losses_silently(&self) -> io::Result<()> {
        self.set_option(libc::SOL_NETLINK, libc::NETLINK_NO_ENOBUFS, 1)
    }

    /// Bytes of kernel memory that may wait in the socket, beyond what the system allows unprivileged users (CAP_NET_ADMIN).
    pub fn set_receive_buffer(&self, bytes: u32) -> io::Result<()> {
        self.set_option(libc::SOL_SOCKET, libc::SO_RCVBUFFORCE, bytes)
    }

    fn set_option(&self, level: i32, option: i32, value: u32) -> io::Result<()> {
        // SAFETY: the pointer and the length are those of a number that outlives the call.
        let set = unsafe {
            libc::setsockopt(
                self.0.as_raw_fd(),
                level,
                option,
                (&raw const value).cast(),
                size_of_val(&value) as libc::socklen_t,
            )
        };
        match set {
            0 => Ok(()),
            _ => Err(io::Error::last_os_error()),
        }
    }

    /// How many messages the kernel dropped because there was no room.
    pub fn losses(&self) -> io::Result<u32> {
        let mut values = [0u32; SK_MEMINFO_VALUES];
        let mut length = size_of_val(&values) as libc::socklen_t;
        // SAFETY: the pointers are to a buffer of that length and to the length, both of which outlive the call.
        let got = unsafe {
            libc::getsockopt(
                self.0.as_raw_fd(),
                libc::SOL_SOCKET,
                libc::SO_MEMINFO,
                values.as_mut_ptr().cast(),
                &raw mut length,
            )
        };
        match got {
            0 => Ok(values[SK_MEMINFO_DROPS]),
            _ => Err(io::Error::last_os_error()),
        }
    }
}

/// Buffers for datagrams, allocated once.
pub struct Inbox {
    bytes: Vec<u8>,
    slot_bytes: usize,
    lengths: Vec<usize>,
}

impl Inbox {
    /// The most datagrams that one call takes.
    pub const MAX_SLOTS: usize = 32;

    /// Room for `slots` (at most `MAX_SLOTS`) datagrams of `slot_bytes` bytes each.
    pub fn new(slots: usize, slot_bytes: usize) -> Self {
        assert!((1..=Self::MAX_SLOTS).contains(&slots));
        Self {
            bytes: vec![0; slots * slot_bytes],
            slot_bytes,
            lengths: Vec::with_capacity(slots),
        }
    }

    /// Takes what is there, without waiting: the kernel queues its answers before `send` returns. At most `want` datagrams; how many
    /// came is `len`. A datagram larger than a slot is an error, as are answers that the kernel had to drop (`ENOBUFS`).
    pub fn receive(&mut self, socket: &Socket, want: usize) -> io::Result<()> {
        let want = want.min(self.bytes.len() / self.slot_bytes);
        self.lengths.clear();
        // SAFETY: both are plain C structures for which all zeros is a valid value (null pointers with zero lengths).
        let (mut vectors, mut headers): (
            [libc::iovec; Self::MAX_SLOTS],
            [libc::mmsghdr; Self::MAX_SLOTS],
        ) = unsafe { (zeroed(), zeroed()) };
        for ((slot, vector), header) in self
            .bytes
            .chunks_exact_mut(self.slot_bytes)
            .zip(&mut vectors)
            .zip(&mut headers)
            .take(want)
        {
            *vector = libc::iovec {
                iov_base: slot.as_mut_ptr().cast(),
                iov_len: slot.len(),
            };
            header.msg_hdr.msg_iov = vector;
            header.msg_hdr.msg_iovlen = 1;
        }
        let received = receive_many(socket, &mut headers[..want])?;
        for header in &headers[..received] {
            if header.msg_hdr.msg_flags & libc::MSG_TRUNC != 0 {
                return Err(io::Error::other(format!(
                    "a netlink answer is larger than {} bytes",
                    self.slot_bytes
                )));
            }
            self.lengths.push(header.msg_len as usize);
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

/// `recvmmsg(2)`: how many of `headers` were filled; none is not an error.
fn receive_many(socket: &Socket, headers: &mut [libc::mmsghdr]) -> io::Result<usize> {
    // SAFETY: each header points to an iovec, and that to a slot of the inbox, all of which outlive the call; the count is the slice's.
    let received = unsafe {
        libc::recvmmsg(
            socket.0.as_raw_fd(),
            headers.as_mut_ptr(),
            headers.len() as u32,
            libc::MSG_DONTWAIT as _,
            std::ptr::null_mut(),
        )
    };
    match received {
        -1 => match io::Error::last_os_error() {
            error if error.kind() == io::ErrorKind::WouldBlock => Ok(0),
            error => Err(error),
        },
        count => Ok(count as usize),
    }
}
