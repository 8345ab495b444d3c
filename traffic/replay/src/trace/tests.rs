use std::io::Write;

use super::*;

const HEADER: &str = "# fabriclab-trace-1\nflow,start_ns,src,dst,size_bytes,stop_ns,mode,connection,group,after,class\n";

fn hosts() -> Hosts {
    let mut hosts = Hosts::default();
    for (name, address) in [
        ("h1", "10.0.0.1"),
        ("h2", "10.0.0.2"),
        ("h3", "10.0.0.3"),
        ("h4", "10.0.0.4"),
    ] {
        hosts.add(name.to_owned(), address.parse().expect("address"));
    }
    hosts
}

fn read_text(text: &str, host: &str) -> Result<Trace, String> {
    let mut file = tempfile::NamedTempFile::new().expect("temporary file");
    file.write_all(text.as_bytes()).expect("write");
    let hosts = hosts();
    read(file.path(), &hosts, hosts.find(host)).map_err(|problems| problems.to_string())
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
    let rows = "0,0,h1,h3,262144,,pull,c0,r0,,sru\n1,5,h1,h2,100,,push,,,,\n2,0,h1,h3,262144,,pull,c0,r1,r0,sru\n3,7,h3,h4,,2000,push,,,,long\n";
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
    assert_eq!(trace.flows[1].after, trace.flows[0].group);
}

#[test]
fn columns_are_found_by_name() {
    let text = "# fabriclab-trace-1\nclass,after,group,connection,mode,stop_ns,size_bytes,dst,src,start_ns,flow\nx,,,,push,,77,h3,h1,9,4\n";
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
        ":3: size_bytes is \"3\": must be an integer of at least 4",
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
        ":3: mode is \"pul\": must be push or pull",
    );
    assert_wrong(
        "0,0,h1,h3,4,,push,,,\n",
        ":3: the row has 10 fields: must have 11",
    );
    assert_wrong(
        "7,0,h1,h3,4,,push,,,,\n7,0,h1,h3,4,,push,,,,\n",
        ":4: flow is \"7\": stands already on line 3",
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

#[test]
fn a_flow_waits_only_for_what_its_starter_received() {
    let received = "0,0,h1,h3,4,,push,,g,,\n";
    assert!(read_rows(&format!("{received}1,0,h1,h3,4,,pull,,,g,\n")).is_ok());
    assert_wrong(
        &format!("{received}1,0,h1,h3,4,,push,,,g,\n"),
        ":4: after is \"g\": its flows are received by h3; must be a group that h1",
    );
    let crossing = "0,0,h1,h3,4,,push,,g,,\n1,0,h1,h2,4,,push,,g,,\n";
    assert!(read_rows(crossing).is_ok());
    assert_wrong(
        &format!("{crossing}2,0,h1,h3,4,,pull,,,g,\n"),
        ":5: after is \"g\": its flows are received by several nodes (another one on line 4)",
    );
    assert_wrong(
        "0,0,h1,h3,4,,pull,,round1,,\n1,0,h1,h3,4,,pull,,,round2,\n",
        ":4: after is \"round2\": must be the group of some flow; did you mean \"round1\"?",
    );
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
    assert!(read_rows(
        "0,0,h1,h3,4,,pull,,a,,\n1,0,h1,h3,4,,pull,,b,a,\n2,0,h1,h3,4,,pull,,c,b,\n"
    )
    .is_ok());
}
