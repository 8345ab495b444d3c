//! Raw Ethernet frames out of one interface. Source: packet(7).

use std::io;

use nix::net::if_::if_nametoindex;
use socket2::{Domain, Socket, Type};

use crate::sys;

pub const ADDRESS_BYTES: usize = libc::ETH_ALEN as usize;
pub type Address = [u8; ADDRESS_BYTES];

/// Sends frames as they are, past the interface's queueing discipline. It receives nothing.
pub struct Interface {
    socket: Socket,
    address: Address,
}

impl Interface {
    /// Opens an interface of this network namespace; needs CAP_NET_RAW. One that is no Ethernet interface is invalid
    /// input.
    pub fn open(name: &str) -> io::Result<Self> {
        let index = if_nametoindex(name)?;
        // Protocol 0: the socket gets no frames.
        let socket = Socket::new(Domain::PACKET, Type::RAW, None)?;
        let bound = sys::bind_to_interface(&socket, index)?;
        if bound.sll_hatype != libc::ARPHRD_ETHER {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        sys::bypass_qdisc(&socket)?;
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
