//! The kernel's routes, of IPv4 and IPv6, read by rtnetlink. Layout of messages: rtnetlink(7), netlink(7).

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use netlink::{attributes, u16_at, u32_at, Protocol, Request, Socket};

use crate::answers;
use crate::failure::{Context, Result};

/// `struct rtmsg` and `struct rtnexthop`.
const ROUTE_HEADER_BYTES: usize = 12;
const NEXT_HOP_HEADER_BYTES: usize = 8;
/// Linux, include/uapi/linux/rtnetlink.h: flags of a next hop.
const RTNH_F_DEAD: u8 = 1;
const RTNH_F_LINKDOWN: u8 = 16;

/// A network: its address and the length of its prefix.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Prefix {
    pub address: IpAddr,
    pub length: u8,
}

impl std::str::FromStr for Prefix {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<Self, String> {
        text.split_once('/')
            .and_then(|(address, length)| {
                Some(Self {
                    address: address.parse().ok()?,
                    length: length.parse().ok()?,
                })
            })
            .filter(|prefix| prefix.length <= if prefix.address.is_ipv4() { 32 } else { 128 })
            .ok_or_else(|| {
                format!(
                    "\"{text}\" is not a prefix; write an address and a length such as \
                     10.0.0.0/31 or fd00::/127"
                )
            })
    }
}

impl Prefix {
    fn family(&self) -> libc::c_int {
        if self.address.is_ipv4() {
            libc::AF_INET
        } else {
            libc::AF_INET6
        }
    }
}

/// Each prefix of the main table with the indices of the interfaces of its live next hops.
pub type Routes = BTreeMap<Prefix, Vec<u32>>;

/// A socket that reads the routes of the network namespace in which it was opened.
pub struct Fib {
    socket: Socket,
    families: Vec<libc::c_int>,
}

impl Fib {
    /// For the families that some prefixes are of.
    pub fn open<'a>(prefixes: impl Iterator<Item = &'a Prefix>) -> Result<Self> {
        let socket =
            Socket::open(Protocol::Route).context(|| "open a netlink socket".to_owned())?;
        let mut families: Vec<_> = prefixes.map(Prefix::family).collect();
        families.sort_unstable();
        families.dedup();
        Ok(Self { socket, families })
    }

    pub fn read(&self) -> Result<Routes> {
        let mut routes = Routes::new();
        for family in &self.families {
            self.read_family(*family, &mut routes)?;
        }
        Ok(routes)
    }

    fn read_family(&self, family: libc::c_int, routes: &mut Routes) -> Result<()> {
        self.each_of_family(family, |message| take_route(message, routes))
    }

    fn each_of_family(
        &self,
        family: libc::c_int,
        take: impl FnMut(&[u8]) -> Option<()>,
    ) -> Result<()> {
        answers::each(
            &self.socket,
            request(family),
            libc::RTM_NEWROUTE,
            "the routes",
            take,
        )
    }
}

/// What all routes of a namespace come to, of every table, IPv4 and IPv6: equal where nothing has changed.
#[derive(Default, PartialEq, Eq)]
pub struct Signature(Vec<u8>);

impl Fib {
    pub fn signature(&self) -> Result<Signature> {
        let mut signature = Signature::default();
        for family in [libc::AF_INET, libc::AF_INET6] {
            self.each_of_family(family, |message| add_route(message, &mut signature))?;
        }
        Ok(signature)
    }
}

/// Adds a route; `None` when the message is broken. What counts uses or time left is no part of a route.
fn add_route(message: &[u8], signature: &mut Signature) -> Option<()> {
    signature.0.extend(message.get(..ROUTE_HEADER_BYTES)?);
    for (kind, value) in attributes(&message[ROUTE_HEADER_BYTES..]) {
        if kind != libc::RTA_CACHEINFO {
            signature.0.extend(kind.to_ne_bytes());
            signature.0.extend(value);
        }
    }
    Some(())
}

fn request(family: libc::c_int) -> Request {
    let mut header = [0; ROUTE_HEADER_BYTES];
    header[0] = family as u8;
    Request::new(libc::RTM_GETROUTE, libc::NLM_F_DUMP, &header)
}

/// Takes a route of the main table; `None` when the message is broken.
fn take_route(message: &[u8], routes: &mut Routes) -> Option<()> {
    let header = message.get(..ROUTE_HEADER_BYTES)?;
    let (family, length, table, kind) = (header[0], header[1], header[4], header[7]);
    if table != libc::RT_TABLE_MAIN || kind != libc::RTN_UNICAST {
        return Some(());
    }
    let mut address = if libc::c_int::from(family) == libc::AF_INET6 {
        IpAddr::V6(Ipv6Addr::UNSPECIFIED)
    } else {
        IpAddr::V4(Ipv4Addr::UNSPECIFIED)
    };
    let mut interfaces = Vec::new();
    let flags = u32_at(header, 8)? as u8;
    for (kind, payload) in attributes(&message[ROUTE_HEADER_BYTES..]) {
        match kind {
            libc::RTA_DST => address = parse_address(payload)?,
            libc::RTA_OIF if is_alive(flags) => interfaces.push(u32_at(payload, 0)?),
            libc::RTA_MULTIPATH => take_next_hops(payload, &mut interfaces)?,
            _ => {}
        }
    }
    routes.insert(Prefix { address, length }, interfaces);
    Some(())
}

fn parse_address(bytes: &[u8]) -> Option<IpAddr> {
    <[u8; 4]>::try_from(bytes)
        .map(IpAddr::from)
        .or_else(|_| <[u8; 16]>::try_from(bytes).map(IpAddr::from))
        .ok()
}

fn take_next_hops(mut payload: &[u8], interfaces: &mut Vec<u32>) -> Option<()> {
    while !payload.is_empty() {
        let length = usize::from(u16_at(payload, 0)?);
        if length < NEXT_HOP_HEADER_BYTES {
            return None;
        }
        if is_alive(payload[2]) {
            interfaces.push(u32_at(payload, 4)?);
        }
        payload = payload
            .get(length.next_multiple_of(4)..)
            .unwrap_or_default();
    }
    Some(())
}

fn is_alive(flags: u8) -> bool {
    flags & (RTNH_F_DEAD | RTNH_F_LINKDOWN) == 0
}

#[cfg(test)]
#[path = "fib_tests.rs"]
mod tests;
