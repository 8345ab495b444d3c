//! `ip mptcp`: generic netlink. Source: iproute2 6.15, ip/ipmptcp.c; Linux, include/uapi/linux/mptcp_pm.h and mptcp.h.

use std::net::IpAddr;

use super::command::Interfaces;
use super::words::{self, Words};
use netlink::{Family, Request};

pub(super) const FAMILY: &str = "mptcp_pm";
const VERSION: u8 = 1;

const CMD_ADD_ADDR: u8 = 1;
const CMD_SET_LIMITS: u8 = 5;

const ATTR_ADDR: u16 = 1;
const ATTR_RCV_ADD_ADDRS: u16 = 2;
const ATTR_SUBFLOWS: u16 = 3;

const ADDR_FAMILY: u16 = 1;
const ADDR_ID: u16 = 2;
const ADDR_ADDR4: u16 = 3;
const ADDR_FLAGS: u16 = 6;
const ADDR_IF_IDX: u16 = 7;

const FLAGS: [(&str, u32); 3] = [
    ("signal", 1 << 0),
    ("subflow", 1 << 1),
    ("fullmesh", 1 << 3),
];

/// The message's kind is the family's number, which is known only when there is a socket.
pub(super) fn compile(words: &mut Words, interfaces: &mut Interfaces) -> Option<Request> {
    match (words.next()?, words.next()?) {
        ("limits", "set") => limits(words),
        ("endpoint", "add") => endpoint(words, interfaces),
        _ => None,
    }
}

/// `limits set subflow N add_addr_accepted N`
fn limits(words: &mut Words) -> Option<Request> {
    if !words.take("subflow") {
        return None;
    }
    let subflows = words.next_number()?;
    if !words.take("add_addr_accepted") {
        return None;
    }
    let accepted = words.next_number()?;
    let mut message = request(CMD_SET_LIMITS);
    message
        .attribute_u32(ATTR_SUBFLOWS, subflows)
        .attribute_u32(ATTR_RCV_ADD_ADDRS, accepted);
    words.next().is_none().then_some(message)
}

/// `endpoint add ADDRESS dev INTERFACE id N FLAG...`
fn endpoint(words: &mut Words, interfaces: &mut Interfaces) -> Option<Request> {
    let IpAddr::V4(address) = words.next()?.parse().ok()? else {
        return None;
    };
    if !words.take("dev") {
        return None;
    }
    let index = interfaces.index(words.next()?)?;
    if !words.take("id") {
        return None;
    }
    let id = u8::try_from(words.next_number()?).ok()?;
    let mut flags = 0;
    while let Some(word) = words.next() {
        flags |= FLAGS.into_iter().find(|(name, _)| *name == word)?.1;
    }
    let mut message = request(CMD_ADD_ADDR);
    message.nest_flagged(ATTR_ADDR, |endpoint| {
        endpoint
            .attribute(ADDR_FAMILY, &(libc::AF_INET as u16).to_ne_bytes())
            .attribute(ADDR_ID, &[id])
            .attribute(ADDR_ADDR4, &words::octets(address.into()))
            .attribute_u32(ADDR_FLAGS, flags)
            .attribute_u32(ADDR_IF_IDX, index);
    });
    Some(message)
}

fn request(command: u8) -> Request {
    Request::acknowledged(0, 0, &Family::header(command, VERSION))
}
