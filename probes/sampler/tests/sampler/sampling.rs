//! Samples real interfaces, qdiscs and connections of this host's kernel.

use crate::lab::{can, in_new_namespaces, is_inside, number, send_marked, stop, wait_for, Lab};

#[test]
fn samples_queue_connections_and_interface() {
    if !is_inside("sampling::samples_queue_connections_and_interface")
        || !can("ip link set lo up")
        || !can("tc qdisc add dev lo root handle 1f: bfifo limit 1000000")
    {
        return;
    }
    let lab = Lab::new();
    let sampler = lab.start(
        r#""queues": {"interval_ns": 1000000, "output": "DIR/q.csv",
             "ports": [{"name": "q", "interface": "lo", "handle": "1f:"}]},
           "tcp": {"interval_ns": 1000000, "output": "DIR/t.csv", "nodes": [{"name": "n"}], "flows": [41, 42]},
           "interfaces": {"interval_ns": 2000000, "output": "DIR/i.csv", "ports": [{"name": "i", "interface": "lo"}]}"#,
    );
    let ipv4 = send_marked(42, "127.0.0.1", 100_000);
    let ipv6 = send_marked(43, "::1", 200_000);
    let other = send_marked(7, "127.0.0.1", 1000);
    let acknowledged = |rows: &[Vec<String>], flow: &str, bytes: u64| {
        rows.iter()
            .any(|row| row[2] == flow && !row[5].is_empty() && number(&row[20]) >= bytes)
    };
    lab.wait_for_rows("t.csv", |rows| {
        acknowledged(rows, "41", 100_000) && acknowledged(rows, "42", 200_000)
    });
    drop(ipv4);
    lab.wait_for_rows("t.csv", |rows| {
        rows.iter()
            .any(|row| row[2] == "41" && row[3..].iter().all(String::is_empty))
    });
    let summary = stop(sampler);
    drop((ipv6, other));

    let words: Vec<&str> = summary.split(' ').collect();
    assert_eq!(
        (words[0], words[2], words[4]),
        ("samples", "late", "max_late_ns"),
        "{summary}"
    );
    assert!(number(words[1]) > 0);
    let queue = lab.rows("q.csv");
    let sent: Vec<u64> = queue.iter().map(|row| number(&row[6])).collect();
    assert!(
        sent.is_sorted() && *sent.last().unwrap() > 300_000,
        "{sent:?}"
    );
    check_times(&queue, 1_000_000);
    let interface = lab.rows("i.csv");
    check_times(&interface, 2_000_000);
    let last = interface.last().unwrap();
    assert_eq!(
        (&last[2], &last[3]),
        (&last[5], &last[6]),
        "lo receives what it sends"
    );
    let flows: Vec<String> = lab
        .rows("t.csv")
        .into_iter()
        .map(|row| row[2].clone())
        .collect();
    assert!(
        flows.iter().all(|flow| flow == "41" || flow == "42"),
        "{flows:?}"
    );
}

/// All rows but the last are at multiples of the interval, in order.
fn check_times(rows: &[Vec<String>], interval_ns: u64) {
    let times: Vec<u64> = rows.iter().map(|row| number(&row[0])).collect();
    assert!(times.is_sorted(), "{times:?}");
    assert!(
        times[..times.len() - 1]
            .iter()
            .all(|time| time % interval_ns == 0),
        "{times:?}"
    );
}

#[test]
fn a_port_that_vanishes_has_a_row_of_empty_values_and_comes_back() {
    const ADD: &str = "ip link add v1 up type veth peer name v2";
    const ADD_QDISC: &str = "tc qdisc add dev v1 root handle 3: bfifo limit 1000000";
    if !is_inside("sampling::a_port_that_vanishes_has_a_row_of_empty_values_and_comes_back")
        || !can(ADD)
        || !can(ADD_QDISC)
    {
        return;
    }
    let lab = Lab::new();
    let sampler = lab.start(
        r#""queues": {"interval_ns": 100000, "output": "DIR/q.csv", "marks": {"bfifo": []}, "ports": [
             {"name": "v1", "interface": "v1", "handle": "3:"}]},
           "interfaces": {"interval_ns": 1000000, "output": "DIR/i.csv", "ports": [
             {"name": "lo", "interface": "lo"}, {"name": "v1", "interface": "v1"}]}"#,
    );
    let gone = |rows: &[Vec<String>]| {
        rows.iter()
            .any(|row| row[1] == "v1" && row[2..].iter().all(String::is_empty))
    };
    let back = |rows: &[Vec<String>]| {
        gone(rows)
            && rows
                .iter()
                .rfind(|row| row[1] == "v1")
                .is_some_and(|row| row[2..].iter().all(|value| !value.is_empty()))
    };
    lab.wait_for_rows("q.csv", |rows| !rows.is_empty());
    assert!(can("ip link delete v1"));
    lab.wait_for_rows("q.csv", gone);
    lab.wait_for_rows("i.csv", gone);
    assert!(can(ADD) && can(ADD_QDISC));
    lab.wait_for_rows("q.csv", back);
    lab.wait_for_rows("i.csv", back);
    stop(sampler);
    assert!(
        lab.rows("i.csv")
            .iter()
            .all(|row| row[1] != "lo" || !row[2].is_empty()),
        "lo was always there"
    );
}

#[test]
fn samples_a_namespace_by_its_path() {
    if !is_inside("sampling::samples_a_namespace_by_its_path") || !can("ip link set lo up") {
        return;
    }
    let mut other = in_new_namespaces(&[], "sleep".as_ref())
        .arg("600")
        .spawn()
        .unwrap();
    let netns = format!("/proc/{}/ns/net", other.id());
    let own = std::fs::read_link("/proc/self/ns/net").unwrap();
    wait_for("a new network namespace", || {
        std::fs::read_link(&netns).is_ok_and(|found| found != own)
    });
    let lab = Lab::new();
    let traffic = send_marked(1, "127.0.0.1", 10_000);
    let sampler = lab.start(
        &r#""interfaces": {"interval_ns": 1000000, "output": "DIR/i.csv", "ports": [
              {"name": "other", "interface": "lo", "netns": "NETNS"}, {"name": "own", "interface": "lo"}]}"#
            .replace("NETNS", &netns),
    );
    lab.wait_for_rows("i.csv", |rows| rows.len() >= 2);
    stop(sampler);
    drop(traffic);
    other.kill().unwrap();
    other.wait().unwrap();
    let rows = lab.rows("i.csv");
    let sent = |name: &str| number(&rows.iter().find(|row| row[1] == name).unwrap()[5]);
    assert_eq!(sent("other"), 0);
    assert!(sent("own") > 10_000);
}
