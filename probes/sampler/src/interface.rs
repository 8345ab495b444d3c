//! An interface's counters: RTM_GETSTATS, which answers with nothing but them.

use crate::ports::{append_request, Query, Values};
use crate::recorder::Item;
use netlink::{find_attribute, u64_at, Socket};

/// Of `include/uapi/linux/if_link.h`; `libc` has none of these.
const IFLA_STATS_LINK_64: u16 = 1;
const FILTER_LINK_64: u32 = 1 << (IFLA_STATS_LINK_64 - 1);

/// `struct if_stats_msg`: family, padding, interface index, filter.
const HEADER_BYTES: usize = 12;

pub const VALUES: usize = 6;

pub struct InterfaceQuery;

impl Query<VALUES> for InterfaceQuery {
    const FORMAT: (&'static str, &'static str) = (
        "fabriclab-interfaces-1",
        "time_ns,port,rx_bytes,rx_packets,rx_dropped,tx_bytes,tx_packets,tx_dropped",
    );

    fn request(&self, interface_index: u32, sequence: u32, buffer: &mut Vec<u8>) {
        let mut header = [0; HEADER_BYTES];
        header[4..8].copy_from_slice(&interface_index.to_ne_bytes());
        header[8..12].copy_from_slice(&FILTER_LINK_64.to_ne_bytes());
        append_request(buffer, libc::RTM_GETSTATS, 0, sequence, &header);
    }

    /// `struct rtnl_link_stats64`: rx_packets, tx_packets, rx_bytes, tx_bytes, rx_errors, tx_errors, rx_dropped,
    /// tx_dropped, ...
    fn read(&self, payload: &[u8]) -> Option<Values<VALUES>> {
        let counters = find_attribute(payload.get(HEADER_BYTES..)?, IFLA_STATS_LINK_64)?;
        let counter = |place: usize| u64_at(counters, place * 8);
        Some([
            counter(2),
            counter(0),
            counter(6),
            counter(3),
            counter(1),
            counter(7),
        ])
    }

    fn item(&self, interface: u32) -> Item {
        Item::Interface { interface }
    }

    fn check(&self, _: &Socket, _: u32) -> Result<(), String> {
        Ok(())
    }
}

#[cfg(test)]
#[path = "interface_tests.rs"]
mod tests;
