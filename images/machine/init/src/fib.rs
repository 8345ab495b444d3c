//! The kernel's IPv4 routes, read by rtnetlink. Layout of messages: rtnetlink(7), netlink(7).

use std::collections::BTreeMap;
use std::net::Ipv4Addr;

use netlink::{attributes, messages, u16_at, u32_at, Protocol, Reply, Request, Socket};

use crate::failure::{Context, Failure, Result};

/// `struct rtmsg` and `struct rtnexthop`.
const ROUTE_HEADER_BYTES: usize = 12;
const NEXT_HOP_HEADER_BYTES: usize = 8;
/// The kernel fills up to 32 KiB at a time.
const ANSWER_BYTES: usize = 1 << 16;
/// Linux, include/uapi/linux/rtnetlink.h: flags of a next hop.
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
pub struct Fib(Socket);

impl Fib {
    pub fn open() -> Result<Self> {
        Socket::open(Protocol::Route)
            .map(Self)
            .context(|| "open a netlink socket".to_owned())
    }

    pub fn read(&self) -> Result<Routes> {
        self.0
            .send(request().finish(0))
            .context(|| "ask for the routes".to_owned())?;
        let mut routes = Routes::new();
        let mut answer = vec![0; ANSWER_BYTES];
        loop {
            let length = self
                .0
                .receive(&mut answer)
                .context(|| "read the routes".to_owned())?;
            if take_messages(&answer[..length], &mut routes)? {
                return Ok(routes);
            }
        }
    }
}

/// What all routes of a namespace come to, of every table, IPv4 and IPv6: equal where nothing has changed.
#[derive(Default, PartialEq, Eq)]
pub struct Signature(Vec<u8>);

impl Fib {
    pub fn signature(&self) -> Result<Signature> {
        let mut signature = Signature::default();
        let mut answer = vec![0; ANSWER_BYTES];
        for family in [libc::AF_INET, libc::AF_INET6] {
            self.0
                .send(request_of(family).finish(0))
                .context(|| "ask for the routes".to_owned())?;
            loop {
                let length = self
                    .0
                    .receive(&mut answer)
                    .context(|| "read the routes".to_owned())?;
                if add_messages(&answer[..length], &mut signature)? {
                    break;
                }
            }
        }
        Ok(signature)
    }
}

/// Adds the routes of one answer; `true` when it was the last. What counts uses or time left is no part of a route.
fn add_messages(answer: &[u8], signature: &mut Signature) -> Result<bool> {
    let broken = || Failure::new("the kernel's answer about routes is cut short");
    for message in messages(answer) {
        let message = message.map_err(|_| broken())?;
        match message.reply() {
            Reply::Done => return Ok(true),
            Reply::Refused(number) => {
                let errno = nix::errno::Errno::from_raw(number);
                return Err(Failure::new(format!("read the routes: {}", errno.desc())));
            }
            Reply::Data(payload) if message.kind == libc::RTM_NEWROUTE => {
                let header = payload.get(..ROUTE_HEADER_BYTES).ok_or_else(broken)?;
                signature.0.extend(header);
                for (kind, value) in attributes(&payload[ROUTE_HEADER_BYTES..]) {
                    if kind != libc::RTA_CACHEINFO {
                        signature.0.extend(kind.to_ne_bytes());
                        signature.0.extend(value);
                    }
                }
            }
            Reply::Data(_) => {}
        }
    }
    Ok(false)
}

fn request() -> Request {
    request_of(libc::AF_INET)
}

fn request_of(family: i32) -> Request {
    let mut header = [0; ROUTE_HEADER_BYTES];
    header[0] = family as u8;
    Request::new(libc::RTM_GETROUTE, libc::NLM_F_DUMP, &header)
}

/// Takes the routes of one answer; `true` when it was the last.
fn take_messages(answer: &[u8], routes: &mut Routes) -> Result<bool> {
    let broken = || Failure::new("the kernel's answer about routes is cut short");
    for message in messages(answer) {
        let message = message.map_err(|_| broken())?;
        match message.reply() {
            Reply::Done => return Ok(true),
            Reply::Refused(number) => {
                let errno = nix::errno::Errno::from_raw(number);
                return Err(Failure::new(format!("read the routes: {}", errno.desc())));
            }
            Reply::Data(payload) if message.kind == libc::RTM_NEWROUTE => {
                take_route(payload, routes).ok_or_else(broken)?;
            }
            Reply::Data(_) => {}
        }
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
    for (kind, payload) in attributes(&message[ROUTE_HEADER_BYTES..]) {
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

#[cfg(test)]
#[path = "fib_tests.rs"]
mod tests;
