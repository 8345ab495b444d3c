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
    /// The flows that wait here, each with its delay.
    rows: Vec<(RowId, i64)>,
    /// The other hosts to tell.
    tell: Vec<HostId>,
}

/// A flow that waits for several groups.
#[derive(Debug)]
struct Held {
    to_come: usize,
    /// When those that are complete would let it start.
    earliest_ns: i64,
}

#[derive(Debug, Default)]
pub struct Schedule {
    due: BinaryHeap<Reverse<(i64, Action)>>,
    waiting: FxHashMap<GroupId, Waiting>,
    held: FxHashMap<RowId, Held>,
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
            // Else its other end starts it; here it is only received, or stopped.
            if flow.starts_here() && !schedule.hold(row, flow) {
                due.push(Reverse((flow.start_ns, Action::Start(row))));
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

    /// Lets a flow wait for its groups; whether it has any.
    fn hold(&mut self, row: RowId, flow: &Flow) -> bool {
        let (mut to_come, mut earliest_ns) = (0, i64::MIN);
        for awaited in &flow.after {
            match awaited.group {
                None => earliest_ns = earliest_ns.max(awaited.delay_ns),
                Some(group) => {
                    if let Some(waiting) = self.waiting.get_mut(&group) {
                        waiting.rows.push((row, awaited.delay_ns));
                        to_come += 1;
                    }
                }
            }
        }
        if flow.after.len() > 1 {
            let held = Held {
                to_come,
                earliest_ns,
            };
            self.held.insert(row, held);
        }
        to_come > 0
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
        for (row, delay_ns) in rows {
            let flow = &trace.flows[row as usize];
            if let Some(ready_ns) = self.ready_ns(row, flow, now_ns.saturating_add(delay_ns)) {
                // The start of a flow that waits counts from then, not from the epoch.
                self.at(ready_ns.saturating_add(flow.start_ns), Action::Start(row));
            }
        }
    }

    /// One more of a flow's groups would let it start at a time: when all do; `None` as long as one is missing.
    fn ready_ns(&mut self, row: RowId, flow: &Flow, at_ns: i64) -> Option<i64> {
        if flow.after.len() == 1 {
            return Some(at_ns);
        }
        // One that waits in vain for another group is not held any more.
        let held = self.held.get_mut(&row)?;
        held.to_come -= 1;
        held.earliest_ns = held.earliest_ns.max(at_ns);
        if held.to_come > 0 {
            return None;
        }
        self.held.remove(&row).map(|held| held.earliest_ns)
    }

    /// A flow will never be complete, and so none of its groups: returns the flows that waited here for one, in trace
    /// order. They are not started late instead: what they would measure is no part of the experiment.
    pub fn abandon(&mut self, trace: &Trace, flow: &Flow) -> Vec<RowId> {
        let groups = trace.groups_of(flow);
        let mut rows: Vec<_> = groups.flat_map(|group| self.abandon_group(group)).collect();
        // By group until here: the log has them in trace order, like everything else.
        rows.sort_unstable();
        rows.dedup();
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
        let rows: Vec<_> = waiting.rows.into_iter().map(|(row, _)| row).collect();
        for row in &rows {
            self.held.remove(row);
        }
        rows
    }

    /// What other hosts are to be told since the last call.
    pub fn take_notices(&mut self) -> Vec<Notice> {
        std::mem::take(&mut self.notices)
    }
}

#[cfg(test)]
#[path = "schedule_tests.rs"]
mod tests;
