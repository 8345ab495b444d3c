//! Tests of the schedule.

use super::*;
use crate::trace::{Awaited, Barrier, Mode};

fn waiting(group: GroupId, delay_ns: i64) -> Awaited {
    Awaited {
        group: Some(group),
        delay_ns,
    }
}

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
        after: after.map(|group| waiting(group, 0)).into_iter().collect(),
    }
}

/// A trace with groups 0 to 4, none within another, of which those that are waited for are this host's own.
fn trace(flows: Vec<Flow>) -> Trace {
    let waited = flows.iter().flat_map(|flow| &flow.after);
    let groups = waited.filter_map(|one| one.group);
    let barriers = groups.map(|group| (group, Barrier::default())).collect();
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
fn a_flow_starts_after_the_last_of_its_groups_with_their_delays() {
    let mut last = flow(2, 5, None, None);
    last.after = [waiting(0, 100), waiting(1, 0)].into();
    let trace = trace(vec![
        flow(0, 0, Some(0), None),
        flow(1, 0, Some(1), None),
        last,
    ]);
    let released = |first_ns, second_ns| {
        let mut schedule = Schedule::of(&trace);
        take_due(&mut schedule, 0);
        schedule.received(&trace, &trace.flows[0], first_ns);
        assert_eq!(schedule.next_ns(), None);
        schedule.received(&trace, &trace.flows[1], second_ns);
        schedule.next_ns()
    };
    assert_eq!(released(10, 20), Some(115));
    assert_eq!(released(10, 300), Some(305));
}

#[test]
fn a_flow_starts_no_earlier_than_a_time_after_the_epoch() {
    let mut last = flow(1, 0, None, None);
    let epoch = Awaited {
        group: None,
        delay_ns: 50,
    };
    last.after = [epoch, waiting(0, 3)].into();
    let trace = trace(vec![flow(0, 0, Some(0), None), last]);
    let released = |at_ns| {
        let mut schedule = Schedule::of(&trace);
        take_due(&mut schedule, 0);
        schedule.received(&trace, &trace.flows[0], at_ns);
        schedule.next_ns()
    };
    assert_eq!((released(10), released(60)), (Some(50), Some(63)));
}

#[test]
fn a_flow_whose_one_group_fails_does_not_start_with_the_other() {
    let mut last = flow(2, 0, None, None);
    last.after = [waiting(0, 0), waiting(1, 0)].into();
    let trace = trace(vec![
        flow(0, 0, Some(0), None),
        flow(1, 0, Some(1), None),
        last,
    ]);
    let mut schedule = Schedule::of(&trace);
    take_due(&mut schedule, 0);
    assert_eq!(schedule.abandon(&trace, &trace.flows[0]), [2]);
    schedule.received(&trace, &trace.flows[1], 10);
    assert_eq!(schedule.next_ns(), None);
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
