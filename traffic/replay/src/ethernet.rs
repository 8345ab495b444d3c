//! Raw Ethernet frames out of one interface. Source: packet(7).

use std::ffi::CString;
use std::io;
use std::mem::{size_of, zeroed};
use std::os::fd::AsRawFd;

use socket2::{Domain, Socket, Type};

pub const ADDRESS_BYTES: usize = 6;
pub type Address = [u8; ADDRESS_BYTES];

/// Sends frames as they are, past the interface's queueing discipline. It receives nothing.
pub struct Interface {
    socket: Socket,
    address: Address,
}

impl Interface {
    /// Opens an interface of this network namespace; needs CAP_NET_RAW. One that is no Ethernet interface is invalid input.
    pub fn open(name: &str) -> io::Result<Self> {
        let index = index_of(name)?;
        // Protocol 0: the socket gets no frames.
        let socket = Socket::new(Domain::PACKET, Type::RAW, None)?;
        bind(&socket, index)?;
        let bound = bound_to(&socket)?;
        if bound.sll_hatype != libc::ARPHRD_ETHER {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        bypass_qdisc(&socket)?;
        let mut address = [0; ADDRESS_BYTES];
        address.copy_from_slice(&bound.sll_addr[..ADDRESS_BYTES]);
        Ok(Self { socket, address })
    }

    /// The interface's own address.
    pub fn address(&self) -> Address {
        self.address
    }

    /// Sends a frame, which begins with the destination's address.
    pub fn send(&self, frame: &[u8]) -> io::Result<()> {
        self.socket.send(frame).map(drop)
    }
}

fn index_of(name: &str) -> io::Result<i32> {
    let name = CString::new(name)?;
    // SAFETY: the name is a string with its final zero, which outlives the call.
    match unsafe { libc::if_nametoindex(name.as_ptr()) } {
        0 => Err(io::Error::last_os_error()),
        index => Ok(index as i32),
    }
}

fn bind(socket: &Socket, index: i32) -> io::Result<()> {
    // SAFETY: all zeroes is a valid address.
    let mut address: libc::sockaddr_ll = unsafe { zeroed() };
    address.sll_family = libc::AF_PACKET as u16;
    address.sll_ifindex = index;
    let length = size_of::<libc::sockaddr_ll>() as libc::socklen_t;
    // SAFETY: `address` is valid for reading `length` bytes.
    check(unsafe { libc::bind(socket.as_raw_fd(), (&raw const address).cast(), length) })
}

/// The address that a socket is bound to, with the interface's type and hardware address.
fn bound_to(socket: &Socket) -> io::Result<libc::sockaddr_ll> {
    // SAFETY: all zeroes is a valid address.
    let mut address: libc::sockaddr_ll = unsafe { zeroed() };
    let mut length = size_of::<libc::sockaddr_ll>() as libc::socklen_t;
    // SAFETY: `address` is valid for writing `length` bytes, and so is `length`.
    check(unsafe {
        libc::getsockname(
            socket.as_raw_fd(),
            (&raw mut address).cast(),
            &raw mut length,
        )
    })?;
    Ok(address)
}

fn bypass_qdisc(socket: &Socket) -> io::Result<()> {
    let on: libc::c_int = 1;
    let length = size_of::<libc::c_int>() as libc::socklen_t;
    // SAFETY: `on` is valid for reading `length` bytes.
    check(unsafe {
        libc::setsockopt(
            socket.as_raw_fd(),
            libc::SOL_PACKET,
            libc::PACKET_QDISC_BYPASS,
            (&raw const on).cast(),
            length,
        )
    })
}

fn check(status: libc::c_int) -> io::Result<()> {
    match status {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}
