//! What is due when: a pure data structure; the clock is passed in.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use rustc_hash::FxHashMap;

use crate::trace::{Extent, Flow, GroupId, KeptId, Side, Trace};

/// A flow's place in [`Trace::flows`].
pub type RowId = u32;

/// Something to do at a time. What is due at the same instant is done in this order, then in trace order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Action {
    /// Open a kept connection (again, when its peer was not listening yet).
    Open(KeptId),
    /// A long flow's end.
    Stop(RowId),
    Start(RowId),
}

/// Flows that wait for a group which this host receives.
#[derive(Debug, Default)]
struct Waiting {
    to_come: u32,
    rows: Vec<RowId>,
}

#[derive(Debug, Default)]
pub struct Schedule {
    due: BinaryHeap<Reverse<(i64, Action)>>,
    waiting: FxHashMap<GroupId, Waiting>,
}

impl Schedule {
    pub fn of(trace: &Trace) -> Self {
        let mut schedule = Self::default();
        let rows = || {
            trace
                .flows
                .iter()
                .enumerate()
                .map(|(row, flow)| (row as RowId, flow))
        };
        for (row, flow) in rows() {
            if let Extent::UntilNs(stop_ns) = flow.extent {
                schedule.at(stop_ns, Action::Stop(row));
            }
            match flow.after {
                _ if !flow.starts_here() => {}
                None => schedule.at(flow.start_ns, Action::Start(row)),
                Some(group) => schedule.waiting.entry(group).or_default().rows.push(row),
            }
        }
        for (_, flow) in rows().filter(|(_, flow)| flow.side == Side::Dst) {
            if let Some(waiting) = flow
                .group
                .and_then(|group| schedule.waiting.get_mut(&group))
            {
                waiting.to_come += 1;
            }
        }
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

    /// A flow is received; if it was the last of its group, the flows that wait for the group get their times.
    pub fn received(&mut self, trace: &Trace, flow: &Flow, now_ns: i64) {
        let Some(group) = flow.group else { return };
        let Some(waiting) = self.waiting.get_mut(&group) else {
            return;
        };
        waiting.to_come -= 1;
        if waiting.to_come > 0 {
            return;
        }
        for row in self
            .waiting
            .remove(&group)
            .map(|waiting| waiting.rows)
            .unwrap_or_default()
        {
            self.at(
                now_ns.saturating_add(trace.flows[row as usize].start_ns),
                Action::Start(row),
            );
        }
    }

    /// A flow of this group will never be complete: returns the flows that waited for it, in trace order.
    pub fn abandon(&mut self, group: Option<GroupId>) -> Vec<RowId> {
        group
            .and_then(|group| self.waiting.remove(&group))
            .map(|waiting| waiting.rows)
            .unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::Mode;

    fn flow(number: u32, start_ns: i64, group: Option<GroupId>, after: Option<GroupId>) -> Flow {
        let (extent, mode, side) = (Extent::Bytes(10), Mode::Pull, Side::Dst);
        Flow {
            number,
            peer: 0,
            start_ns,
            extent,
            mode,
            side,
            kept: None,
            group,
            after,
        }
    }

    fn take_due(schedule: &mut Schedule, now_ns: i64) -> Vec<Action> {
        std::iter::from_fn(|| schedule.pop_due(now_ns)).collect()
    }

    #[test]
    fn the_same_instant_keeps_trace_order() {
        let flows = vec![
            flow(9, 50, None, None),
            flow(3, 20, None, None),
            flow(7, 20, None, None),
            flow(1, 20, None, None),
        ];
        let trace = Trace {
            flows,
            kept: Vec::new(),
        };
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
        let flows = vec![
            flow(0, 0, Some(0), None),
            flow(1, 0, Some(0), None),
            flow(2, 5, Some(1), Some(0)),
            flow(3, 0, Some(1), Some(0)),
            flow(4, 0, None, Some(1)),
        ];
        let trace = Trace {
            flows,
            kept: Vec::new(),
        };
        let mut schedule = Schedule::of(&trace);
        assert_eq!(take_due(&mut schedule, 0).len(), 2);
        schedule.received(&trace, &trace.flows[1], 100);
        assert_eq!(schedule.next_ns(), None);
        schedule.received(&trace, &trace.flows[0], 130);
        assert_eq!(take_due(&mut schedule, 134), [Action::Start(3)]);
        assert_eq!(take_due(&mut schedule, 135), [Action::Start(2)]);
    }

    #[test]
    fn a_failed_flow_releases_those_that_waited() {
        let trace = Trace {
            flows: vec![flow(0, 0, Some(4), None), flow(1, 0, None, Some(4))],
            kept: Vec::new(),
        };
        let mut schedule = Schedule::of(&trace);
        assert_eq!(schedule.abandon(Some(4)), [1]);
        schedule.received(&trace, &trace.flows[0], 10);
        assert_eq!(take_due(&mut schedule, i64::MAX), [Action::Start(0)]);
    }

    #[test]
    fn a_long_flow_stops_before_what_starts_at_that_instant() {
        let mut long = flow(0, 0, None, None);
        long.extent = Extent::UntilNs(70);
        let trace = Trace {
            flows: vec![flow(1, 70, None, None), long],
            kept: Vec::new(),
        };
        let mut schedule = Schedule::of(&trace);
        assert_eq!(
            take_due(&mut schedule, 70),
            [Action::Start(1), Action::Stop(1), Action::Start(0)]
        );
    }
}
