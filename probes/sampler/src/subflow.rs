//! Subflows of MPTCP connections: what the kernel tells of one (`subflow_get_info` in `net/mptcp/diag.c`), and their
//! numbers.

use std::collections::BTreeMap;
use std::fmt;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use netlink::{find_attribute, u32_at};

/// Places of fields in `struct inet_diag_msg`: a byte, then `struct inet_diag_sockid`, addresses and ports in network
/// order.
const FAMILY_OFFSET: usize = 0;
const LOCAL_PORT_OFFSET: usize = 4;
const REMOTE_PORT_OFFSET: usize = 6;
const LOCAL_ADDRESS_OFFSET: usize = 8;
const REMOTE_ADDRESS_OFFSET: usize = 24;

/// `INET_ULP_INFO_*` of `include/uapi/linux/inet_diag.h`; MPTCP is an "upper layer protocol" of its subflows' TCP
/// sockets.
const INET_ULP_INFO_MPTCP: u16 = 3;

/// `MPTCP_SUBFLOW_ATTR_*` and `MPTCP_SUBFLOW_FLAG_*` of `include/uapi/linux/mptcp.h`.
const ATTRIBUTE_FLAGS: u16 = 8;
const ATTRIBUTE_REMOTE_ID: u16 = 9;
const ATTRIBUTE_LOCAL_ID: u16 = 10;
const FLAG_CAPABLE_REMOTE: u32 = 1;
const FLAG_JOIN_REMOTE: u32 = 1 << 2;
const FLAG_JOIN_LOCAL: u32 = 1 << 3;
const FLAG_CONNECTED: u32 = 1 << 7;

/// What makes a TCP socket a subflow. The order is that in which subflows that are seen first in the same sample get
/// their numbers: the connection's first subflow, then those that joined it by the identifiers of their addresses,
/// which do not depend on hash tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Subflow {
    joined: bool,
    local_id: u8,
    remote_id: u8,
    pub path: Path,
    /// On its node, of its flow; 0 until [`Numbering`] has told it.
    pub number: u32,
}

impl Subflow {
    /// Reads a socket's `struct inet_diag_msg` and its INET_DIAG_ULP_INFO. `None` for other protocols, and for a
    /// connection that has fallen back to plain TCP while it was opened.
    pub fn read(header: &[u8], ulp: &[u8]) -> Option<Self> {
        let info = find_attribute(ulp, INET_ULP_INFO_MPTCP)?;
        let flags = u32_at(find_attribute(info, ATTRIBUTE_FLAGS)?, 0)?;
        let byte = |attribute| find_attribute(info, attribute)?.first().copied();
        let agreed = flags & (FLAG_CAPABLE_REMOTE | FLAG_JOIN_REMOTE) != 0;
        let fallen_back = flags & FLAG_CONNECTED != 0 && !agreed;
        (!fallen_back).then_some(Self {
            joined: flags & (FLAG_JOIN_LOCAL | FLAG_JOIN_REMOTE) != 0,
            local_id: byte(ATTRIBUTE_LOCAL_ID)?,
            remote_id: byte(ATTRIBUTE_REMOTE_ID)?,
            path: Path::read(header)?,
            number: 0,
        })
    }
}

/// The two ends of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Path {
    pub local: SocketAddr,
    pub remote: SocketAddr,
}

impl Path {
    /// Reads `struct inet_diag_msg`.
    pub fn read(header: &[u8]) -> Option<Self> {
        let end = |address, port| {
            let address: [u8; 16] = *header.get(address..)?.first_chunk()?;
            let address = match i32::from(header[FAMILY_OFFSET]) {
                libc::AF_INET => IpAddr::V4(Ipv4Addr::from(*address.first_chunk::<4>()?)),
                _ => IpAddr::from(address),
            };
            let port = u16::from_be_bytes(*header.get(port..)?.first_chunk()?);
            Some(SocketAddr::new(address.to_canonical(), port))
        };
        Some(Self {
            local: end(LOCAL_ADDRESS_OFFSET, LOCAL_PORT_OFFSET)?,
            remote: end(REMOTE_ADDRESS_OFFSET, REMOTE_PORT_OFFSET)?,
        })
    }
}

impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}", self.local, self.remote)
    }
}

/// Numbers the subflows of each flow of one node, from 0, in the order of first sight. A number is never given twice:
/// of what is gone, the next one is kept.
#[derive(Default)]
pub struct Numbering {
    /// By the flow's mark.
    next: BTreeMap<u32, u32>,
    /// By the socket's cookie, which the kernel gives to no other.
    given: BTreeMap<u64, u32>,
}

impl Numbering {
    pub fn number(&mut self, mark: u32, cookie: u64) -> u32 {
        *self.given.entry(cookie).or_insert_with(|| {
            let next = self.next.entry(mark).or_default();
            *next += 1;
            *next - 1
        })
    }

    /// The socket is gone.
    pub fn forget(&mut self, cookie: u64) {
        self.given.remove(&cookie);
    }
}

/// A subflow of a fully opened connection whose local address has this identifier; 0: the first one.
#[cfg(test)]
pub fn fixture(local_id: u8) -> Subflow {
    tests::of_local_address(local_id)
}

#[cfg(test)]
#[path = "subflow_tests.rs"]
mod tests;
