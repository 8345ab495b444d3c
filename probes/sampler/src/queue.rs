//! A qdisc's queue and counters: RTM_GETQDISC for its handle.

use std::collections::HashMap;
use std::rc::Rc;

use crate::config::{Counter, CounterBytes, Handle};
use crate::links::{describe_qdiscs, list_qdiscs, qdisc_header, QDISC_HEADER_BYTES};
use crate::ports::{append_request, Query, Values};
use crate::recorder::Item;
use netlink::uapi::{TCA_STATS_APP, TCA_STATS_BASIC, TCA_STATS_PKT64, TCA_STATS_QUEUE};
use netlink::{attributes, u32_at, u64_at, Socket};

pub const VALUES: usize = 7;

/// Where each kind of qdisc counts its marks (the configuration's `marks`): an empty list where it never marks. What
/// holds other qdiscs does not count what those mark.
pub type MarkCounters = HashMap<String, Vec<Counter>>;

/// Where a row has the marks.
const MARKS: usize = 3;

pub struct QueueQuery {
    pub handle: Handle,
    pub marks: Rc<MarkCounters>,
}

impl Query<VALUES> for QueueQuery {
    const FORMAT: (&'static str, &'static str) = (
        "fabriclab-queues-1",
        "time_ns,port,bytes,packets,drops,marks,sent_bytes,sent_packets,overlimits",
    );

    /// Without NLM_F_ECHO the kernel tells its listeners, but not the one who asked (`qdisc_get_notify` in
    /// `net/sched/sch_api.c`).
    fn request(&self, interface_index: u32, sequence: u32, buffer: &mut Vec<u8>) {
        append_request(
            buffer,
            libc::RTM_GETQDISC,
            libc::NLM_F_ECHO,
            sequence,
            &qdisc_header(interface_index, self.handle.0),
        );
    }

    fn read(&self, payload: &[u8]) -> Option<Values<VALUES>> {
        read_queue(payload, &self.marks)
    }

    fn item(&self, interface: u32) -> Item {
        let handle = self.handle.0;
        Item::Queue { interface, handle }
    }

    /// The marks of the qdiscs below are the port's; unknown as soon as one of them is.
    fn add_parts(
        values: &mut Values<VALUES>,
        parts: &mut dyn Iterator<Item = Option<Values<VALUES>>>,
    ) {
        values[MARKS] = parts
            .map(|part| part.and_then(|values| values[MARKS]))
            .sum();
    }

    fn check(&self, socket: &Socket, interface_index: u32) -> Result<(), String> {
        let qdiscs = list_qdiscs(socket, interface_index)
            .map_err(|error| format!(": listing qdiscs: {error}"))?;
        if qdiscs.iter().any(|qdisc| qdisc.handle == self.handle.0) {
            return Ok(());
        }
        Err(format!(
            ".handle: no qdisc {}; there are: {}",
            self.handle,
            describe_qdiscs(&qdiscs)
        ))
    }
}

/// The kind and the statistics in `struct tcmsg` and its attributes; `None` if there are no statistics.
pub fn kind_and_statistics(payload: &[u8]) -> Option<(&[u8], &[u8])> {
    let (mut kind, mut statistics) = (&[][..], None);
    for (attribute, value) in attributes(payload.get(QDISC_HEADER_BYTES..)?) {
        match attribute {
            libc::TCA_KIND => kind = value.strip_suffix(&[0]).unwrap_or(value),
            libc::TCA_STATS2 => statistics = Some(value),
            _ => {}
        }
    }
    Some((kind, statistics?))
}

/// Reads what a qdisc counted. `None` if there are no statistics.
fn read_queue(payload: &[u8], counters: &MarkCounters) -> Option<Values<VALUES>> {
    let (kind, statistics) = kind_and_statistics(payload)?;
    let (mut basic, mut queue, mut own, mut packets64) = (None, None, &[][..], None);
    for (attribute, value) in attributes(statistics) {
        match attribute {
            TCA_STATS_BASIC => basic = Some(value),
            TCA_STATS_QUEUE => queue = Some(value),
            TCA_STATS_APP => own = value,
            TCA_STATS_PKT64 => packets64 = u64_at(value, 0),
            _ => {}
        }
    }
    let (basic, queue) = (basic?, queue?);
    // struct gnet_stats_queue: qlen, backlog, drops, requeues, overlimits; struct gnet_stats_basic: bytes (64 bits),
    // packets.
    let counter = |offset| u32_at(queue, offset).map(u64::from);
    let sent_packets = packets64.or(u32_at(basic, 8).map(u64::from));
    Some([
        counter(4),
        counter(0),
        counter(8),
        marks(counters, kind, own),
        u64_at(basic, 0),
        sent_packets,
        counter(16),
    ])
}

/// The qdisc's ECN marks; `None` for a kind that is not known, or statistics that lack a counter.
fn marks(counters: &MarkCounters, kind: &[u8], own: &[u8]) -> Option<u64> {
    let kind = std::str::from_utf8(kind).ok()?;
    let each = counters.get(kind)?.iter();
    each.map(|counter| value(counter, &counter.within, own))
        .sum()
}

/// The counter's value in the attributes below `within`, added over all of a level where that names none.
fn value(counter: &Counter, within: &[Option<u16>], own: &[u8]) -> Option<u64> {
    let Some((level, below)) = within.split_first() else {
        return match counter.bytes {
            CounterBytes::Four => u32_at(own, counter.at).map(u64::from),
            CounterBytes::Eight => u64_at(own, counter.at),
        };
    };
    let mut found = attributes(own)
        .filter(|(number, _)| level.is_none_or(|level| level == *number))
        .map(|(_, nested)| value(counter, below, nested))
        .peekable();
    found.peek()?;
    found.sum()
}

#[cfg(test)]
#[path = "queue_tests.rs"]
mod tests;
