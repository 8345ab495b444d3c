//! The flows of this host: where each stands, and the row that it leaves in the log.

use std::collections::VecDeque;
use std::io;

use crate::clock::Clock;
use crate::connection::Connection;
use crate::counters::TcpCounters;
use crate::log::{Carried, Entry, FlowLog, Status};
use crate::receiver::{FindFlow, Incoming};
use crate::roce::End;
use crate::schedule::{RowId, Schedule};
use crate::sender::Outgoing;
use crate::trace::{Extent, Flow, GroupId, KeptId, Mode, Side, Trace};

/// All flows of this host, their times, and the log of those that ended.
pub struct Flows {
    pub trace: Trace,
    pub schedule: Schedule,
    log: FlowLog,
    by_number: Vec<(u32, RowId)>,
    ended: Vec<bool>,
    open: usize,
    /// Flows that have not ended, of each kept connection.
    open_on: Vec<u32>,
}

impl Flows {
    pub fn new(trace: Trace, log: FlowLog) -> Self {
        let mut by_number: Vec<_> = trace
            .flows
            .iter()
            .enumerate()
            .map(|(row, flow)| (flow.number, row as RowId))
            .collect();
        by_number.sort_unstable();
        let open_on = trace.kept.iter().map(|kept| kept.flows).collect();
        let (ended, open) = (vec![false; trace.flows.len()], trace.flows.len());
        Self {
            schedule: Schedule::of(&trace),
            trace,
            log,
            by_number,
            ended,
            open,
            open_on,
        }
    }

    pub fn flow(&self, row: RowId) -> &Flow {
        &self.trace.flows[row as usize]
    }

    /// A flow that has not ended, by its number.
    pub fn find_open(&self, number: u32) -> Option<RowId> {
        let place = self
            .by_number
            .binary_search_by_key(&number, |(number, _)| *number)
            .ok()?;
        Some(self.by_number[place].1).filter(|&row| !self.has_ended(row))
    }

    pub fn has_ended(&self, row: RowId) -> bool {
        self.ended[row as usize]
    }

    pub fn all_ended(&self) -> bool {
        self.open == 0
    }

    pub fn all_ended_on(&self, kept: KeptId) -> bool {
        self.open_on[kept as usize] == 0
    }

    pub fn log(&mut self) -> &mut FlowLog {
        &mut self.log
    }

    /// The flow was sent, or as much of it as `sent` says.
    pub fn end_sent(
        &mut self,
        connection: &Connection,
        sent: &Outgoing,
        status: Status,
        tcp: TcpCounters,
        clock: &Clock,
    ) -> io::Result<()> {
        let entry = Entry {
            flow: self.flow(sent.row).number,
            side: Side::Src,
            status,
            start_ns: sent.start_ns,
            connected_ns: self.connected_ns(connection, sent.row),
            first_byte_ns: sent.first_byte_ns,
            end_ns: Some(clock.now_ns()),
            bytes: sent.written,
            tcp,
            transport: connection.carried(),
            subflows: connection.most_subflows(),
        };
        self.end(sent.row, &entry, clock)
    }

    /// The flow was received, or as much of it as `received` says.
    pub fn end_received(
        &mut self,
        connection: &Connection,
        received: &Incoming,
        status: Status,
        clock: &Clock,
    ) -> io::Result<()> {
        let entry = Entry {
            flow: self.flow(received.row).number,
            side: Side::Dst,
            status,
            start_ns: received.start_ns,
            connected_ns: self.connected_ns(connection, received.row),
            first_byte_ns: received.first_byte_ns,
            end_ns: Some(clock.now_ns()),
            bytes: received.bytes,
            tcp: TcpCounters::default(),
            transport: connection.carried(),
            subflows: connection.most_subflows(),
        };
        self.end(received.row, &entry, clock)
    }

    /// The flow ended at a time at its queue pair, as far as `end` says.
    pub fn end_paired(
        &mut self,
        row: RowId,
        end: &End,
        status: Status,
        end_ns: i64,
        clock: &Clock,
    ) -> io::Result<()> {
        let flow = self.flow(row);
        let entry = Entry {
            flow: flow.number,
            side: flow.side,
            status,
            start_ns: end.start_ns,
            // There is no handshake.
            connected_ns: None,
            first_byte_ns: end.first_byte_ns,
            end_ns: Some(end_ns),
            bytes: end.moved_bytes(flow),
            tcp: end.counters_of(flow),
            transport: Some(Carried::Roce),
            subflows: None,
        };
        self.end(row, &entry, clock)
    }

    /// The flow, a message of Homa's, ended, or was given up.
    pub fn end_called(
        &mut self,
        row: RowId,
        start_ns: Option<i64>,
        status: Status,
        bytes: u64,
        clock: &Clock,
    ) -> io::Result<()> {
        let entry = Entry {
            end_ns: Some(clock.now_ns()),
            bytes,
            transport: Some(Carried::Homa),
            ..self.unconnected(row, status, start_ns, clock)
        };
        self.end(row, &entry, clock)
    }

    /// The flow ended before there was a connection for it.
    pub fn end_unconnected(
        &mut self,
        row: RowId,
        status: Status,
        start_ns: Option<i64>,
        clock: &Clock,
    ) -> io::Result<()> {
        let entry = self.unconnected(row, status, start_ns, clock);
        self.end(row, &entry, clock)
    }

    fn unconnected(
        &self,
        row: RowId,
        status: Status,
        start_ns: Option<i64>,
        clock: &Clock,
    ) -> Entry {
        let flow = self.flow(row);
        Entry {
            flow: flow.number,
            side: flow.side,
            status,
            start_ns,
            connected_ns: None,
            first_byte_ns: None,
            end_ns: start_ns.map(|_| clock.now_ns()),
            bytes: 0,
            tcp: TcpCounters::default(),
            transport: None,
            subflows: None,
        }
    }

    /// Ends all flows of a kept connection that is gone and that the peer opened.
    pub fn end_rest_of(&mut self, kept: KeptId, clock: &Clock) -> io::Result<()> {
        self.end_unstarted(clock, |flow| flow.kept == Some(kept))
    }

    /// Ends all flows that nothing happened to.
    pub fn end_rest(&mut self, clock: &Clock) -> io::Result<()> {
        self.end_unstarted(clock, |_| true)
    }

    fn end_unstarted(&mut self, clock: &Clock, chosen: impl Fn(&Flow) -> bool) -> io::Result<()> {
        for row in 0..self.trace.flows.len() as RowId {
            if !self.has_ended(row) && chosen(self.flow(row)) {
                self.end_unconnected(row, Status::Unstarted, None, clock)?;
            }
        }
        Ok(())
    }

    fn connected_ns(&self, connection: &Connection, row: RowId) -> Option<i64> {
        let first = connection
            .kept
            .is_none_or(|kept| self.trace.kept[kept as usize].first_flow == self.flow(row).number);
        connection.connected_ns.filter(|_| first)
    }

    /// Another host's part of a group is complete, or its iperf3 flows are over.
    pub fn other_part_complete(&mut self, group: GroupId, clock: &Clock) {
        self.schedule
            .other_part_complete(&self.trace, group, clock.now_ns());
    }

    /// Another host's part of a group can't be complete any more.
    pub fn other_part_failed(&mut self, group: GroupId, clock: &Clock) -> io::Result<()> {
        let in_vain = self.schedule.abandon_group(group);
        self.end_in_vain(in_vain, clock)
    }

    /// Logs the flow and lets go those that waited for it; those that wait in vain end here too.
    fn end(&mut self, row: RowId, entry: &Entry, clock: &Clock) -> io::Result<()> {
        let in_vain = self.end_one(row, entry, clock)?;
        self.end_in_vain(in_vain, clock)
    }

    fn end_in_vain(&mut self, rows: Vec<RowId>, clock: &Clock) -> io::Result<()> {
        let mut in_vain = VecDeque::from(rows);
        while let Some(waiting) = in_vain.pop_front() {
            let entry = self.unconnected(waiting, Status::Unstarted, None, clock);
            in_vain.extend(self.end_one(waiting, &entry, clock)?);
        }
        Ok(())
    }

    /// Returns the flows that now wait in vain.
    fn end_one(&mut self, row: RowId, entry: &Entry, clock: &Clock) -> io::Result<Vec<RowId>> {
        if std::mem::replace(&mut self.ended[row as usize], true) {
            return Ok(Vec::new());
        }
        self.open -= 1;
        let flow = &self.trace.flows[row as usize];
        if let Some(kept) = flow.kept {
            self.open_on[kept as usize] -= 1;
        }
        self.log.write(entry, clock.now_ns())?;
        match (flow.side, entry.status) {
            (Side::Src, _) => {}
            (Side::Dst, Status::Complete) => {
                self.schedule.received(&self.trace, flow, clock.now_ns())
            }
            (Side::Dst, Status::Stopped) if flow.is_long() => {
                self.schedule.received(&self.trace, flow, clock.now_ns())
            }
            (Side::Dst, _) => return Ok(self.schedule.abandon(&self.trace, flow)),
        }
        Ok(Vec::new())
    }
}

/// The flows that this host receives in one mode, as a connection's peer may send them.
pub struct Received<'a> {
    pub flows: &'a Flows,
    pub mode: Mode,
}

impl FindFlow for Received<'_> {
    fn find(&self, number: u32) -> Option<(RowId, Extent)> {
        let row = self.flows.find_open(number)?;
        let flow = self.flows.flow(row);
        (flow.side == Side::Dst && flow.mode == self.mode).then_some((row, flow.extent))
    }
}
