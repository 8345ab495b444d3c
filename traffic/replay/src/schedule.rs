//! What is due when: a pure data structure; the clock is passed in.
//!
//! Two things hold flows back: the clock (a heap by time) and groups of other flows that have to be received first
//! (`waiting`). A flow that waits for a group is not in the heap at all; it gets there, with its time, when the group
//! is complete. Every host knows of a group what it receives itself, and is told the rest: how many hosts that are is
//! in the trace, so nobody has to be asked.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use rustc_hash::FxHashMap;

use crate::hosts::HostId;
use crate::trace::{Extent, Flow, GroupId, KeptId, Side, Trace};

/// A flow's place in [`Trace::flows`].
pub type RowId = u32;

/// Something to do at a time. What is due at the same instant is done in this order, then in trace order: the order of
/// the variants is part of what a run means, and a heap, which keeps no order among equals, never gets to choose.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Action {
    /// Open a kept connection (again, when its peer was not listening yet).
    Open(KeptId),
    /// Connect a flow's queue pair (again, when there was no way to its peer yet).
    Connect(RowId),
    /// Tell a host what waits for it (again, when it was not there yet).
    Tell(HostId),
    /// A long flow's end.
    Stop(RowId),
    /// The end of a group's iperf3 flows.
    Elapse(GroupId),
    Start(RowId),
}

/// What another host needs to know of a group that its flows wait for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Notice {
    pub to: HostId,
    pub group: GroupId,
    pub state: Part,
}

/// How a host's part of a group ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    Complete,
    /// The group can't be complete any more.
    Failed,
}

/// A group that flows wait for, here or at other hosts.
#[derive(Debug, Default)]
struct Waiting {
    /// Flows of the group that this host has yet to receive.
    own_to_come: u32,
    /// Parts of the group that other hosts receive, and its iperf3 flows as one.
    others_to_come: u32,
    /// The flows that wait here.
    rows: Vec<RowId>,
    /// The other hosts to tell.
    tell: Vec<HostId>,
}

#[derive(Debug, Default)]
pub struct Schedule {
    due: BinaryHeap<Reverse<(i64, Action)>>,
    waiting: FxHashMap<GroupId, Waiting>,
    notices: Vec<Notice>,
}

impl Schedule {
    pub fn of(trace: &Trace) -> Self {
        let mut schedule = Self::default();
        let mut due = Vec::with_capacity(trace.flows.len());
        for (&group, barrier) in &trace.barriers {
            let waiting = schedule.waiting.entry(group).or_default();
            waiting.others_to_come = barrier.remote_parts;
            waiting.tell.clone_from(&barrier.waiters);
            // iperf3 tells nobody how far it is: its flows of a group are one part, over when the trace says so.
            if let Some(until_ns) = barrier.until_ns {
                waiting.others_to_come += 1;
                due.push(Reverse((until_ns, Action::Elapse(group))));
            }
        }
        for (row, flow) in trace.flows.iter().enumerate() {
            let row = row as RowId;
            if let Extent::UntilNs(stop_ns) = flow.extent {
                due.push(Reverse((stop_ns, Action::Stop(row))));
            }
            match flow
                .after
                .and_then(|group| schedule.waiting.get_mut(&group))
            {
                // Its other end starts it; here it is only received, or stopped.
                _ if !flow.starts_here() => {}
                None => due.push(Reverse((flow.start_ns, Action::Start(row)))),
                Some(waiting) => waiting.rows.push(row),
            }
            // Who receives counts: that all has been sent says nothing of what has arrived.
            if flow.side == Side::Dst {
                for group in trace.groups_of(flow) {
                    if let Some(waiting) = schedule.waiting.get_mut(&group) {
                        waiting.own_to_come += 1;
                    }
                }
            }
        }
        schedule.due = due.into();
        schedule
    }

    pub fn at(&mut self, time_ns: i64, action: Action) {
        self.due.push(Reverse((time_ns, action)));
    }

    /// When the next action is due.
    pub fn next_ns(&self) -> Option<i64> {
        self.due.peek().map(|Reverse((time_ns, _))| *time_ns)
    }

    /// Takes the next action that is due.
    pub fn pop_due(&mut self, now_ns: i64) -> Option<Action> {
        if self.next_ns()? > now_ns {
            return None;
        }
        self.due.pop().map(|Reverse((_, action))| action)
    }

    /// A flow is received: the parts of groups that are complete with it are told to those who wait, and what waits
    /// here gets its time.
    pub fn received(&mut self, trace: &Trace, flow: &Flow, now_ns: i64) {
        for group in trace.groups_of(flow) {
            let Some(waiting) = self.waiting.get_mut(&group) else {
                continue;
            };
            waiting.own_to_come -= 1;
            if waiting.own_to_come == 0 {
                let told = waiting.tell.iter();
                let (group, state) = (group, Part::Complete);
                self.notices
                    .extend(told.map(|&to| Notice { to, group, state }));
                self.release(trace, group, now_ns);
            }
        }
    }

    /// Another host's part of a group is complete, or its iperf3 flows are over.
    pub fn other_part_complete(&mut self, trace: &Trace, group: GroupId, now_ns: i64) {
        if let Some(waiting) = self.waiting.get_mut(&group) {
            waiting.others_to_come = waiting.others_to_come.saturating_sub(1);
            self.release(trace, group, now_ns);
        }
    }

    /// Gives the flows that wait for a group their times, if it is complete.
    fn release(&mut self, trace: &Trace, group: GroupId, now_ns: i64) {
        let is_complete =
            |waiting: &Waiting| waiting.own_to_come == 0 && waiting.others_to_come == 0;
        if !self.waiting.get(&group).is_some_and(is_complete) {
            return;
        }
        let rows = self.waiting.remove(&group).unwrap_or_default().rows;
        for row in rows {
            // The start of a flow that waits counts from now, not from the epoch.
            let start_ns = now_ns.saturating_add(trace.flows[row as usize].start_ns);
            self.at(start_ns, Action::Start(row));
        }
    }

    /// A flow will never be complete, and so none of its groups: returns the flows that waited here for one, in trace
    /// order. They are not started late instead: what they would measure is no part of the experiment.
    pub fn abandon(&mut self, trace: &Trace, flow: &Flow) -> Vec<RowId> {
        let groups = trace.groups_of(flow);
        let mut rows: Vec<_> = groups.flat_map(|group| self.abandon_group(group)).collect();
        // By group until here: the log has them in trace order, like everything else.
        rows.sort_unstable();
        rows
    }

    /// A group will never be complete: returns the flows that waited here for it, in trace order.
    pub fn abandon_group(&mut self, group: GroupId) -> Vec<RowId> {
        let Some(waiting) = self.waiting.remove(&group) else {
            return Vec::new();
        };
        // A host whose own part was complete has told so; the others still learn from the one that failed.
        if waiting.own_to_come > 0 {
            let state = Part::Failed;
            let told = waiting.tell.iter();
            self.notices
                .extend(told.map(|&to| Notice { to, group, state }));
        }
        waiting.rows
    }

    /// What other hosts are to be told since the last call.
    pub fn take_notices(&mut self) -> Vec<Notice> {
        std::mem::take(&mut self.notices)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::{Barrier, Mode};

    fn flow(number: u32, start_ns: i64, group: Option<GroupId>, after: Option<GroupId>) -> Flow {
        Flow {
            number,
            peer: 0,
            start_ns,
            extent: Extent::Bytes(10),
            mode: Mode::Pull,
            side: Side::Dst,
            request_bytes: 4,
            service: 0,
            dscp: 0,
            kept: None,
            group,
            after,
        }
    }

    /// A trace with groups 0 to 4, none within another, of which those that are waited for are this host's own.
    fn trace(flows: Vec<Flow>) -> Trace {
        let waited = flows.iter().filter_map(|flow| flow.after);
        let barriers = waited.map(|group| (group, Barrier::default())).collect();
        Trace {
            flows,
            barriers,
            parents: vec![None; 5],
            ..Trace::default()
        }
    }

    fn take_due(schedule: &mut Schedule, now_ns: i64) -> Vec<Action> {
        std::iter::from_fn(|| schedule.pop_due(now_ns)).collect()
    }

    #[test]
    fn the_same_instant_keeps_trace_order() {
        let trace = trace(vec![
            flow(9, 50, None, None),
            flow(3, 20, None, None),
            flow(7, 20, None, None),
            flow(1, 20, None, None),
        ]);
        let mut schedule = Schedule::of(&trace);
        assert_eq!(schedule.next_ns(), Some(20));
        assert_eq!(take_due(&mut schedule, 19), []);
        assert_eq!(
            take_due(&mut schedule, 20),
            [Action::Start(1), Action::Start(2), Action::Start(3)]
        );
        assert_eq!(schedule.next_ns(), Some(50));
    }

    #[test]
    fn a_round_starts_when_the_last_flow_of_the_one_before_is_received() {
        let trace = trace(vec![
            flow(0, 0, Some(0), None),
            flow(1, 0, Some(0), None),
            flow(2, 5, Some(1), Some(0)),
            flow(3, 0, Some(1), Some(0)),
            flow(4, 0, None, Some(1)),
        ]);
        let mut schedule = Schedule::of(&trace);
        assert_eq!(take_due(&mut schedule, 0).len(), 2);
        schedule.received(&trace, &trace.flows[1], 100);
        assert_eq!(schedule.next_ns(), None);
        schedule.received(&trace, &trace.flows[0], 130);
        assert_eq!(take_due(&mut schedule, 134), [Action::Start(3)]);
        assert_eq!(take_due(&mut schedule, 135), [Action::Start(2)]);
    }

    #[test]
    fn a_group_has_the_flows_of_those_within() {
        let mut trace = trace(vec![
            flow(0, 0, Some(0), None),
            flow(1, 0, Some(1), None),
            flow(2, 7, None, Some(0)),
        ]);
        trace.parents = vec![None, Some(0)];
        let mut schedule = Schedule::of(&trace);
        schedule.received(&trace, &trace.flows[0], 10);
        assert_eq!(take_due(&mut schedule, 100).len(), 2);
        schedule.received(&trace, &trace.flows[1], 20);
        assert_eq!(schedule.next_ns(), Some(27));
    }

    #[test]
    fn a_failed_flow_releases_those_that_waited() {
        let trace = trace(vec![flow(0, 0, Some(4), None), flow(1, 0, None, Some(4))]);
        let mut schedule = Schedule::of(&trace);
        assert_eq!(schedule.abandon(&trace, &trace.flows[0]), [1]);
        schedule.received(&trace, &trace.flows[0], 10);
        assert_eq!(take_due(&mut schedule, i64::MAX), [Action::Start(0)]);
    }

    #[test]
    fn other_hosts_and_iperf3_have_parts_too() {
        let mut trace = trace(vec![flow(0, 0, Some(0), None), flow(1, 3, None, Some(0))]);
        let barrier = Barrier {
            remote_parts: 1,
            until_ns: Some(500),
            ..Barrier::default()
        };
        trace.barriers.insert(0, barrier);
        let mut schedule = Schedule::of(&trace);
        assert_eq!(
            take_due(&mut schedule, 500),
            [Action::Start(0), Action::Elapse(0)]
        );
        schedule.other_part_complete(&trace, 0, 500);
        schedule.received(&trace, &trace.flows[0], 600);
        assert_eq!(schedule.next_ns(), None);
        schedule.other_part_complete(&trace, 0, 700);
        assert_eq!(take_due(&mut schedule, 703), [Action::Start(1)]);
    }

    #[test]
    fn those_who_wait_elsewhere_are_told_once() {
        let flows = vec![flow(0, 0, Some(2), None), flow(1, 0, Some(2), None)];
        let mut trace = trace(flows);
        let waiters = vec![5, 8];
        let barrier = Barrier {
            waiters,
            ..Barrier::default()
        };
        trace.barriers.insert(2, barrier);
        let notices = |state| {
            [5, 8].map(|to| Notice {
                to,
                group: 2,
                state,
            })
        };

        let mut schedule = Schedule::of(&trace);
        schedule.received(&trace, &trace.flows[0], 10);
        assert_eq!(schedule.take_notices(), []);
        schedule.received(&trace, &trace.flows[1], 11);
        assert_eq!(schedule.take_notices(), notices(Part::Complete));

        let mut schedule = Schedule::of(&trace);
        schedule.received(&trace, &trace.flows[0], 10);
        assert_eq!(schedule.abandon(&trace, &trace.flows[1]), []);
        assert_eq!(schedule.abandon(&trace, &trace.flows[1]), []);
        assert_eq!(schedule.take_notices(), notices(Part::Failed));
    }

    #[test]
    fn a_long_flow_stops_before_what_starts_at_that_instant() {
        let mut long = flow(0, 0, None, None);
        long.extent = Extent::UntilNs(70);
        let trace = trace(vec![flow(1, 70, None, None), long]);
        let mut schedule = Schedule::of(&trace);
        assert_eq!(
            take_due(&mut schedule, 70),
            [Action::Start(1), Action::Stop(1), Action::Start(0)]
        );
    }
}
