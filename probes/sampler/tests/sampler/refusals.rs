//! What the sampler refuses at its start: exit 2 and one line.

use std::path::Path;
use std::process::Command;

use crate::lab::{can, is_inside, Lab};

#[test]
fn what_does_not_exist_is_refused_with_what_does() {
    if !is_inside("refusals::what_does_not_exist_is_refused_with_what_does")
        || !can("ip link set lo up")
    {
        return;
    }
    let lab = Lab::new();
    let interfaces = r#""interfaces": {"interval_ns": 1000000, "output": "DIR/i.csv",
        "ports": [{"name": "x", "interface": "eth9"NETNS}]}"#;
    let error = lab.refusal(&interfaces.replace("NETNS", ""));
    assert!(
        error.contains("sampler.json: interfaces.ports[0].interface: `eth9` does not exist"),
        "{error}"
    );
    assert!(error.contains("; there are: lo"), "{error}");

    std::fs::write(lab.path("s1"), "").unwrap();
    let netns = format!(r#", "netns": "{}""#, lab.path("s2").display());
    let error = lab.refusal(&interfaces.replace("NETNS", &netns));
    assert!(
        error.contains("interfaces.ports[0].netns: network namespace")
            && error.contains("s2: No such file"),
        "{error}"
    );
    assert!(
        error.trim_end().ends_with("there are: s1, sampler.json"),
        "{error}"
    );

    let netns = format!(r#", "netns": "{}""#, lab.path("s1").display());
    let error = lab.refusal(&interfaces.replace("NETNS", &netns));
    assert!(
        error.contains("s1: cannot enter this network namespace"),
        "{error}"
    );
    assert!(
        !Path::new(&lab.path("i.csv")).exists(),
        "no output before everything is found"
    );
}

#[test]
fn a_handle_that_does_not_exist_is_refused_with_those_that_do() {
    if !is_inside("refusals::a_handle_that_does_not_exist_is_refused_with_those_that_do")
        || !can("tc qdisc add dev lo root handle 1f: bfifo limit 1000")
    {
        return;
    }
    let queues = r#""queues": {"interval_ns": 1000000, "output": "DIR/q.csv",
        "ports": [{"name": "x", "interface": "lo", "handle": "3:"}]}"#;
    let error = Lab::new().refusal(queues);
    assert!(
        error.contains("queues.ports[0].handle: no qdisc 3:; there are: 1f: (bfifo)"),
        "{error}"
    );
}

#[test]
fn changes_are_refused_where_the_kernel_does_not_record_them() {
    if !is_inside("refusals::changes_are_refused_where_the_kernel_does_not_record_them")
        || !can("tc qdisc add dev lo root handle 1f: bfifo limit 1000000")
    {
        return;
    }
    let error = Lab::new().refusal(
        r#""queues": {"interval_ns": 0, "output": "DIR/q.csv",
             "ports": [{"name": "q", "interface": "lo", "handle": "1f:"}]}"#,
    );
    assert!(
        error.contains("queues.interval_ns: 0 (each change) is for the virtual machine"),
        "{error}"
    );
    assert!(error.contains("write 10000 (10 us)"), "{error}");
}

#[test]
fn a_missing_epoch_and_a_missing_configuration_are_refused() {
    let run = |epoch: Option<&str>| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_sampler"));
        command
            .args(["--config", "/nowhere/sampler.json"])
            .env_remove("FABRICLAB_EPOCH_NS");
        let output = command
            .envs(epoch.map(|epoch| ("FABRICLAB_EPOCH_NS", epoch)))
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(2));
        String::from_utf8(output.stderr).unwrap()
    };
    assert!(run(None).contains("FABRICLAB_EPOCH_NS is not set"));
    assert!(run(Some("0")).contains("FABRICLAB_EPOCH_NS is `0`"));
    assert!(run(Some("1")).contains("/nowhere/sampler.json: No such file"));
}

#[test]
fn a_switch_that_the_kernel_cannot_be_is_refused() {
    if !is_inside("refusals::a_switch_that_the_kernel_cannot_be_is_refused")
        || !can("ip link set lo up")
    {
        return;
    }
    let lab = Lab::new();
    let error = lab.refusal(
        r#""switches": {"interval_ns": 1000000, "ports": [{"name": "s1:lo", "interface": "lo"}], "outputs":
             {"ports": "DIR/p.csv", "queues": "DIR/q.csv", "groups": "DIR/g.csv", "pools": "DIR/o.csv",
              "events": "DIR/e.csv"}}"#,
    );
    // By the kernel's lack of it or, in a kernel that has it, by what `lo` is.
    assert!(
        error.contains("sampler.json: switches.ports[0].") && error.contains("switch_port"),
        "{error}"
    );
    assert!(!lab.path("p.csv").exists());
}
