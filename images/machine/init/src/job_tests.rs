use super::*;
use crate::failure::Result;

fn parse(text: &str) -> Result<Job> {
    super::parse(text, JOB_FILE)
}

const GOOD: &str = r#"{
  "format": "fabriclab-job-1",
  "limit_ns": 30000000000,
  "sysctl": null,
  "nodes": [{"name": "h1", "files": "nodes/h1"}, {"name": "s1"}],
  "links": [{"a": {"node": "h1", "interface": "eth1", "mac": "02:fa:00:00:00:01"},
             "b": {"node": "s1", "interface": "eth1", "mac": "02:fa:00:00:00:02"}, "mtu": 1500}],
  "traffic": [{"name": "replay@h1", "node": "h1", "argv": ["/tools/replay"]}]
}"#;

fn message(old: &str, new: &str) -> String {
    assert!(GOOD.contains(old), "the test changes nothing: {old}");
    parse(&GOOD.replace(old, new))
        .expect_err("must be refused")
        .message
}

#[test]
fn a_good_job_is_read() {
    let job = parse(GOOD).expect("good");
    assert_eq!(job.nodes.len(), 2);
    assert_eq!(job.links[0].b.mac, Mac([2, 0xfa, 0, 0, 0, 2]));
    assert!(job.probes.is_empty());
}

#[test]
fn layers_are_file_names() {
    let layers =
        |text: &str| GOOD.replace(r#""files": "nodes/h1""#, &format!(r#""layers": {text}"#));
    let job = parse(&layers(r#"["debian", "hadoop"]"#)).expect("good");
    assert_eq!(job.nodes[0].layers, ["debian", "hadoop"]);
    assert!(job.nodes[1].layers.is_empty());
    let refused = parse(&layers(r#"["../x"]"#)).expect_err("must be refused");
    assert!(
        refused
            .message
            .contains("layer \"../x\" is not a file name"),
        "{}",
        refused.message
    );
}

#[test]
fn disturbances_are_programs_like_all_others() {
    let storm = |name: &str, node: &str| {
        with(&format!(
            r#""disturbances": [{{"name": "{name}", "node": "{node}", "argv": ["/tools/replay"]}}]"#
        ))
    };
    let job = parse(&storm("storm@h1", "h1")).expect("good");
    assert_eq!((job.traffic.len(), job.disturbances.len()), (1, 1));
    let refused = |text: &str| parse(text).expect_err("must be refused").message;
    assert!(refused(&storm("replay@h1", "h1")).contains("two programs are called"));
    assert!(refused(&storm("storm@h9", "h9")).contains("names the node \"h9\""));
}

#[test]
fn a_drain_names_nodes_and_takes_time() {
    let with_drain = |text: &str| {
        let changed = GOOD.replace(
            "\"sysctl\": null,",
            &format!("\"sysctl\": null, \"drain\": {text},"),
        );
        parse(&changed)
    };
    let job = with_drain(r#"{"nodes": ["h1"], "still_ns": 2000000}"#).expect("good");
    assert_eq!(job.drain.expect("there").still_ns, 2_000_000);
    for (text, expected) in [
        (
            r#"{"nodes": ["h2"], "still_ns": 2000000}"#,
            "drain names the node \"h2\"",
        ),
        (
            r#"{"nodes": ["h1"], "still_ns": 0}"#,
            "still_ns 0 of drain must be positive",
        ),
    ] {
        let refused = with_drain(text).expect_err("must be refused");
        assert!(refused.message.contains(expected), "{}", refused.message);
    }
}

#[test]
fn a_lab_is_live_when_the_job_says_so() {
    assert!(parse(GOOD).expect("good").live.is_none());
    let live = |text: &str| parse(&with(&format!(r#""live": {text}"#)));
    let idle = live(r#"{"idle": true}"#).expect("good").live;
    assert!(idle.is_some_and(|live| live.idle));
    for bad in ["true", "{}", r#"{"idle": false, "speed": 1}"#] {
        assert!(live(bad).is_err(), "{bad}");
    }
}

#[test]
fn an_unknown_key_names_its_line() {
    let failure = parse(&GOOD.replace("\"sysctl\"", "\"sysctls\"")).expect_err("must be refused");
    assert_eq!(failure.line, Some(4));
    assert_eq!(failure.file.as_deref(), Some(JOB_FILE));
    assert!(
        failure.message.contains("unknown field `sysctls`"),
        "{}",
        failure.message
    );
}

#[test]
fn each_broken_rule_is_named() {
    let cases = [
        (
            "fabriclab-job-1",
            "fabriclab-job-2",
            "this machine reads \"fabriclab-job-1\"",
        ),
        ("30000000000", "0", "limit_ns 0 must be positive"),
        (
            "{\"name\": \"s1\"}",
            "{\"name\": \"h1\"}",
            "two nodes are called \"h1\"",
        ),
        (
            "{\"name\": \"s1\"}",
            "{\"name\": \"../s1\"}",
            "is not a node name",
        ),
        (
            "\"node\": \"s1\"",
            "\"node\": \"s2\"",
            "names the node \"s2\", which does not exist; there are h1, s1",
        ),
        (
            "\"node\": \"h1\", \"argv\"",
            "\"node\": \"h9\", \"argv\"",
            "program \"replay@h1\" names the node \"h9\"",
        ),
        (
            "02:fa:00:00:00:02",
            "02:fa:00:00:00",
            "is not a MAC address",
        ),
        (
            "02:fa:00:00:00:02",
            "02:fa:00:00:00:+2",
            "is not a MAC address",
        ),
        ("\"mtu\": 1500", "\"mtu\": 60", "mtu 60 of h1:eth1"),
        (
            "\"node\": \"s1\", \"interface\": \"eth1\"",
            "\"node\": \"h1\", \"interface\": \"eth1\"",
            "h1:eth1 is in two links",
        ),
        (
            "\"interface\": \"eth1\"",
            "\"interface\": \"an-interface-of-16\"",
            "is not an interface name",
        ),
        ("replay@h1", "../replay", "is not a file name"),
        ("[\"/tools/replay\"]", "[]", "must name a program"),
    ];
    for (old, new, expected) in cases {
        let message = message(old, new);
        assert!(message.contains(expected), "{new}: {message}");
    }
}

/// `GOOD` with more at its end.
fn with(more: &str) -> String {
    let body = GOOD.trim_end().strip_suffix('}').expect("an object");
    format!("{body}, {more}}}")
}

#[test]
fn routes_and_events_are_read() {
    let routes = r#"{"node": "s1", "routes": [{"prefix": "10.0.0.0/31", "interfaces": ["eth1"], "paths": 1}]}"#;
    let job = parse(&with(&format!(
        r#""ready": {{"interval_ns": 1000000, "limit_ns": 2, "nodes": [{routes}]}},
           "events": [{{"name": "cut", "at_ns": 5,
                        "steps": [{{"node": "h1", "tool": "ip", "lines": ["link set dev eth1 down"]}}],
                        "reconvergence": {{"interval_ns": 1000000, "nodes": [{routes}]}}}}]"#
    )))
    .expect("good");
    let ready = job.ready.expect("ready");
    assert_eq!(ready.nodes[0].routes[0].prefix.to_string(), "10.0.0.0/31");
    assert_eq!(job.events[0].steps[0].tool, StepTool::Ip);
}

#[test]
fn bad_routes_and_events_are_named() {
    let route = r#"{"prefix": "10.0.0.0", "interfaces": [], "paths": 0}"#;
    let ready = |nodes: &str| {
        format!(r#""ready": {{"interval_ns": 1000000, "limit_ns": 1, "nodes": [{nodes}]}}"#)
    };
    let event = |at_ns: i64, node: &str| {
        format!(
            r#""events": [{{"name": "cut", "at_ns": {at_ns},
                            "steps": [{{"node": "{node}", "tool": "tc", "lines": []}}]}}]"#
        )
    };
    let cases = [
        (
            ready(&format!(r#"{{"node": "s1", "routes": [{route}]}}"#)),
            "\"10.0.0.0\" is not a prefix",
        ),
        (
            ready(r#"{"node": "s9", "routes": []}"#),
            "ready names the node \"s9\"",
        ),
        (
            ready("").replace("\"interval_ns\": 1000000", "\"interval_ns\": 0"),
            "interval_ns 0 of ready must be at least 1000000",
        ),
        (
            ready("").replace("\"limit_ns\": 1", "\"limit_ns\": -1"),
            "limit_ns -1 of ready must be positive",
        ),
        (
            event(-1, "s1"),
            "at_ns -1 of the event \"cut\" must not be negative",
        ),
        (event(1, "s9"), "the event \"cut\" names the node \"s9\""),
        (
            event(1, "s1").replace("\"tc\"", "\"nft\""),
            "unknown variant `nft`",
        ),
    ];
    for (more, expected) in cases {
        let message = parse(&with(&more)).expect_err("must be refused").message;
        assert!(message.contains(expected), "{more}: {message}");
    }
}

#[test]
fn wires_have_both_ends_here_or_one_in_another_machine() {
    let end = |node: &str, number: u32, rest: &str| {
        format!(
            r#"{{"node": "{node}", "interface": "eth1", "mac": "02:fa:00:00:00:01", "mtu": 1500, "number": {number},
                 "delay_ns": 1000, "delay_in_ns": 1000{rest}}}"#
        )
    };
    let job = |ends: &[String]| {
        parse(&format!(
            r#"{{"format": "fabriclab-job-1", "limit_ns": 1, "sysctl": null, "links": [],
                 "nodes": [{{"name": "h1", "stream": 7}}, {{"name": "s1"}}],
                 "wires": {{"begin_ns": 1000, "ends": [{}]}}}}"#,
            ends.join(",")
        ))
    };
    let both = job(&[end("h1", 0, ""), end("s1", 1, "")]).expect("good");
    assert_eq!(both.interfaces("s1"), ["eth1"]);
    assert!(job(&[end("h1", 0, r#", "part": 1"#)]).is_ok());
    let lonely = job(&[end("h1", 0, "")]).expect_err("must be refused");
    assert!(lonely.message.contains("no other end"), "{lonely:?}");
    let twice = job(&[end("h1", 0, ""), end("s1", 0, "")]).expect_err("must be refused");
    assert!(
        twice.message.contains("a number that no other wire has"),
        "{twice:?}"
    );
}
