//! A congestion event as the kernel tells it: generic netlink, `enum switch_port_event_attribute` of
//! `images/machine/kernel/switch/uapi/switch_port.h`.

use netlink::switch_port::command;
use netlink::switch_port::event::{END, IFINDEX, IIF, IIF_BYTES, INGRESS, PEAK, QUEUE, START};
use netlink::{attributes, u32_at, u64_at};

/// `struct genlmsghdr`: command, version, reserved.
const GENERIC_HEADER_BYTES: usize = 4;

/// What one message says: an event begins or, with an end, is over. Times are CLOCK_MONOTONIC in nanoseconds.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Event {
    pub interface_index: u32,
    pub queue: u8,
    pub start_ns: u64,
    pub end_ns: Option<u64>,
    pub peak_bytes: u64,
    /// Bytes by the index of the interface they came in at, in the kernel's order; 0: the switch itself.
    pub ingress: Vec<(u32, u64)>,
}

/// Reads a message behind its netlink header; `None` if it is no event, or lacks port, queue or beginning.
pub fn read_event(payload: &[u8]) -> Option<Event> {
    if *payload.first()? != command::EVENT {
        return None;
    }
    let mut event = Event::default();
    let (mut interface_index, mut queue, mut start_ns) = (None, None, None);
    for (attribute, value) in attributes(payload.get(GENERIC_HEADER_BYTES..)?) {
        match attribute {
            IFINDEX => interface_index = u32_at(value, 0),
            QUEUE => queue = value.first().copied(),
            START => start_ns = u64_at(value, 0),
            END => event.end_ns = u64_at(value, 0),
            PEAK => event.peak_bytes = u64_at(value, 0)?,
            INGRESS => event.ingress.push(read_ingress(value)?),
            _ => {}
        }
    }
    Some(Event {
        interface_index: interface_index?,
        queue: queue?,
        start_ns: start_ns?,
        ..event
    })
}

fn read_ingress(nest: &[u8]) -> Option<(u32, u64)> {
    let (mut interface_index, mut bytes) = (None, None);
    for (attribute, value) in attributes(nest) {
        match attribute {
            IIF => interface_index = u32_at(value, 0),
            IIF_BYTES => bytes = u64_at(value, 0),
            _ => {}
        }
    }
    Some((interface_index?, bytes?))
}

#[cfg(test)]
#[path = "event_tests.rs"]
mod tests;
