//! The windows of IPv6's routes, which no file in /proc shows: asked for by rtnetlink(7).

use std::io;
use std::net::Ipv6Addr;

use netlink::{attributes, find_attribute, messages, u32_at, Protocol, Reply, Request, Socket};

/// `struct rtmsg`.
const ROUTE_HEADER_BYTES: usize = 12;
/// The kernel fills up to 32 KiB at a time.
const ANSWER_BYTES: usize = 1 << 16;
/// Linux, include/uapi/linux/rtnetlink.h: a metric's number.
const RTAX_WINDOW: u16 = 3;

/// The routes of the main table, those with the longest prefix first; none where no route has a window.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Ipv6Windows(Vec<Ipv6Window>);

#[derive(Debug, PartialEq, Eq)]
struct Ipv6Window {
    destination: Ipv6Addr,
    length: u8,
    /// 0: no limit.
    bytes: u32,
}

impl Ipv6Windows {
    pub fn read() -> io::Result<Self> {
        let socket = Socket::open(Protocol::Route)?;
        let mut header = [0; ROUTE_HEADER_BYTES];
        header[0] = libc::AF_INET6 as u8;
        socket.send(Request::new(libc::RTM_GETROUTE, libc::NLM_F_DUMP, &header).finish(0))?;
        let mut routes = Vec::new();
        let mut answer = vec![0; ANSWER_BYTES];
        loop {
            let length = socket.receive(&mut answer)?;
            if take_messages(&answer[..length], &mut routes)? {
                return Ok(Self::of(routes));
            }
        }
    }

    fn of(mut routes: Vec<Ipv6Window>) -> Self {
        if routes.iter().all(|route| route.bytes == 0) {
            return Self::default();
        }
        // Stable: of two routes to the same network the kernel lists the preferred one first.
        routes.sort_by_key(|route| std::cmp::Reverse(route.length));
        Self(routes)
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The window of the route to a peer, 0 where it has none.
    pub fn towards(&self, peer: Ipv6Addr) -> Option<u32> {
        let route = self.0.iter().find(|route| route.holds(peer))?;
        Some(route.bytes)
    }
}

impl Ipv6Window {
    fn holds(&self, address: Ipv6Addr) -> bool {
        let mask = u128::MAX
            .checked_shl(128 - u32::from(self.length))
            .unwrap_or(0);
        u128::from(address) & mask == u128::from(self.destination)
    }
}

/// Takes the routes of one answer; `true` when it was the last.
fn take_messages(answer: &[u8], routes: &mut Vec<Ipv6Window>) -> io::Result<bool> {
    for message in messages(answer) {
        let message = message?;
        match message.reply() {
            Reply::Done => return Ok(true),
            Reply::Refused(number) => return Err(io::Error::from_raw_os_error(number)),
            Reply::Data(payload) if message.kind == libc::RTM_NEWROUTE => {
                let broken = || io::Error::from(io::ErrorKind::InvalidData);
                routes.extend(parse(payload).ok_or_else(broken)?);
            }
            Reply::Data(_) => {}
        }
    }
    Ok(false)
}

/// Reads a route; the outer `None` is a message that is broken, the inner one a route of another table or kind.
fn parse(message: &[u8]) -> Option<Option<Ipv6Window>> {
    let header = message.get(..ROUTE_HEADER_BYTES)?;
    let (length, table, kind) = (header[1], header[4], header[7]);
    if table != libc::RT_TABLE_MAIN || kind != libc::RTN_UNICAST {
        return Some(None);
    }
    let mut route = Ipv6Window {
        destination: Ipv6Addr::UNSPECIFIED,
        length,
        bytes: 0,
    };
    for (kind, payload) in attributes(&message[ROUTE_HEADER_BYTES..]) {
        match kind {
            libc::RTA_DST => route.destination = <[u8; 16]>::try_from(payload).ok()?.into(),
            libc::RTA_METRICS => {
                if let Some(window) = find_attribute(payload, RTAX_WINDOW) {
                    route.bytes = u32_at(window, 0)?;
                }
            }
            _ => {}
        }
    }
    Some(Some(route))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One attribute with its header.
    fn attribute(kind: u16, payload: &[u8]) -> Vec<u8> {
        let mut request = Request::new(0, 0, &[]);
        let bare = request.finish(0).len();
        request.attribute(kind, payload).finish(0)[bare..].to_vec()
    }

    fn route(table: u8, destination: &str, length: u8, window: u32) -> Vec<u8> {
        let mut payload = vec![0; ROUTE_HEADER_BYTES];
        (payload[1], payload[4], payload[7]) = (length, table, libc::RTN_UNICAST);
        let address: Ipv6Addr = destination.parse().expect("an address");
        payload.extend(attribute(libc::RTA_DST, &address.octets()));
        if window > 0 {
            let metric = attribute(RTAX_WINDOW, &window.to_ne_bytes());
            payload.extend(attribute(libc::RTA_METRICS, &metric));
        }
        Request::new(libc::RTM_NEWROUTE, 0, &payload)
            .finish(0)
            .to_vec()
    }

    fn read(answer: &[Vec<u8>]) -> Ipv6Windows {
        let mut routes = Vec::new();
        assert!(!take_messages(&answer.concat(), &mut routes).expect("valid"));
        Ipv6Windows::of(routes)
    }

    #[test]
    fn the_longest_prefix_of_the_main_table_decides() {
        let main = libc::RT_TABLE_MAIN;
        let routes = read(&[
            route(main, "::", 0, 28_960),
            route(main, "fd00:1::", 127, 0),
            route(main, "fd00:2::1", 128, 14_480),
            route(libc::RT_TABLE_LOCAL, "fd00:9::1", 128, 5),
        ]);
        let towards = |peer: &str| routes.towards(peer.parse().expect("an address"));
        assert_eq!(towards("fd00:9::1"), Some(28_960));
        assert_eq!(towards("fd00:1::1"), Some(0));
        assert_eq!(towards("fd00:2::1"), Some(14_480));
    }

    #[test]
    fn routes_without_a_window_are_not_looked_at() {
        let routes = read(&[route(libc::RT_TABLE_MAIN, "::", 0, 0)]);
        assert!(routes.is_empty());
        assert!(take_messages(
            Request::new(libc::RTM_NEWROUTE, 0, &[0; 4]).finish(0),
            &mut Vec::new()
        )
        .is_err());
    }
}
