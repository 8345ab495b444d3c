//! The window that the route to a connection's peer allows: a route's `window`, ip-route(8), the way in which a lab
//! bounds what a sender has in flight.
//!
//! Linux (6.6 to 6.12 at least) takes a route's window for the handshake and forgets it: with the first segment that is
//! larger than any before, tcp_measure_rcv_mss (net/ipv4/tcp_input.c) sets the clamp to what the receive buffer holds.
//! So it is set again here (TCP_WINDOW_CLAMP).

use std::io;
use std::net::{IpAddr, Ipv4Addr};
use std::path::Path;

use socket2::Socket;

use crate::sys;
use crate::window_ipv6::Ipv6Windows;

const ROUTES: &str = "/proc/net/route";
/// Columns of that file (fib_route_seq_show in net/ipv4/fib_trie.c).
const DESTINATION: usize = 1;
const MASK: usize = 7;
const WINDOW: usize = 9;
/// With the segment that makes the kernel forget the clamp, it opens the window by two of them (tcp_grow_window). Until
/// then the clamp is lower by that much.
const GROWTH_SEGMENTS: u32 = 2;
/// A route's window counts each segment with TCP's timestamps, as the client's kernel does in the handshake.
const TIMESTAMP_BYTES: u32 = 12;

/// The routes of this network namespace, those with the longest prefix first.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct RouteWindows {
    ipv4: Vec<RouteWindow>,
    ipv6: Ipv6Windows,
}

#[derive(Debug, PartialEq, Eq)]
struct RouteWindow {
    destination: Ipv4Addr,
    mask: Ipv4Addr,
    /// 0: no limit.
    bytes: u32,
}

/// What the peer of one connection may have in flight.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WindowLimit(u32);

impl RouteWindows {
    /// Reads the routes as they are now; those of IPv6 where the host has it.
    pub fn read(has_ipv6: bool) -> io::Result<Self> {
        let ipv6 = if has_ipv6 {
            Ipv6Windows::read()?
        } else {
            Ipv6Windows::default()
        };
        // Without IPv4 there is no such file.
        let ipv4 = match std::fs::read_to_string(Path::new(ROUTES)) {
            Ok(text) => Self::parse(&text)?,
            Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
            Err(error) => return Err(io::Error::new(error.kind(), format!("{ROUTES}: {error}"))),
        };
        Ok(Self { ipv4, ipv6 })
    }

    fn parse(text: &str) -> io::Result<Vec<RouteWindow>> {
        let mut routes = Vec::new();
        for (index, line) in text.lines().enumerate().skip(1) {
            let route = RouteWindow::parse(line).ok_or_else(|| {
                let message = format!(
                    "{ROUTES}:{}: \"{}\" is not a route as Linux shows it",
                    index + 1,
                    line.trim_end()
                );
                io::Error::new(io::ErrorKind::InvalidData, message)
            })?;
            routes.push(route);
        }
        if routes.iter().all(|route| route.bytes == 0) {
            return Ok(Vec::new());
        }
        // Stable: of two routes to the same network the kernel lists the preferred one first.
        routes.sort_by_key(|route| std::cmp::Reverse(u32::from(route.mask)));
        Ok(routes)
    }

    /// Returns the limit of the route to a connection's peer; none for a connection that is gone.
    pub fn limit(&self, socket: &Socket) -> Option<WindowLimit> {
        if self.ipv4.is_empty() && self.ipv6.is_empty() {
            return None;
        }
        self.limit_towards(socket.peer_addr().ok()?.as_socket()?.ip())
    }

    fn limit_towards(&self, peer: IpAddr) -> Option<WindowLimit> {
        let bytes = match peer {
            IpAddr::V4(peer) => {
                let mut routes = self.ipv4.iter();
                routes
                    .find(|route| peer & route.mask == route.destination)?
                    .bytes
            }
            IpAddr::V6(peer) => self.ipv6.towards(peer)?,
        };
        (bytes > 0).then_some(WindowLimit(bytes))
    }
}

impl RouteWindow {
    fn parse(line: &str) -> Option<Self> {
        let fields: Vec<&str> = line.split_whitespace().collect();
        Some(Self {
            destination: parse_address(fields.get(DESTINATION)?)?,
            mask: parse_address(fields.get(MASK)?)?,
            bytes: fields.get(WINDOW)?.parse().ok()?,
        })
    }
}

/// An address as the number that its bytes in memory are.
fn parse_address(digits: &str) -> Option<Ipv4Addr> {
    let number = u32::from_str_radix(digits, 16).ok()?;
    Some(Ipv4Addr::from(number.to_ne_bytes()))
}

impl WindowLimit {
    pub fn bytes(self) -> u32 {
        self.0
    }

    /// Prepares a connection that is established and has received nothing yet.
    pub fn begin(self, socket: &Socket) -> io::Result<()> {
        let segment = socket.tcp_mss()?;
        let window = self.in_segments_of(segment);
        // The kernel raises what is less than its own least.
        let clamp = window.saturating_sub(GROWTH_SEGMENTS * segment).max(1);
        sys::set_window_clamp(socket, clamp)
    }

    /// Sets the clamp again after data have been read; `received` is all that the connection has received.
    pub fn keep(self, socket: &Socket, received: u64) -> io::Result<()> {
        let segment = socket.tcp_mss()?;
        if received < u64::from(segment) {
            return Ok(());
        }
        sys::set_window_clamp(socket, self.in_segments_of(segment))
    }

    /// The data of as many whole segments as the window has room for. A window that ends within a segment would have
    /// the sender send the part that fits, and then parts for ever (silly window syndrome), as its sockets don't wait
    /// for more (TCP_NODELAY).
    fn in_segments_of(self, segment: u32) -> u32 {
        match self.0 / (segment + TIMESTAMP_BYTES) {
            // Into a window of one segment Linux sends two halves (tcp_bound_to_half_wnd).
            0 | 1 => self.0,
            segments => segments * segment,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEADER: &str =
        "Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\tWindow\tIRTT\n";

    fn line(destination: [u8; 4], length: u32, window: u32) -> String {
        let mask = u32::MAX.checked_shl(32 - length).unwrap_or(0);
        format!(
            "eth1\t{:08X}\t0001000A\t0003\t0\t0\t0\t{:08X}\t0\t{window}\t0   \n",
            u32::from_ne_bytes(destination),
            u32::from_ne_bytes(mask.to_be_bytes())
        )
    }

    fn limit(routes: &RouteWindows, peer: [u8; 4]) -> Option<u32> {
        routes
            .limit_towards(IpAddr::V4(peer.into()))
            .map(WindowLimit::bytes)
    }

    #[test]
    fn the_longest_prefix_decides() {
        let text = HEADER.to_owned()
            + &line([0, 0, 0, 0], 0, 28_960)
            + &line([10, 0, 1, 0], 31, 0)
            + &line([10, 0, 2, 1], 32, 14_480);
        let routes = RouteWindows {
            ipv4: RouteWindows::parse(&text).expect("valid"),
            ..Default::default()
        };
        assert_eq!(limit(&routes, [10, 0, 9, 1]), Some(28_960));
        assert_eq!(limit(&routes, [10, 0, 1, 1]), None);
        assert_eq!(limit(&routes, [10, 0, 2, 1]), Some(14_480));
    }

    #[test]
    fn a_window_holds_whole_segments() {
        assert_eq!(WindowLimit(20 * 1460).in_segments_of(1448), 20 * 1448);
        assert_eq!(WindowLimit(20 * 1460 - 1).in_segments_of(1448), 19 * 1448);
        assert_eq!(WindowLimit(1448).in_segments_of(1448), 1448);
        assert_eq!(WindowLimit(1448).in_segments_of(724), 1448);
    }

    #[test]
    fn routes_without_a_window_are_not_looked_at() {
        let text = HEADER.to_owned() + &line([0, 0, 0, 0], 0, 0);
        assert_eq!(RouteWindows::parse(&text).expect("valid"), []);
    }

    #[test]
    fn a_line_that_is_no_route_is_named() {
        let error = RouteWindows::parse(&(HEADER.to_owned() + "eth1\tx\n")).expect_err("wrong");
        assert_eq!(
            error.to_string(),
            "/proc/net/route:2: \"eth1\tx\" is not a route as Linux shows it"
        );
    }
}
