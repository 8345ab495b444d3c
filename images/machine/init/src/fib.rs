//! The kernel's IPv4 routes, read by rtnetlink. Layout of messages: rtnetlink(7), netlink(7).

use std::collections::BTreeMap;
use std::net::Ipv4Addr;
use std::os::fd::{AsRawFd, OwnedFd};

use nix::sys::socket::{
    recv, send, socket, AddressFamily, MsgFlags, SockFlag, SockProtocol, SockType,
};

use crate::failure::{Context, Failure, Result};

const MESSAGE_HEADER_BYTES: usize = 16;
/// `struct rtmsg`, `struct rtnexthop` and `struct rtattr`.
const ROUTE_HEADER_BYTES: usize = 12;
const NEXT_HOP_HEADER_BYTES: usize = 8;
const ATTRIBUTE_HEADER_BYTES: usize = 4;
/// The kernel fills up to 32 KiB at a time.
const ANSWER_BYTES: usize = 1 << 16;
const RTNH_F_DEAD: u8 = 1;
const RTNH_F_LINKDOWN: u8 = 16;

/// An IPv4 network: its address and the length of its prefix.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Prefix {
    pub address: Ipv4Addr,
    pub length: u8,
}

impl std::str::FromStr for Prefix {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<Self, String> {
        text.split_once('/')
            .and_then(|(address, length)| Some((address.parse().ok()?, length.parse().ok()?)))
            .filter(|(_, length)| *length <= 32)
            .map(|(address, length)| Self { address, length })
            .ok_or_else(|| {
                format!(
                    "\"{text}\" is no IPv4 prefix; an address and a length such as 10.0.0.0/31 are"
                )
            })
    }
}

/// Each prefix of the main table with the indices of the interfaces of its live next hops.
pub type Routes = BTreeMap<Prefix, Vec<u32>>;

/// A socket that reads the routes of the network namespace in which it was opened.
pub struct Fib(OwnedFd);

impl Fib {
    pub fn open() -> Result<Self> {
        socket(
            AddressFamily::Netlink,
            SockType::Raw,
            SockFlag::SOCK_CLOEXEC,
            SockProtocol::NetlinkRoute,
        )
        .map(Self)
        .context(|| "open a netlink socket".to_owned())
    }

    pub fn read(&self) -> Result<Routes> {
        send(self.0.as_raw_fd(), &request(), MsgFlags::empty())
            .context(|| "ask for the routes".to_owned())?;
        let mut routes = Routes::new();
        let mut answer = vec![0; ANSWER_BYTES];
        loop {
            let length = recv(self.0.as_raw_fd(), &mut answer, MsgFlags::empty())
                .context(|| "read the routes".to_owned())?;
            if take_messages(&answer[..length], &mut routes)? {
                return Ok(routes);
            }
        }
    }
}

fn request() -> [u8; MESSAGE_HEADER_BYTES + ROUTE_HEADER_BYTES] {
    let mut message = [0; MESSAGE_HEADER_BYTES + ROUTE_HEADER_BYTES];
    let length = message.len() as u32;
    message[0..4].copy_from_slice(&length.to_ne_bytes());
    message[4..6].copy_from_slice(&libc::RTM_GETROUTE.to_ne_bytes());
    let flags = (libc::NLM_F_REQUEST | libc::NLM_F_DUMP) as u16;
    message[6..8].copy_from_slice(&flags.to_ne_bytes());
    message[MESSAGE_HEADER_BYTES] = libc::AF_INET as u8;
    message
}

/// Takes the routes of one answer; `true` when it was the last.
fn take_messages(mut answer: &[u8], routes: &mut Routes) -> Result<bool> {
    let broken = || Failure::new("the kernel's answer about routes is cut short");
    while !answer.is_empty() {
        let length = u32_at(answer, 0).ok_or_else(broken)? as usize;
        let message = answer.get(..length).ok_or_else(broken)?;
        let kind = u16_at(message, 4).ok_or_else(broken)?;
        if kind == libc::NLMSG_DONE as u16 {
            return Ok(true);
        }
        if kind == libc::NLMSG_ERROR as u16 {
            let code = u32_at(message, MESSAGE_HEADER_BYTES).ok_or_else(broken)? as i32;
            let errno = nix::errno::Errno::from_raw(-code);
            return Err(Failure::new(format!("read the routes: {}", errno.desc())));
        }
        if kind == libc::RTM_NEWROUTE {
            take_route(&message[MESSAGE_HEADER_BYTES..], routes).ok_or_else(broken)?;
        }
        answer = answer.get(length.next_multiple_of(4)..).unwrap_or_default();
    }
    Ok(false)
}

/// Takes a route of the main table; `None` when the message is broken.
fn take_route(message: &[u8], routes: &mut Routes) -> Option<()> {
    let header = message.get(..ROUTE_HEADER_BYTES)?;
    let (length, table, kind) = (header[1], header[4], header[7]);
    if table != libc::RT_TABLE_MAIN || kind != libc::RTN_UNICAST {
        return Some(());
    }
    let mut address = Ipv4Addr::UNSPECIFIED;
    let mut interfaces = Vec::new();
    let flags = u32_at(header, 8)? as u8;
    for (kind, payload) in Attributes(&message[ROUTE_HEADER_BYTES..]) {
        match kind {
            libc::RTA_DST => address = <[u8; 4]>::try_from(payload).ok()?.into(),
            libc::RTA_OIF if is_alive(flags) => interfaces.push(u32_at(payload, 0)?),
            libc::RTA_MULTIPATH => take_next_hops(payload, &mut interfaces)?,
            _ => {}
        }
    }
    routes.insert(Prefix { address, length }, interfaces);
    Some(())
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

struct Attributes<'a>(&'a [u8]);

impl<'a> Iterator for Attributes<'a> {
    type Item = (u16, &'a [u8]);

    fn next(&mut self) -> Option<Self::Item> {
        let length = usize::from(u16_at(self.0, 0)?);
        let kind = u16_at(self.0, 2)?;
        let payload = self.0.get(ATTRIBUTE_HEADER_BYTES..length)?;
        self.0 = self.0.get(length.next_multiple_of(4)..).unwrap_or_default();
        Some((kind, payload))
    }
}

fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_ne_bytes(bytes.get(at..at + 2)?.try_into().ok()?))
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_ne_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
}

#[cfg(test)]
#[path = "fib_tests.rs"]
mod tests;
