//! One end of a flow over RoCE: what it has to post, and what has come of it. A pure data structure.
//!
//! A push is a WRITE of the flow's size. A pull is a SEND of its request, upon which the source posts the WRITE. A read
//! is a READ of the flow's size, which the source's NIC answers without its program.

use super::device::{Counters, Message, Operation};
use crate::counters::TcpCounters;
use crate::trace::{Extent, Flow, Mode, Side};

/// Longer flows are several messages: a message has 2^31 bytes at most.
const LONGEST_MESSAGE_BYTES: u64 = 1 << 30;
/// A long flow's messages. The destination counts whole ones only, so that they are short; each wakes both programs, so
/// that they are not shorter (at 100 Gbps one every 21 us).
const LONG_FLOW_MESSAGE_BYTES: u64 = 256 * 1024;
/// Messages that are posted and not acknowledged. A megabyte of a long flow, 84 us at 100 Gbps, keeps the line busy
/// while the acknowledgement comes. The NIC still sends it after the flow has stopped, so that it is not more.
const MOST_IN_FLIGHT: u32 = 4;

#[derive(Debug, Default)]
pub struct End {
    /// If this end starts the flow.
    pub start_ns: Option<i64>,
    /// When the first packet of the data left, or came.
    pub first_byte_ns: Option<i64>,
    /// The last that was heard of the queue pair.
    pub counters: Counters,
    has_data: bool,
    /// What is not posted yet.
    unposted_bytes: u64,
    in_flight: u32,
    sent_bytes: u64,
    received_bytes: u64,
}

impl End {
    /// This end starts the flow: it has the data, or the request, to post.
    pub fn start(&mut self, flow: &Flow, now_ns: i64) {
        self.start_ns = Some(now_ns);
        match (flow.side, flow.mode) {
            (Side::Src, _) | (_, Mode::Read) => self.begin_data(flow),
            (Side::Dst, _) => self.unposted_bytes = flow.request_bytes.into(),
        }
    }

    fn begin_data(&mut self, flow: &Flow) {
        self.has_data = true;
        self.unposted_bytes = match flow.extent {
            Extent::Bytes(bytes) => bytes,
            Extent::UntilNs(_) => u64::MAX,
        };
    }

    /// The message to post now.
    pub fn next_message(&mut self, flow: &Flow) -> Option<Message> {
        if self.unposted_bytes == 0 || self.in_flight == MOST_IN_FLIGHT {
            return None;
        }
        let operation = match (flow.side, flow.mode) {
            (Side::Dst, Mode::Read) => Operation::Read,
            (Side::Dst, _) => Operation::Send,
            (Side::Src, _) => Operation::Write,
        };
        let most = match flow.extent {
            Extent::UntilNs(_) if operation != Operation::Send => LONG_FLOW_MESSAGE_BYTES,
            _ => LONGEST_MESSAGE_BYTES,
        };
        let bytes = self.unposted_bytes.min(most);
        self.unposted_bytes -= bytes;
        self.in_flight += 1;
        Some(Message { operation, bytes })
    }

    /// A message of this end is acknowledged, or read; its first packet of data left, or came, at `first_ns`.
    pub fn sent(&mut self, flow: &Flow, bytes: u64, first_ns: Option<i64>) {
        self.in_flight = self.in_flight.saturating_sub(1);
        match (flow.side, flow.mode) {
            (Side::Src, _) => self.answered(bytes, first_ns),
            (Side::Dst, Mode::Read) => self.received(flow, bytes, first_ns),
            (Side::Dst, _) => (),
        }
    }

    /// Data of this end have left, or are acknowledged; the first packet left at `first_ns`.
    pub fn answered(&mut self, bytes: u64, first_ns: Option<i64>) {
        self.first_byte_ns = self.first_byte_ns.or(first_ns);
        self.sent_bytes += bytes;
    }

    /// A message of the peer is whole, whose first packet came at `first_ns`: data, or a pull's request, upon which
    /// there are data to post.
    pub fn received(&mut self, flow: &Flow, bytes: u64, first_ns: Option<i64>) {
        if flow.side == Side::Dst {
            self.first_byte_ns = self.first_byte_ns.or(first_ns);
        }
        self.received_bytes += bytes;
        let is_asked = flow.side == Side::Src
            && flow.mode == Mode::Pull
            && self.received_bytes >= flow.request_bytes.into();
        if is_asked && !self.has_data {
            self.begin_data(flow);
        }
    }

    /// Whether this end has started the flow, and posted all of it.
    pub fn is_posted(&self) -> bool {
        self.start_ns.is_some() && self.unposted_bytes == 0
    }

    /// Bytes of data that the source knows to be delivered, or that the destination has in whole messages.
    pub fn moved_bytes(&self, flow: &Flow) -> u64 {
        match flow.side {
            Side::Src => self.sent_bytes,
            Side::Dst => self.received_bytes,
        }
    }

    pub fn is_complete(&self, flow: &Flow) -> bool {
        flow.extent == Extent::Bytes(self.moved_bytes(flow))
    }

    /// What the log says of the sender, in the words of TCP: packets sent again, and notifications as marks that it was
    /// told of. Of a read its destination counts what it asked for again, and the timeouts.
    pub fn counters_of(&self, flow: &Flow) -> TcpCounters {
        let (sends, reads) = (flow.side == Side::Src, flow.mode == Mode::Read);
        if !sends && !reads {
            return TcpCounters::default();
        }
        let Counters {
            sent_again,
            timeouts,
            notifications,
        } = self.counters;
        TcpCounters {
            retransmits: Some(sent_again),
            timeouts: (sends != reads).then_some(timeouts.min(u16::MAX.into()) as u16),
            marks: sends.then_some(notifications),
            ..TcpCounters::default()
        }
    }

    /// Whether anything of the flow was seen here.
    pub fn is_under_way(&self) -> bool {
        self.start_ns.is_some() || self.received_bytes > 0 || self.sent_bytes > 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn flow(mode: Mode, side: Side, extent: Extent) -> Flow {
        Flow {
            number: 3,
            peer: 0,
            start_ns: 0,
            extent,
            mode,
            side,
            request_bytes: 64,
            service: 0,
            dscp: 0,
            kept: None,
            group: None,
            after: Box::default(),
        }
    }

    fn messages(end: &mut End, flow: &Flow) -> Vec<Message> {
        std::iter::from_fn(|| end.next_message(flow)).collect()
    }

    fn writes(bytes: &[u64]) -> Vec<Message> {
        let operation = Operation::Write;
        bytes
            .iter()
            .map(|&bytes| Message { operation, bytes })
            .collect()
    }

    #[test]
    fn a_push_is_one_write() {
        let (src, dst) = [Side::Src, Side::Dst]
            .map(|side| flow(Mode::Push, side, Extent::Bytes(5000)))
            .into();
        let (mut from, mut to) = (End::default(), End::default());
        assert_eq!(messages(&mut from, &src), []);
        from.start(&src, 10);
        assert_eq!((from.start_ns, from.first_byte_ns), (Some(10), None));
        assert_eq!(messages(&mut from, &src), writes(&[5000]));
        assert!(!to.is_under_way() && !to.is_complete(&dst));
        to.received(&dst, 5000, Some(20));
        assert!(to.is_under_way() && to.is_complete(&dst));
        assert_eq!(
            (to.first_byte_ns, messages(&mut to, &dst)),
            (Some(20), vec![])
        );
        assert!(!from.is_complete(&src));
        from.sent(&src, 5000, Some(10));
        assert_eq!(from.first_byte_ns, Some(10));
        assert!(from.is_complete(&src));
    }

    #[test]
    fn a_pull_sends_a_request_and_gets_a_write() {
        let (src, dst) = [Side::Src, Side::Dst]
            .map(|side| flow(Mode::Pull, side, Extent::Bytes(5000)))
            .into();
        let (mut from, mut to) = (End::default(), End::default());
        to.start(&dst, 10);
        let request = Message {
            operation: Operation::Send,
            bytes: 64,
        };
        assert_eq!(messages(&mut to, &dst), [request]);
        from.received(&src, 64, Some(15));
        assert_eq!((from.start_ns, from.first_byte_ns), (None, None));
        assert_eq!(messages(&mut from, &src), writes(&[5000]));
        to.sent(&dst, 64, Some(10));
        assert_eq!((to.moved_bytes(&dst), to.is_complete(&dst)), (0, false));
        from.sent(&src, 5000, Some(16));
        to.received(&dst, 5000, Some(18));
        assert!(from.is_complete(&src) && to.is_complete(&dst));
        assert_eq!((from.first_byte_ns, to.first_byte_ns), (Some(16), Some(18)));
    }

    #[test]
    fn a_read_is_one_message_of_the_destination() {
        let (src, dst) = [Side::Src, Side::Dst]
            .map(|side| flow(Mode::Read, side, Extent::Bytes(5000)))
            .into();
        let (mut from, mut to) = (End::default(), End::default());
        to.start(&dst, 10);
        let read = Message {
            operation: Operation::Read,
            bytes: 5000,
        };
        assert_eq!(messages(&mut to, &dst), [read]);
        assert!(!from.is_under_way());
        from.answered(5000, Some(15));
        assert_eq!(messages(&mut from, &src), []);
        assert!(from.is_under_way() && from.is_complete(&src));
        to.sent(&dst, 5000, Some(18));
        assert!(to.is_complete(&dst));
        assert_eq!((from.start_ns, from.first_byte_ns), (None, Some(15)));
        assert_eq!((to.start_ns, to.first_byte_ns), (Some(10), Some(18)));
        let (sender, reader) = (from.counters_of(&src), to.counters_of(&dst));
        assert_eq!(
            (sender.retransmits, sender.timeouts, sender.marks),
            (Some(0), None, Some(0))
        );
        assert_eq!(
            (reader.retransmits, reader.timeouts, reader.marks),
            (Some(0), Some(0), None)
        );
    }

    #[test]
    fn a_long_read_keeps_its_messages_posted() {
        let flow = flow(Mode::Read, Side::Dst, Extent::UntilNs(1000));
        let mut end = End::default();
        end.start(&flow, 0);
        let read = Message {
            operation: Operation::Read,
            bytes: LONG_FLOW_MESSAGE_BYTES,
        };
        assert_eq!(messages(&mut end, &flow), [read; 4]);
        end.sent(&flow, LONG_FLOW_MESSAGE_BYTES, None);
        assert_eq!(messages(&mut end, &flow), [read]);
        assert_eq!(end.moved_bytes(&flow), LONG_FLOW_MESSAGE_BYTES);
    }

    #[test]
    fn a_large_flow_is_several_messages_and_none_is_empty() {
        let size = 5 * LONGEST_MESSAGE_BYTES;
        let flow = flow(Mode::Push, Side::Src, Extent::Bytes(size));
        let mut end = End::default();
        end.start(&flow, 0);
        assert_eq!(
            messages(&mut end, &flow),
            writes(&[LONGEST_MESSAGE_BYTES; 4])
        );
        end.sent(&flow, LONGEST_MESSAGE_BYTES, None);
        assert_eq!(messages(&mut end, &flow), writes(&[LONGEST_MESSAGE_BYTES]));
        (0..3).for_each(|_| end.sent(&flow, LONGEST_MESSAGE_BYTES, None));
        assert!(!end.is_complete(&flow));
        end.sent(&flow, LONGEST_MESSAGE_BYTES, None);
        assert!(end.is_complete(&flow) && messages(&mut end, &flow).is_empty());
    }

    #[test]
    fn a_long_flow_keeps_its_messages_posted() {
        let flow = flow(Mode::Push, Side::Src, Extent::UntilNs(1000));
        let mut end = End::default();
        end.start(&flow, 0);
        assert_eq!(
            messages(&mut end, &flow),
            writes(&[LONG_FLOW_MESSAGE_BYTES; 4])
        );
        for _ in 0..100 {
            end.sent(&flow, LONG_FLOW_MESSAGE_BYTES, None);
            assert_eq!(
                messages(&mut end, &flow),
                writes(&[LONG_FLOW_MESSAGE_BYTES])
            );
        }
        assert_eq!(end.moved_bytes(&flow), 100 * LONG_FLOW_MESSAGE_BYTES);
        assert!(!end.is_complete(&flow));
    }
}
