//! `ip`: addresses, neighbours, links. Source: iproute2 6.15, ip/{ipaddress,ipneigh,iplink}.c; rtnetlink(7).

use std::net::IpAddr;

use super::command::{verb_flags, Command, Interfaces};
use super::words::{self, Words};
use super::{mptcp, route, rule};
use netlink::Request;

pub(super) fn compile(words: &mut Words, interfaces: &mut Interfaces) -> Option<Command> {
    let message = match words.next()? {
        "mptcp" => return mptcp::compile(words, interfaces).map(Command::Mptcp),
        "address" | "addr" => address(words, interfaces),
        "neighbour" | "neighbor" | "neigh" => neighbour(words, interfaces),
        "route" => route::compile(words, interfaces),
        "rule" => rule::compile(words),
        "link" => link(words, interfaces),
        _ => None,
    };
    message.map(Command::Route)
}

/// `address add|replace PREFIX dev INTERFACE`
fn address(words: &mut Words, interfaces: &mut Interfaces) -> Option<Request> {
    let flags = verb_flags(words.next()?)?;
    let (address, length) = words::prefix(words.next()?)?;
    let index = only_device(words, interfaces)?;
    if length == 0 {
        return None;
    }
    let loopback = matches!(address, IpAddr::V4(address) if address.octets()[0] == 127);
    let scope = if loopback {
        libc::RT_SCOPE_HOST
    } else {
        libc::RT_SCOPE_UNIVERSE
    };
    // struct ifaddrmsg
    let mut header = vec![words::family(address), length, 0, scope];
    header.extend_from_slice(&index.to_ne_bytes());
    let mut message = Request::acknowledged(libc::RTM_NEWADDR, flags, &header);
    let octets = words::octets(address);
    message
        .attribute(libc::IFA_LOCAL, &octets)
        .attribute(libc::IFA_ADDRESS, &octets);
    Some(message)
}

/// `neighbour add|replace ADDRESS lladdr ADDRESS dev INTERFACE nud permanent`, the last three in any order
fn neighbour(words: &mut Words, interfaces: &mut Interfaces) -> Option<Request> {
    let flags = verb_flags(words.next()?)?;
    let address: IpAddr = words.next()?.parse().ok()?;
    let (mut ethernet, mut index, mut permanent) = (None, None, false);
    while let Some(word) = words.next() {
        match word {
            "lladdr" if ethernet.is_none() => ethernet = Some(words::ethernet(words.next()?)?),
            "dev" if index.is_none() => index = Some(interfaces.index(words.next()?)?),
            "nud" if words.take("permanent") => permanent = true,
            _ => return None,
        }
    }
    if !permanent {
        return None;
    }
    // struct ndmsg
    let mut header = vec![words::family(address), 0, 0, 0];
    header.extend_from_slice(&index?.to_ne_bytes());
    header.extend_from_slice(&libc::NUD_PERMANENT.to_ne_bytes());
    header.extend_from_slice(&[0, 0]);
    let mut message = Request::acknowledged(libc::RTM_NEWNEIGH, flags, &header);
    message
        .attribute(libc::NDA_DST, &words::octets(address))
        .attribute(libc::NDA_LLADDR, &ethernet?);
    Some(message)
}

/// `link set [dev] INTERFACE [up] [mtu BYTES] [txqueuelen PACKETS]`
fn link(words: &mut Words, interfaces: &mut Interfaces) -> Option<Request> {
    if words.next()? != "set" {
        return None;
    }
    words.take("dev");
    let index = interfaces.index(words.next()?)?;
    let mut up = 0;
    let mut attributes = Vec::new();
    while let Some(word) = words.next() {
        match word {
            "up" => up = libc::IFF_UP as u32,
            "mtu" => attributes.push((libc::IFLA_MTU, words.next_number()?)),
            "txqueuelen" => attributes.push((libc::IFLA_TXQLEN, words.next_number()?)),
            _ => return None,
        }
    }
    // struct ifinfomsg
    let mut header = vec![0; 4];
    for field in [index, up, up] {
        header.extend_from_slice(&field.to_ne_bytes());
    }
    let mut message = Request::acknowledged(libc::RTM_NEWLINK, 0, &header);
    for (kind, value) in attributes {
        message.attribute_u32(kind, value);
    }
    Some(message)
}

/// `dev INTERFACE` and nothing else.
fn only_device(words: &mut Words, interfaces: &mut Interfaces) -> Option<u32> {
    if !words.take("dev") {
        return None;
    }
    let index = interfaces.index(words.next()?)?;
    words.next().is_none().then_some(index)
}
