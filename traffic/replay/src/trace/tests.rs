use std::io::Write;

use super::*;
use crate::hosts::Addresses;

const HEADER: &str = "# fabriclab-trace-1\n\
    flow,start_ns,src,dst,size_bytes,stop_ns,mode,connection,group,after,class\n";

fn hosts() -> Hosts {
    let mut hosts = Hosts::default();
    for (name, address) in [
        ("h1", "10.0.0.1"),
        ("h2", "10.0.0.2"),
        ("h3", "10.0.0.3"),
        ("h4", "10.0.0.4"),
    ] {
        let address = Addresses::only(address.parse().expect("address"));
        hosts.add(name.to_owned(), address);
    }
    hosts
}

fn read_text(text: &str, host: &str) -> Result<Trace, String> {
    let mut file = tempfile::NamedTempFile::new().expect("temporary file");
    file.write_all(text.as_bytes()).expect("write");
    let hosts = hosts();
    let host = hosts.find(host).expect("a host");
    read(file.path(), &hosts, host).map_err(|problems| problems.to_string())
}

fn read_rows(rows: &str) -> Result<Trace, String> {
    read_text(&format!("{HEADER}{rows}"), "h3")
}

fn assert_wrong(rows: &str, expected: &str) {
    let message = read_rows(rows).expect_err("the trace is wrong");
    assert!(
        message.contains(expected),
        "expected {expected:?} in:\n{message}"
    );
}

#[test]
fn a_host_keeps_its_own_rows() {
    let rows = "0,0,h1,h3,262144,,pull,c0,r0,,sru\n1,5,h1,h2,100,,push,,,,\n2,0,h1,h3,262144,,pull,c0,r1,r0,sru\n\
        3,7,h3,h4,,2000,push,,,,long\n";
    let trace = read_rows(rows).expect("valid");
    assert_eq!(
        trace
            .flows
            .iter()
            .map(|flow| flow.number)
            .collect::<Vec<_>>(),
        [0, 2, 3]
    );
    assert_eq!(trace.flows[0].extent, Extent::Bytes(262_144));
    assert_eq!(trace.flows[2].extent, Extent::UntilNs(2000));
    assert!(trace.flows.iter().all(Flow::starts_here));
    assert_eq!(trace.flows[0].kept, trace.flows[1].kept);
    assert_eq!(
        (
            trace.kept.len(),
            trace.kept[0].flows,
            trace.kept[0].first_flow
        ),
        (1, 2, 0)
    );
    let group = trace.flows[0].group;
    let after = [Awaited { group, delay_ns: 0 }];
    assert_eq!(*trace.flows[1].after, after);
}

#[test]
fn columns_are_found_by_name() {
    let text = "# fabriclab-trace-1\nclass,after,group,connection,mode,stop_ns,size_bytes,dst,src,start_ns,flow\n\
        x,,,,push,,77,h3,h1,9,4\n";
    let trace = read_text(text, "h1").expect("valid");
    assert_eq!(
        (
            trace.flows[0].number,
            trace.flows[0].start_ns,
            trace.flows[0].side
        ),
        (4, 9, Side::Src)
    );
}

#[test]
fn the_same_name_means_another_connection_between_others() {
    let rows = "0,0,h1,h3,4,,push,c,,,\n1,0,h2,h3,4,,push,c,,,\n2,0,h3,h1,4,,push,c,,,\n3,0,h1,h3,4,,pull,c,,,\n";
    assert_eq!(read_rows(rows).expect("valid").kept.len(), 4);
}

#[test]
fn values_are_judged() {
    assert_wrong(
        "0,-1,h1,h3,4,,push,,,,\n",
        ":3: start_ns is \"-1\": must be a whole number of nanoseconds",
    );
    assert_wrong(
        "4294967295,0,h1,h3,4,,push,,,,\n",
        ":3: flow is \"4294967295\": must be an integer from 0 to 4294967294",
    );
    assert_wrong(
        "0,0,h1,h33,4,,push,,,,\n",
        ":3: dst is \"h33\": must be a host of the hosts file; did you mean \"h3\"?",
    );
    assert_wrong("0,0,h1,h1,4,,push,,,,\n", ":3: dst is \"h1\": is also src");
    assert_wrong(
        "0,0,h1,h3,3,,push,,,,\n",
        ":3: size_bytes is \"3\": must be an integer from 4 to 4611686018427387904",
    );
    assert_wrong(
        "0,0,h1,h3,4611686018427387905,,push,,,,\n",
        ":3: size_bytes is \"4611686018427387905\": must be an integer from 4",
    );
    assert_wrong(
        "0,0,h1,h3,,,push,,,,\n",
        ":3: size_bytes and stop_ns are both empty",
    );
    assert_wrong(
        "0,0,h1,h3,4,9,push,,,,\n",
        ":3: size_bytes is \"4\" and stop_ns is \"9\": exactly one",
    );
    assert_wrong(
        "0,9,h1,h3,,9,push,,,,\n",
        ":3: stop_ns is \"9\": must be later than start_ns, 9",
    );
    assert_wrong(
        "0,9,h1,h3,,10,push,c,,,\n",
        ":3: connection is \"c\": a long flow ends with its connection",
    );
    assert_wrong(
        "0,0,h1,h3,4,,pul,,,,\n",
        ":3: mode is \"pul\": must be push, pull, read or iperf3 (empty: push); did you mean \"pull\"?",
    );
    assert_wrong(
        "0,0,h1,h3,4,,push,,,\n",
        ":3: the row has 10 fields: must have 11",
    );
    assert_wrong(
        "7,0,h1,h3,4,,push,,,,\n7,0,h1,h3,4,,push,,,,\n",
        ":4: flow is \"7\": is already on line 3",
    );
}

#[test]
fn all_wrong_rows_are_shown_together() {
    let message = read_rows("0,0,h9,h3,3,,push,,,,\n1,x,h1,h3,4,,push,,,,\n").expect_err("wrong");
    assert_eq!(message.lines().count(), 3, "{message}");
}

#[test]
fn version_and_columns_are_judged() {
    let message = read_text("# fabriclab-trace-2\nflow\n", "h1").expect_err("wrong");
    assert!(
        message.contains(
            ":1: the first line is \"# fabriclab-trace-2\": must be \"# fabriclab-trace-1\""
        ),
        "{message}"
    );
    let text = HEADER.replace("size_bytes", "size_byte");
    let message = read_text(&text, "h1").expect_err("wrong");
    assert!(
        message.contains(":2: unknown column \"size_byte\""),
        "{message}"
    );
    assert!(
        message.contains("did you mean \"size_bytes\"?"),
        "{message}"
    );
    assert!(
        message.contains(":2: column \"size_bytes\" is missing"),
        "{message}"
    );
}

/// What host `host` must know of the group `after` which the last row waits for.
fn barrier(rows: &str, host: &str) -> Option<Barrier> {
    let trace = read_text(&format!("{HEADER}{rows}"), host).expect("valid");
    assert!(trace.barriers.len() <= 1);
    trace.barriers.into_values().next()
}

#[test]
fn a_group_that_one_host_receives_and_waits_for_concerns_no_other() {
    let rows = "0,0,h1,h3,4,,push,,g,,\n1,0,h1,h3,4,,pull,,,g,\n";
    let line = 4;
    let own = Barrier {
        line,
        ..Barrier::default()
    };
    assert_eq!(barrier(rows, "h3"), Some(own));
    assert_eq!(barrier(rows, "h1"), None);
}

#[test]
fn a_group_that_several_hosts_receive_is_told_to_those_who_wait() {
    let rows = "0,0,h1,h3,4,,push,,g,,\n1,0,h1,h2,4,,push,,g/x,,\n2,0,h3,h2,4,,push,,g/x,,\n3,0,h1,h3,4,,pull,,,g,\n\
        4,0,h1,h2,4,,push,,,g,\n";
    let (h1, h3) = (0, 2);
    let waits_only = Barrier {
        line: 7,
        remote_parts: 2,
        ..Barrier::default()
    };
    assert_eq!(barrier(rows, "h1"), Some(waits_only));
    let both = Barrier {
        line: 6,
        remote_parts: 1,
        waiters: vec![h1],
        ..Barrier::default()
    };
    assert_eq!(barrier(rows, "h3"), Some(both));
    let receives_only = Barrier {
        line: 7,
        waiters: vec![h1, h3],
        ..Barrier::default()
    };
    assert_eq!(barrier(rows, "h2"), Some(receives_only));
    assert_eq!(barrier(rows, "h4"), None);
}

#[test]
fn iperf3_is_checked_and_not_played() {
    let rows = "0,0,h1,h3,,70,iperf3,,g/x,,\n1,0,h1,h3,,90,iperf3,,g/y,,\n2,0,h1,h3,4,,pull,,,g,\n";
    let trace = read_rows(rows).expect("valid");
    assert_eq!(trace.flows.len(), 1);
    let (line, until_ns) = (5, Some(90));
    let timed = Barrier {
        line,
        until_ns,
        ..Barrier::default()
    };
    assert_eq!(barrier(rows, "h3"), Some(timed));
    assert_eq!(barrier(rows, "h1"), None);
    assert_wrong(
        "0,0,h1,h3,9,,iperf3,,,,\n",
        ":3: size_bytes is \"9\": iperf3 sends until a time",
    );
    assert_wrong(
        "0,0,h1,h3,,9,iperf3,,,g,\n",
        ":3: after is \"g\": iperf3 starts at a time",
    );
}

#[test]
fn after_names_a_group_of_flows() {
    assert_wrong(
        "0,0,h1,h3,4,,pull,,round1,,\n1,0,h1,h3,4,,pull,,,round2,\n",
        ":4: after is \"round2\": must be the group of some flow; did you mean \"round1\"?",
    );
    assert_wrong(
        "0,0,h1,h3,4,,pull,,a//b,,\n",
        ":3: group is \"a//b\": must be names with one \"/\" between them",
    );
}

const MORE: &str = "# fabriclab-trace-1\n\
    flow,start_ns,src,dst,size_bytes,mode,request_bytes,connection,transport,congestion_control,dscp,deadline_ns\n";

fn assert_more_wrong(rows: &str, expected: &str) {
    let message = read_text(&format!("{MORE}{rows}"), "h3").expect_err("the trace is wrong");
    assert!(
        message.contains(expected),
        "expected {expected:?} in:\n{message}"
    );
}

#[test]
fn columns_that_are_not_there_are_empty() {
    let text = "# fabriclab-trace-1\nsize_bytes,dst,src,start_ns,flow\n77,h3,h1,9,4\n";
    let flow = &read_text(text, "h1").expect("valid").flows[0];
    assert_eq!((flow.mode, flow.request_bytes), (Mode::Push, 4));
    assert_eq!((flow.service, flow.dscp, flow.kept), (0, 0, None));
}

#[test]
fn services_are_numbered_by_first_appearance_in_the_whole_trace() {
    let rows =
        "0,0,h1,h2,9,,,,mptcp,,,\n1,0,h1,h3,9,pull,100,,,dctcp,46,5\n2,0,h1,h3,9,,,,mptcp,,,\n\
        3,0,h1,h3,9,,,,tcp,dctcp,0,\n4,0,h1,h3,9,,,,,,63,\n";
    let trace = read_text(&format!("{MORE}{rows}"), "h3").expect("valid");
    let numbers: Vec<_> = trace.flows.iter().map(|flow| flow.service).collect();
    assert_eq!(numbers, [1, 0, 1, 2]);
    let (transport, line) = (Transport::Tcp, 4);
    let congestion_control = "dctcp".to_owned();
    let second = Service {
        transport,
        congestion_control,
        family: None,
        line,
    };
    assert_eq!(trace.services[1], second);
    assert_eq!(trace.services[0].transport, Transport::Mptcp);
    assert_eq!(
        (trace.flows[0].dscp, trace.flows[0].request_bytes),
        (46, 100)
    );
}

#[test]
fn values_of_the_carrier_are_judged() {
    assert_more_wrong(
        "0,0,h1,h3,9,push,8,,,,,\n",
        ":3: request_bytes is \"8\": only a pull has a request",
    );
    assert_more_wrong(
        "0,0,h1,h3,9,pull,3,,,,,\n",
        ":3: request_bytes is \"3\": must be an integer from 4 to 4294967295",
    );
    assert_more_wrong(
        "0,0,h1,h3,9,,,,mtcp,,,\n",
        ":3: transport is \"mtcp\": must be tcp, mptcp, roce or homa (empty: tcp); did you mean \"mptcp\"?",
    );
    assert_more_wrong(
        "0,0,h1,h3,9,,,k,mptcp,,,\n",
        ":3: connection is \"k\": a flow over MPTCP has a connection of its own",
    );
    assert_more_wrong(
        "0,0,h1,h3,9,,,,,cubic!,,\n",
        ":3: congestion_control is \"cubic!\": must be the name of a congestion control",
    );
    assert_more_wrong(
        "0,0,h1,h3,9,,,,,,64,\n",
        ":3: dscp is \"64\": must be an integer from 0 to 63",
    );
    assert_more_wrong(
        "0,0,h1,h3,9,,,,,,,-1\n",
        ":3: deadline_ns is \"-1\": must be a whole number of nanoseconds",
    );
    assert_more_wrong(
        "0,0,h1,h3,9,,,k,,,8,\n1,0,h1,h3,9,,,k,,,9,\n",
        ":4: connection is \"k\": has another transport, congestion_control, dscp or ip on line 3",
    );
}

#[test]
fn a_run_judges_its_own_rows_wholly_and_check_all() {
    let rows = format!("{MORE}0,0,h1,h2,3,,,,,,,\n");
    assert!(read_text(&rows, "h3").is_ok());
    let mut file = tempfile::NamedTempFile::new().expect("temporary file");
    file.write_all(rows.as_bytes()).expect("write");
    let message = check(file.path(), &hosts()).expect_err("wrong").to_string();
    assert!(message.contains(":3: size_bytes is \"3\""), "{message}");
}

#[test]
fn a_loop_of_groups_is_named() {
    assert_wrong(
        "0,0,h1,h3,4,,pull,,a,a,\n",
        ":3: after is \"a\": group \"a\" would wait for itself",
    );
    assert_wrong(
        "0,0,h1,h3,4,,pull,,a,b,\n1,0,h1,h3,4,,pull,,b,a,\n",
        ":4: after is \"a\": group \"b\" would wait for itself",
    );
    assert_wrong(
        "0,0,h1,h3,4,,pull,,job/map,job,\n",
        ":3: after is \"job\": group \"job/map\" would wait for itself",
    );
    let message =
        read_rows("0,0,h1,h3,4,,pull,,a,a,\n1,0,h1,h3,4,,pull,,b,a,\n").expect_err("a loop");
    assert_eq!(message.lines().count(), 1, "b is on no loop: {message}");
    assert!(read_rows(
        "0,0,h1,h3,4,,pull,,a,,\n1,0,h1,h3,4,,pull,,b,a,\n2,0,h1,h3,4,,pull,,c,b,\n"
    )
    .is_ok());
}

#[test]
fn a_flow_over_a_version_of_ip_has_a_service_of_its_own() {
    let text =
        "# fabriclab-trace-1\nflow,start_ns,src,dst,size_bytes,ip\n0,0,h1,h3,9,\n1,0,h1,h3,9,4\n";
    let trace = read_text(text, "h3").expect("valid");
    let families: Vec<_> = trace.services.iter().map(|one| one.family).collect();
    assert_eq!(families, [None, Some(crate::hosts::Family::V4)]);
    let numbers: Vec<_> = trace.flows.iter().map(|flow| flow.service).collect();
    assert_eq!(numbers, [0, 1]);
    for (ip, right) in [
        ("5", "ip is \"5\": must be 4 or 6"),
        ("6", "ip is \"6\": h1 has no such address in the hosts file"),
    ] {
        let text =
            format!("# fabriclab-trace-1\nflow,start_ns,src,dst,size_bytes,ip\n0,0,h1,h3,9,{ip}\n");
        let wrong = read_text(&text, "h3").expect_err("wrong");
        assert!(wrong.contains(right), "{wrong}");
    }
}
