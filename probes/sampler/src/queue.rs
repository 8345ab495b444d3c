//! A qdisc's queue and counters: RTM_GETQDISC for its handle.

use crate::config::Handle;
use crate::links::{describe_qdiscs, list_qdiscs, qdisc_header, QDISC_HEADER_BYTES};
use crate::ports::{append_request, Query, Values};
use netlink::uapi::{TCA_STATS_APP, TCA_STATS_BASIC, TCA_STATS_PKT64, TCA_STATS_QUEUE};
use netlink::{attributes, u32_at, u64_at, Socket};

pub const VALUES: usize = 7;

/// Where a qdisc that can mark counts its marks: byte offsets, in its own statistics (`struct tc_*_xstats` of
/// `include/uapi/linux/pkt_sched.h`), of 32-bit counters that are to be added.
const MARK_COUNTERS: &[(&[u8], &[usize])] = &[
    ("red".as_bytes(), &[12]),          // marked
    ("choke".as_bytes(), &[12]),        // marked
    ("sfb".as_bytes(), &[20]),          // marked
    ("codel".as_bytes(), &[24, 32]),    // ecn_mark, ce_mark
    ("fq_codel".as_bytes(), &[12, 28]), // qdisc_stats: ecn_mark, ce_mark
    ("pie".as_bytes(), &[36]),          // ecn_mark
    ("fq_pie".as_bytes(), &[16]),       // ecn_mark
];

/// The one whose marks are 64 bits wide: the first word of `struct tc_switch_port_xstats`.
const SWITCH_PORT: &[u8] = crate::switch::KIND.as_bytes();

/// Queues that never mark. What holds other qdiscs is not among them: it does not count what those mark.
const WITHOUT_MARKS: &[&[u8]] = &[
    b"pfifo",
    b"bfifo",
    b"pfifo_fast",
    b"pfifo_head_drop",
    b"noqueue",
];

/// Where a row has the marks.
const MARKS: usize = 3;

pub struct QueueQuery {
    pub handle: Handle,
}

impl Query<VALUES> for QueueQuery {
    const FORMAT: (&'static str, &'static str) = (
        "fabriclab-queues-1",
        "time_ns,port,bytes,packets,drops,marks,sent_bytes,sent_packets,overlimits",
    );

    /// Without NLM_F_ECHO the kernel tells its listeners, but not the one who asked (`qdisc_get_notify` in `net/sched/sch_api.c`).
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
        read_queue(payload)
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

/// Reads `struct tcmsg` and its attributes. `None` if there are no statistics.
fn read_queue(payload: &[u8]) -> Option<Values<VALUES>> {
    let (mut kind, mut statistics) = (&[][..], None);
    for (attribute, value) in attributes(payload.get(QDISC_HEADER_BYTES..)?) {
        match attribute {
            libc::TCA_KIND => kind = value.strip_suffix(&[0]).unwrap_or(value),
            libc::TCA_STATS2 => statistics = Some(value),
            _ => {}
        }
    }
    let (mut basic, mut queue, mut own, mut packets64) = (None, None, &[][..], None);
    for (attribute, value) in attributes(statistics?) {
        match attribute {
            TCA_STATS_BASIC => basic = Some(value),
            TCA_STATS_QUEUE => queue = Some(value),
            TCA_STATS_APP => own = value,
            TCA_STATS_PKT64 => packets64 = u64_at(value, 0),
            _ => {}
        }
    }
    let (basic, queue) = (basic?, queue?);
    // struct gnet_stats_queue: qlen, backlog, drops, requeues, overlimits; struct gnet_stats_basic: bytes (64 bits), packets.
    let counter = |offset| u32_at(queue, offset).map(u64::from);
    let sent_packets = packets64.or(u32_at(basic, 8).map(u64::from));
    Some([
        counter(4),
        counter(0),
        counter(8),
        marks(kind, own),
        u64_at(basic, 0),
        sent_packets,
        counter(16),
    ])
}

/// The qdisc's ECN marks: 0 for one that cannot mark, `None` for one whose statistics we cannot read, or that holds others.
fn marks(kind: &[u8], own: &[u8]) -> Option<u64> {
    if WITHOUT_MARKS.contains(&kind) {
        return Some(0);
    }
    if kind == SWITCH_PORT {
        return u64_at(own, 0);
    }
    let (_, offsets) = MARK_COUNTERS.iter().find(|(name, _)| *name == kind)?;
    offsets
        .iter()
        .map(|offset| u32_at(own, *offset).map(u64::from))
        .sum()
}

#[cfg(test)]
#[path = "queue_tests.rs"]
mod tests;
