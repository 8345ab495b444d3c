//! The system calls of Homa's sockets, whose messages go by sendmsg(2) and recvmsg(2) with structures of their own.

use std::io;
use std::net::{Ipv4Addr, SocketAddrV4};
use std::os::fd::{AsRawFd, RawFd};

use nix::errno::Errno;
use socket2::{SockAddr, Socket};

use super::{part, BLOCK, BLOCK_BYTES};

/// Sends one message of Homa's: `head`, then `body` zeros of the shared block. `arguments` is its `homa_sendmsg_args`,
/// in which the kernel writes the number of a new call.
pub fn send_message<T>(
    fd: RawFd,
    peer: SocketAddrV4,
    head: &[u8],
    body: usize,
    arguments: &mut T,
) -> io::Result<()> {
    let mut address = SockAddr::from(peer);
    let mut parts = [
        part(head.as_ptr(), head.len()),
        part(BLOCK.as_ptr().cast(), body.min(BLOCK_BYTES)),
    ];
    // Homa reads the arguments itself: to Linux there are none.
    let mut message = message(&mut address, &mut parts);
    message.msg_control = std::ptr::from_mut(arguments).cast();
    // SAFETY: all that it points to outlives the call, which writes to the arguments alone.
    Errno::result(unsafe { libc::sendmsg(fd, &raw const message, libc::MSG_NOSIGNAL) })?;
    Ok(())
}

/// Receives one message of Homa's into the region of the socket; its sender and its length, or the error of a call that
/// failed. `arguments` is its `homa_recvmsg_args`, which the kernel fills in either case.
pub fn receive_message<T>(
    fd: RawFd,
    arguments: &mut T,
) -> (Option<SocketAddrV4>, io::Result<usize>) {
    let mut address = SockAddr::from(SocketAddrV4::new(Ipv4Addr::UNSPECIFIED, 0));
    let mut message = message(&mut address, &mut []);
    message.msg_control = std::ptr::from_mut(arguments).cast();
    message.msg_controllen = size_of::<T>();
    // SAFETY: all that it points to outlives the call, and has the lengths that are given.
    let received = unsafe { libc::recvmsg(fd, &raw mut message, libc::MSG_DONTWAIT) };
    let length = Errno::result(received).map(|length| length as usize);
    (address.as_socket_ipv4(), length.map_err(io::Error::from))
}

fn message(address: &mut SockAddr, parts: &mut [libc::iovec]) -> libc::msghdr {
    libc::msghdr {
        msg_name: address.as_ptr().cast_mut().cast(),
        msg_namelen: address.len(),
        msg_iov: parts.as_mut_ptr(),
        msg_iovlen: parts.len(),
        msg_control: std::ptr::null_mut(),
        msg_controllen: 0,
        msg_flags: 0,
    }
}

/// A call of a socket that reads and writes a structure of integers, of the size that its number says (`_IOWR`).
pub fn ask_socket<T: Copy>(fd: RawFd, request: u32, structure: &mut T) -> io::Result<()> {
    assert_eq!((request >> 16) & 0x3fff, size_of::<T>() as u32);
    let place = std::ptr::from_mut(structure);
    // SAFETY: the kernel reads and writes as many bytes as the structure has.
    Errno::result(unsafe { libc::ioctl(fd, request as _, place) })?;
    Ok(())
}

/// Memory that a socket writes to, for as long as the process lives.
pub struct Region {
    start: *const u8,
    length: usize,
}

impl Region {
    pub fn map(length: usize) -> io::Result<Self> {
        let (protection, flags) = (
            libc::PROT_READ | libc::PROT_WRITE,
            libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE,
        );
        // SAFETY: a new mapping, anywhere.
        let start = unsafe { libc::mmap(std::ptr::null_mut(), length, protection, flags, -1, 0) };
        if start == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        Ok(Self {
            start: start.cast(),
            length,
        })
    }

    /// Its address and its length.
    pub fn place(&self) -> [u64; 2] {
        [self.start as u64, self.length as u64]
    }

    /// Some bytes of it, as they are now.
    pub fn read<const N: usize>(&self, offset: usize) -> Option<[u8; N]> {
        let fits = offset.checked_add(N).is_some_and(|end| end <= self.length);
        // SAFETY: they lie in the mapping; nobody else writes to it meanwhile, as the caller owns what it was told.
        fits.then(|| unsafe { self.start.add(offset).cast::<[u8; N]>().read_volatile() })
    }
}

/// Sets an option of a protocol's own to a structure of integers.
pub fn set_protocol_option<T: Copy>(
    socket: &Socket,
    protocol: libc::c_int,
    option: libc::c_int,
    value: &T,
) -> io::Result<()> {
    let (place, length) = (std::ptr::from_ref(value).cast(), size_of::<T>());
    let fd = socket.as_raw_fd();
    // SAFETY: the kernel reads as many bytes as the value has.
    Errno::result(unsafe { libc::setsockopt(fd, protocol, option, place, length as _) })?;
    Ok(())
}
