//! Replay processes against each other over loopback addresses, one address a host.

mod lab;

use lab::{Lab, Row, COLUMNS, SECOND_NS};

fn assert_all_complete(rows: &[Row]) {
    for row in rows {
        assert_eq!(row.text("status"), "complete", "{row:?}");
    }
}

#[test]
fn push_and_pull_deliver_every_byte() {
    let lab = Lab::new(&["h1", "h2"]);
    let rows =
        "0,0,h1,h2,4,,push,,,,\n1,0,h1,h2,100000,,pull,,,,\n2,1000000,h2,h1,3000000,,push,,,,\n\
        3,1000000,h2,h1,5,,pull,,,,\n";
    let flows = lab.play(rows);
    assert_eq!(flows.len(), 8);
    assert_all_complete(&flows);
    for (flow, bytes, starter) in [
        (0, 4, "src"),
        (1, 100_000, "dst"),
        (2, 3_000_000, "src"),
        (3, 5, "dst"),
    ] {
        for row in flows.iter().filter(|row| row.number("flow") == flow) {
            assert_eq!(row.number("bytes"), bytes, "{row:?}");
            assert_eq!(
                row.text("start_ns").is_empty(),
                row.text("side") != starter,
                "{row:?}"
            );
            assert!(
                row.number("first_byte_ns") <= row.number("end_ns"),
                "{row:?}"
            );
            assert!(
                row.number("connected_ns") <= row.number("first_byte_ns"),
                "{row:?}"
            );
        }
    }
    let sent = flows.iter().find(|row| row.is(0, "src")).expect("flow 0");
    // A busy host may send it again; then Linux counts what came twice, too.
    assert!(
        (1..=1 + sent.number("retransmits")).contains(&sent.number("delivered")),
        "one segment, without the SYN's: {sent:?}"
    );
}

#[test]
fn flows_of_a_kept_connection_share_it_in_order() {
    let lab = Lab::new(&["h1", "h2"]);
    let rows = "5,0,h1,h2,70000,,push,c,,,\n3,0,h1,h2,4,,push,c,,,\n4,0,h1,h2,200001,,push,c,,,\n\
        8,0,h1,h2,9000,,pull,c,,,\n7,0,h1,h2,300000,,pull,c,,,\n";
    let flows = lab.play(rows);
    assert_eq!(flows.len(), 10);
    assert_all_complete(&flows);
    for side in ["src", "dst"] {
        let order = |numbers: &[i64]| {
            let of_side = flows.iter().filter(|row| row.text("side") == side);
            of_side
                .map(|row| row.number("flow"))
                .filter(|flow| numbers.contains(flow))
                .collect::<Vec<_>>()
        };
        assert_eq!(order(&[5, 3, 4]), [5, 3, 4], "{side}");
        assert_eq!(order(&[8, 7]), [8, 7], "{side}");
        let connected = |flow| {
            flows
                .iter()
                .find(|row| row.is(flow, side))
                .expect("row")
                .text("connected_ns")
                .to_owned()
        };
        assert!(
            connected(5).starts_with('-'),
            "open before the epoch: {}",
            connected(5)
        );
        assert_eq!(connected(3), "");
    }
    let delivered: i64 = flows
        .iter()
        .filter(|row| row.text("side") == "src")
        .map(|row| row.number("delivered"))
        .sum();
    assert!(
        delivered >= 5,
        "each flow is at least a segment: {delivered}"
    );
}

#[test]
fn a_round_starts_when_the_one_before_is_complete() {
    let lab = Lab::new(&["h1", "h2", "h3", "c"]);
    let mut rows = String::new();
    for round in 0..5 {
        for sender in 1..=3 {
            let (flow, after) = (
                round * 3 + sender,
                if round == 0 {
                    String::new()
                } else {
                    format!("r{}", round - 1)
                },
            );
            rows +=
                &format!("{flow},1000,h{sender},c,100000,,pull,k{sender},r{round},{after},sru\n");
        }
    }
    let flows = lab.play(&rows);
    assert_eq!(flows.len(), 30);
    assert_all_complete(&flows);
    let received = |round: i64| {
        flows
            .iter()
            .filter(move |row| row.text("side") == "dst" && (row.number("flow") - 1) / 3 == round)
    };
    for round in 1..5 {
        let complete = received(round - 1)
            .map(|row| row.number("end_ns"))
            .max()
            .expect("a round before");
        let started = received(round)
            .map(|row| row.number("start_ns"))
            .min()
            .expect("a round");
        assert!(
            started >= complete + 1000,
            "round {round} started at {started}, the one before was complete at {complete}"
        );
    }
}

const CROSSING: &str = "0,0,h1,h2,100000,,push,,job/a,,\n1,0,h1,h3,300000,,push,,job/b,,\n\
    2,1000,h4,h1,50000,,push,,last,job,\n3,0,h2,h4,50000,,pull,,last,job,\n4,0,h3,h4,4,,push,,,last,\n";

#[test]
fn a_group_that_several_hosts_receive_is_waited_for_by_others() {
    let lab = Lab::new(&["h1", "h2", "h3", "h4"]);
    let flows = lab.play(CROSSING);
    assert_eq!(flows.len(), 10);
    assert_all_complete(&flows);
    let ends = |numbers: [i64; 2]| {
        let received = flows.iter().filter(|row| row.text("side") == "dst");
        let of = received.filter(|row| numbers.contains(&row.number("flow")));
        of.map(|row| row.number("end_ns")).max().expect("two flows")
    };
    let start = |flow: i64| {
        let row = flows
            .iter()
            .find(|row| row.number("flow") == flow && !row.text("start_ns").is_empty());
        row.expect("a start").number("start_ns")
    };
    assert!(start(2) >= ends([0, 1]) + 1000);
    assert!(start(3) >= ends([0, 1]));
    assert!(start(4) >= ends([2, 3]));
}

#[test]
fn what_waits_for_a_failure_elsewhere_is_unstarted() {
    let lab = Lab::new(&["h1", "h2", "h3"]);
    // Nobody listens at h3, from which h2 would pull; h1 waits for it, and ends when it is told.
    let rows = "0,0,h3,h2,4,,pull,,job,,\n1,0,h1,h3,4,,push,,,job,\n";
    let flows = lab.play_on(&["h1", "h2"], rows);
    let status = |flow: i64, side: &str| {
        let row = flows.iter().find(|row| row.is(flow, side)).expect("row");
        row.text("status").to_owned()
    };
    assert_eq!(status(0, "dst"), "failed: ECONNREFUSED");
    let waiting = flows.iter().find(|row| row.is(1, "src")).expect("row");
    assert_eq!(waiting.text("status"), "unstarted");
}

#[test]
fn a_group_across_hosts_needs_a_place_to_meet() {
    let lab = Lab::new(&["h1", "h2", "h3", "h4"]);
    let (status, message) = lab.fail("h2", COLUMNS, CROSSING);
    assert_eq!(status, Some(2), "{message}");
    assert!(
        message.contains(
            "trace.csv:5: after names a group that several hosts take part in, h2 among them: replay needs --rendezvous"
        ),
        "{message}"
    );
}

#[test]
fn a_request_may_be_long() {
    let lab = Lab::new(&["h1", "h2"]);
    let rows =
        "0,0,h1,h2,10,,pull,3000000,,,\n1,0,h1,h2,70000,,pull,100,k,,\n2,0,h1,h2,9,,pull,,k,,\n\
        3,0,h1,h2,70000,,pull,900000,k,,\n";
    let flows = lab.play_columns(
        "flow,start_ns,src,dst,size_bytes,stop_ns,mode,request_bytes,connection,group,after",
        rows,
    );
    assert_eq!(flows.len(), 8);
    assert_all_complete(&flows);
    for (flow, bytes) in [(0, 10), (1, 70_000), (2, 9), (3, 70_000)] {
        for side in ["src", "dst"] {
            let row = flows.iter().find(|row| row.is(flow, side)).expect("row");
            assert_eq!(row.number("bytes"), bytes, "{row:?}");
        }
    }
}

#[test]
fn what_this_kernel_lacks_is_said() {
    let lab = Lab::new(&["h1", "h2"]);
    let columns = "flow,start_ns,src,dst,size_bytes,congestion_control";
    let (status, message) = lab.fail("h1", columns, "0,0,h1,h2,10,quadratic\n");
    assert_eq!(status, Some(1), "{message}");
    assert!(
        message.contains(
            "congestion_control is \"quadratic\" on line 3 of the trace: must be one that this host may use"
        ),
        "{message}"
    );
}

#[test]
fn a_long_flow_stops_at_its_time() {
    let lab = Lab::new(&["h1", "h2"]);
    let stops = [2 * SECOND_NS, 5 * SECOND_NS / 2, 3 * SECOND_NS / 2];
    let [first, second, third] = stops;
    let flows = lab.play(&format!(
        "0,0,h1,h2,,{first},push,,,,\n1,0,h1,h2,,{second},pull,,,,\n2,0,h1,h2,,{third},push,,,,\n"
    ));
    assert_eq!(flows.len(), 6);
    for (flow, stop_ns) in (0..).zip(stops) {
        let of = |side| flows.iter().find(|row| row.is(flow, side)).expect("row");
        let (sent, received) = (of("src"), of("dst"));
        assert_eq!(
            (sent.text("status"), received.text("status")),
            ("stopped", "stopped")
        );
        assert!(
            received.number("bytes") > 0 && received.number("bytes") <= sent.number("bytes"),
            "{received:?}"
        );
        assert!(
            sent.number("end_ns") >= stop_ns && received.number("end_ns") >= stop_ns,
            "{sent:?} {received:?}"
        );
    }
}

#[test]
fn thousands_of_flows_at_once() {
    let lab = Lab::new(&["h1", "h2"]);
    let count = 5000;
    let rows: String = (0..count)
        .map(|flow| format!("{flow},0,h1,h2,20000,,{},,,,\n", ["push", "pull"][flow % 2]))
        .collect();
    let flows = lab.play(&rows);
    assert_eq!(flows.len(), 2 * count);
    assert_all_complete(&flows);
    assert!(flows.iter().all(|row| row.number("bytes") == 20000));
    let pushed = flows
        .iter()
        .filter(|row| row.text("side") == "src" && !row.text("start_ns").is_empty());
    let mut starts: Vec<_> = pushed
        .map(|row| (row.number("flow"), row.number("start_ns")))
        .collect();
    starts.sort_unstable();
    assert!(
        starts.windows(2).all(|pair| pair[0].1 <= pair[1].1),
        "what is due at the same instant starts in trace order"
    );
}

#[test]
fn what_cannot_connect_fails_with_its_reason() {
    let lab = Lab::new(&["h1", "h2"]);
    let rows = "0,0,h1,h2,4,,push,,,,\n1,0,h2,h1,4,,pull,c,g,,\n2,0,h2,h1,4,,pull,,,g,\n3,0,h2,h1,4,,pull,,,,\n";
    let flows = lab.play_on(&["h1"], rows);
    let expected = [
        (0, "failed: ECONNREFUSED"),
        (1, "failed: ECONNREFUSED"),
        (2, "unstarted"),
        (3, "failed: ECONNREFUSED"),
    ];
    assert_eq!(flows.len(), expected.len());
    for (flow, status) in expected {
        let row = flows
            .iter()
            .find(|row| row.number("flow") == flow)
            .expect("row");
        assert_eq!(row.text("status"), status, "{row:?}");
    }
}

#[test]
fn what_is_open_on_a_host_that_loses_its_power_has_failed() {
    let lab = Lab::new(&["h1", "h2"]);
    let rows = "0,0,h1,h2,,9000000000000,push,,,,\n1,0,h1,h2,1000,,push,,,,\n2,8000000000000,h1,h2,1000,,push,,,,\n\
        3,0,h2,h1,,9000000000000,push,,,,\n";
    let flows = lab.play_and_signal(rows, 1, &["-PWR", "-TERM"]);
    let status = |flow, side| {
        let row = flows.iter().find(|row| row.is(flow, side)).expect("row");
        row.text("status").to_owned()
    };
    // What it sends and what it receives alike; what is complete is complete.
    assert_eq!(status(0, "src"), "failed: EHOSTDOWN");
    assert_eq!(status(3, "dst"), "failed: EHOSTDOWN");
    assert_eq!(
        (status(1, "src"), status(2, "src")),
        ("complete".into(), "unstarted".into())
    );
}

#[test]
fn what_is_open_at_the_end_is_logged_as_it_stands() {
    let lab = Lab::new(&["h1", "h2"]);
    let rows = "0,0,h1,h2,,9000000000000,push,,,,\n1,0,h1,h2,1000,,push,,,,\n2,8000000000000,h1,h2,1000,,push,,,,\n";
    let flows = lab.play_until(rows, 2 * SECOND_NS);
    let statuses = |side| {
        let mut of_side: Vec<_> = flows
            .iter()
            .filter(|row| row.text("side") == side)
            .map(|row| (row.number("flow"), row.text("status")))
            .collect();
        of_side.sort_unstable();
        of_side
    };
    for side in ["src", "dst"] {
        assert_eq!(
            statuses(side),
            [(0, "stopped"), (1, "complete"), (2, "unstarted")]
        );
    }
}

#[test]
fn a_termination_signal_ends_it_with_a_whole_log() {
    let lab = Lab::new(&["h1", "h2"]);
    let rows = "0,0,h1,h2,4,,push,,,,\n1,8000000000000,h1,h2,1000,,push,,,,\n";
    let flows = lab.play_and_terminate(rows, 0);
    assert_eq!(flows.len(), 4);
    for side in ["src", "dst"] {
        let status = |flow| {
            flows
                .iter()
                .find(|row| row.is(flow, side))
                .expect("row")
                .text("status")
                .to_owned()
        };
        assert_eq!(
            (status(0).as_str(), status(1).as_str()),
            ("complete", "unstarted")
        );
    }
}

#[test]
fn check_shows_all_that_is_wrong_and_plays_nothing() {
    let lab = Lab::new(&["h1", "h2"]);
    let (status, message) = lab.check("0,0,h1,h3,4,,push,,,,\n1,0,h1,h2,4,,pish,,,,\n");
    assert_eq!(status, Some(2));
    assert!(
        message
            .contains("trace.csv:3: dst is \"h3\": must be a host of the hosts file; did you mean"),
        "{message}"
    );
    assert!(
        message.contains(
            "trace.csv:4: mode is \"pish\": must be push, pull, read or iperf3 (empty: push); did you mean \"push\"?"
        ),
        "{message}"
    );
    assert_eq!(
        lab.check("0,0,h1,h2,4,,push,,,,\n"),
        (Some(0), String::new())
    );
}
