//! `ip route`. Source: iproute2 6.15, ip/iproute.c; rtnetlink(7).

use std::net::IpAddr;

use super::command::{verb_flags, Interfaces};
use super::words::{self, Words};
use netlink::Request;

/// Linux, include/uapi/linux/rtnetlink.h: metrics of a route.
const RTAX_LOCK: u16 = 1;
const RTAX_RTO_MIN: u16 = 13;
const RTAX_QUICKACK: u16 = 15;
const METRICS: [(&str, u16); 7] = [
    ("mtu", 2),
    ("window", 3),
    ("ssthresh", 6),
    ("cwnd", 7),
    ("advmss", 8),
    ("initcwnd", 11),
    ("initrwnd", 14),
];

#[derive(Clone, Copy)]
struct NextHop {
    gateway: Option<IpAddr>,
    index: Option<u32>,
    /// Less one, as the kernel has it.
    weight: u8,
}

#[derive(Default)]
struct Metrics {
    values: Vec<(u16, u32)>,
    locked: u32,
}

/// `add|replace PREFIX|default [table N] [METRICS] [via ADDRESS] [dev INTERFACE]` or `... nexthop via ADDRESS dev
/// INTERFACE [weight N] ...`
pub(super) fn compile(words: &mut Words, interfaces: &mut Interfaces) -> Option<Request> {
    let flags = verb_flags(words.next()?)?;
    let destination = match words.next()? {
        "default" => None,
        word => Some(words::prefix(word)?),
    };
    let mut metrics = Metrics::default();
    let mut table = None;
    let mut direct = NextHop {
        gateway: None,
        index: None,
        weight: 0,
    };
    let mut several = Vec::new();
    while let Some(word) = words.next() {
        match word {
            "via" if direct.gateway.is_none() => direct.gateway = Some(words.next()?.parse().ok()?),
            "dev" if direct.index.is_none() => {
                direct.index = Some(interfaces.index(words.next()?)?)
            }
            "table" if table.is_none() => table = Some(words::table(words)?),
            "nexthop" => {
                several = next_hops(words, interfaces)?;
                break;
            }
            metric => metrics.read(metric, words)?,
        }
    }
    if !several.is_empty() && (direct.gateway.is_some() || direct.index.is_some()) {
        return None;
    }
    let family = common_family(destination.map(|(address, _)| address), &direct, &several)?;
    Some(route_message(
        flags,
        family,
        table.unwrap_or(libc::RT_TABLE_MAIN),
        destination,
        &metrics,
        &direct,
        &several,
    ))
}

/// What stands behind the first `nexthop`.
fn next_hops(words: &mut Words, interfaces: &mut Interfaces) -> Option<Vec<NextHop>> {
    let mut hops = Vec::new();
    let mut hop = NextHop {
        gateway: None,
        index: None,
        weight: 0,
    };
    loop {
        match words.next() {
            Some("via") if hop.gateway.is_none() => hop.gateway = Some(words.next()?.parse().ok()?),
            Some("dev") if hop.index.is_none() => {
                hop.index = Some(interfaces.index(words.next()?)?)
            }
            Some("weight") => {
                hop.weight = u8::try_from(words.next_number()?.checked_sub(1)?).ok()?
            }
            Some("nexthop") => hops.push(std::mem::replace(
                &mut hop,
                NextHop {
                    gateway: None,
                    index: None,
                    weight: 0,
                },
            )),
            Some(_) => return None,
            None => break,
        }
    }
    hops.push(hop);
    hops.iter()
        .all(|hop| hop.gateway.is_some() && hop.index.is_some())
        .then_some(hops)
}

/// The one address family of a route; a gateway of another family is rare enough for the real tool.
fn common_family(destination: Option<IpAddr>, direct: &NextHop, several: &[NextHop]) -> Option<u8> {
    let gateways = several.iter().chain([direct]).filter_map(|hop| hop.gateway);
    let mut families: Vec<u8> = destination
        .into_iter()
        .chain(gateways)
        .map(words::family)
        .collect();
    families.dedup();
    match families[..] {
        [] => Some(libc::AF_INET as u8),
        [family] => Some(family),
        _ => None,
    }
}

fn route_message(
    flags: libc::c_int,
    family: u8,
    table: u8,
    destination: Option<(IpAddr, u8)>,
    metrics: &Metrics,
    direct: &NextHop,
    several: &[NextHop],
) -> Request {
    let on_link =
        i32::from(family) == libc::AF_INET && direct.gateway.is_none() && several.is_empty();
    let scope = if on_link {
        libc::RT_SCOPE_LINK
    } else {
        libc::RT_SCOPE_UNIVERSE
    };
    let length = destination.map_or(0, |(_, length)| length);
    // struct rtmsg
    let header = [
        family,
        length,
        0,
        0,
        table,
        libc::RTPROT_BOOT,
        scope,
        libc::RTN_UNICAST,
        0,
        0,
        0,
        0,
    ];
    let mut message = Request::acknowledged(libc::RTM_NEWROUTE, flags, &header);
    if let Some((address, _)) = destination {
        message.attribute(libc::RTA_DST, &words::octets(address));
    }
    if let Some(gateway) = direct.gateway {
        message.attribute(libc::RTA_GATEWAY, &words::octets(gateway));
    }
    if let Some(index) = direct.index {
        message.attribute_u32(libc::RTA_OIF, index);
    }
    metrics.add_to(&mut message);
    if !several.is_empty() {
        message.nest(libc::RTA_MULTIPATH, |multipath| {
            several.iter().for_each(|hop| hop.add_to(multipath))
        });
    }
    message
}

impl NextHop {
    /// As a `struct rtnexthop` with its gateway.
    fn add_to(&self, multipath: &mut Request) {
        let gateway = self.gateway.map(words::octets).unwrap_or_default();
        let length = (8 + 4 + gateway.len()) as u16;
        let mut header = length.to_ne_bytes().to_vec();
        header.extend_from_slice(&[0, self.weight]);
        header.extend_from_slice(&self.index.unwrap_or_default().to_ne_bytes());
        multipath
            .raw_padded(&header)
            .attribute(libc::RTA_GATEWAY, &gateway);
    }
}

impl Metrics {
    fn read(&mut self, metric: &str, words: &mut Words) -> Option<()> {
        let (kind, value) = match metric {
            "rto_min" => {
                // ip(8) locks it without being asked.
                self.locked |= 1 << RTAX_RTO_MIN;
                (RTAX_RTO_MIN, words::time_ms(words.next()?)?)
            }
            "quickack" => (
                RTAX_QUICKACK,
                words.next_number().filter(|value| *value <= 1)?,
            ),
            _ => {
                let (_, kind) = METRICS.into_iter().find(|(name, _)| *name == metric)?;
                if words.take("lock") {
                    self.locked |= 1 << kind;
                }
                (kind, words.next_number()?)
            }
        };
        let twice = self.values.iter().any(|(known, _)| *known == kind);
        self.values.push((kind, value));
        (!twice).then_some(())
    }

    fn add_to(&self, message: &mut Request) {
        if self.values.is_empty() {
            return;
        }
        message.nest(libc::RTA_METRICS, |metrics| {
            for (kind, value) in &self.values {
                metrics.attribute_u32(*kind, *value);
            }
            if self.locked != 0 {
                metrics.attribute_u32(RTAX_LOCK, self.locked);
            }
        });
    }
}
