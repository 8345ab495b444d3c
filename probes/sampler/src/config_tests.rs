use std::path::Path;

use super::read::parse_config;
use super::*;

const WHOLE: &str = r#"{
  "format": "fabriclab-sampler-1",
  "queues": {"interval_ns": 100000, "output": "q.csv",
    "ports": [{"name": "s1:eth1", "netns": "/run/netns/s1", "interface": "eth1", "handle": "3:"}]},
  "tcp": {"interval_ns": 1000000, "output": "t.csv", "nodes": [{"name": "h1"}], "flows": [0, 41]},
  "interfaces": {"interval_ns": 10000000, "output": "i.csv", "ports": [{"name": "s1:eth1", "interface": "eth1"}]},
  "switches": {"interval_ns": 20000,
    "outputs": {"ports": "p.csv", "queues": "sq.csv", "groups": "g.csv", "pools": "o.csv", "events": "e.csv"},
    "ports": [{"name": "s2:eth4", "netns": "/n/s2", "interface": "eth4"},
              {"name": "s2:eth5", "netns": "/n/s2", "interface": "eth5"},
              {"name": "s3:eth6", "netns": "/n/s3", "interface": "eth6"}]},
  "connections": {"output": "c.csv", "nodes": [{"name": "h2", "netns": "/n/h2"}, {"name": "h3"}]}
}"#;

#[test]
fn reads_all_five_parts() {
    let config = parse_config(WHOLE).unwrap();
    let queues = config.queues.unwrap();
    assert_eq!(queues.interval_ns, QueueInterval(100_000));
    assert_eq!(queues.ports[0].handle, Handle(0x3_0000));
    assert_eq!(
        queues.ports[0].netns.as_deref(),
        Some(Path::new("/run/netns/s1"))
    );
    let tcp = config.tcp.unwrap();
    assert_eq!(tcp.nodes[0].netns, None);
    assert_eq!(
        tcp.flows
            .unwrap()
            .iter()
            .map(|flow| flow.mark())
            .collect::<Vec<_>>(),
        [1, 42]
    );
    assert_eq!(config.interfaces.unwrap().ports[0].interface.0, "eth1");
    let switches = config.switches.unwrap();
    assert_eq!(switches.outputs.events, Path::new("e.csv"));
    assert_eq!(switches.ports[2].switch(), "s3");
    let connections = config.connections.unwrap();
    assert_eq!(connections.nodes[1].name.0, "h3");
}

/// Replaces `from` by `to` in a valid configuration and returns the error that follows.
fn error_of(from: &str, to: &str) -> String {
    assert_eq!(
        WHOLE.matches(from).count(),
        1,
        "{from} must stand exactly once in the valid configuration"
    );
    parse_config(&WHOLE.replace(from, to)).unwrap_err()
}

#[test]
fn an_error_names_key_value_and_what_is_right() {
    let cases: &[(&str, &str, &[&str])] = &[
        (
            "sampler-1",
            "sampler-2",
            &[
                "format",
                "fabriclab-sampler-2",
                "expected `fabriclab-sampler-1`",
                "line 2",
            ],
        ),
        (
            "\"interval_ns\": 100000,",
            "\"interval_ns\": 9999,",
            &[
                "queues.interval_ns: 9999",
                "10000 (10 us) to 1000000000",
                "or 0 for each change",
                "line 3",
            ],
        ),
        (
            "\"interval_ns\": 1000000,",
            "\"interval_ns\": 1000000001,",
            &["tcp.interval_ns: 1000000001", "line 5"],
        ),
        (
            "\"interval_ns\": 1000000,",
            "\"interval_ns\": 0,",
            &["tcp.interval_ns: 0 is not a sampling interval", "line 5"],
        ),
        (
            "\"interval_ns\": 10000000,",
            "\"interval_ns\": \"10ms\",",
            &["interfaces.interval_ns", "string \"10ms\"", "line 6"],
        ),
        (
            "\"3:\"",
            "\"3\"",
            &["queues.ports[0].handle: `3`", "1: to ffff:", "line 4"],
        ),
        ("\"3:\"", "\"0:\"", &["queues.ports[0].handle: `0:`"]),
        ("\"3:\"", "\"+3:\"", &["queues.ports[0].handle: `+3:`"]),
        (
            "\"3:\"",
            "\"10000:\"",
            &["queues.ports[0].handle: `10000:`"],
        ),
        (
            "\"eth1\", \"handle\"",
            "\"a-name-of-16-byt\", \"handle\"",
            &[
                "queues.ports[0].interface: `a-name-of-16-byt`",
                "1 to 15 bytes",
            ],
        ),
        (
            "\"h1\"",
            "\"h,1\"",
            &["tcp.nodes[0].name: \"h,1\"", "without a comma"],
        ),
        (
            "41]",
            "4294967295]",
            &["tcp.flows[1]: 4294967295", "0 to 4294967294"],
        ),
        ("[0, 41]", "[]", &["tcp.flows: []", "leave the key out"]),
        (
            "[{\"name\": \"h1\"}]",
            "[]",
            &["tcp.nodes: []", "at least one node"],
        ),
        (
            "[{\"name\": \"h1\"}]",
            "[{\"name\": \"h1\"}, {\"name\": \"h1\"}]",
            &["tcp.nodes[1].name: `h1`", "tcp.nodes[0]"],
        ),
        (
            "\"i.csv\"",
            "\"q.csv\"",
            &["interfaces.output: `q.csv`", "`queues.output`"],
        ),
        (
            "\"handle\"",
            "\"handel\"",
            &[
                "queues.ports[0]",
                "unknown field `handel`",
                "`handle`",
                "line 4",
            ],
        ),
        (
            "\"e.csv\"",
            "\"g.csv\"",
            &[
                "switches.outputs.events: `g.csv`",
                "`switches.outputs.groups`",
            ],
        ),
        (
            ", \"events\": \"e.csv\"",
            "",
            &["switches.outputs", "missing field `events`", "line 8"],
        ),
        (
            "\"s2:eth5\"",
            "\"s2:eth4\"",
            &["switches.ports[1].name: `s2:eth4`", "switches.ports[0]"],
        ),
        (
            "\"s2:eth5\"",
            "\"s1:eth5\"",
            &[
                "switches.ports[1].name: `s1:eth5` beside `s2:eth4`",
                "one namespace",
            ],
        ),
        (
            "\"s3:eth6\"",
            "\"s2:eth6\"",
            &["switches.ports[2].name: `s2:eth6` beside `s2:eth4`"],
        ),
        (
            "\"name\": \"h3\"",
            "\"name\": \"h2\"",
            &["connections.nodes[1].name: `h2`", "connections.nodes[0]"],
        ),
        (
            "c.csv",
            "t.csv",
            &["connections.output: `t.csv` is already `tcp.output`"],
        ),
        ("\"tcp\"", "\"tpc\"", &["unknown field `tpc`", "`tcp`"]),
        (
            ", \"handle\": \"3:\"",
            "",
            &["queues.ports[0]", "missing field `handle`"],
        ),
    ];
    for (from, to, expected) in cases {
        let error = error_of(from, to);
        for part in *expected {
            assert!(
                error.contains(part),
                "{from} -> {to}: `{part}` is not in: {error}"
            );
        }
    }
}

#[test]
fn nothing_to_sample_is_an_error() {
    let error = parse_config(r#"{"format": "fabriclab-sampler-1"}"#).unwrap_err();
    assert!(
        error.contains("`queues`, `tcp`, `interfaces`, `switches`, `connections`"),
        "{error}"
    );
}

#[test]
fn text_after_the_configuration_is_an_error() {
    assert!(parse_config(&format!("{WHOLE} x"))
        .unwrap_err()
        .contains("trailing characters"));
}

#[test]
fn a_handle_is_shown_as_tc_shows_it() {
    assert_eq!(
        Handle::try_from("fFa:".to_owned()).unwrap().to_string(),
        "ffa:"
    );
}
