//! `replay exec`: programs that are started and ended by time. No test depends on how fast this host is.

mod process;

use std::path::Path;
use std::process::{Child, Command, Output, Stdio};

use nix::sys::signal::Signal;
use process::{monotonic_ns, send, terminate, wait_for_signal_mask};

fn start(options: &[&str], log: &Path, argv: &[&str]) -> Child {
    Command::new(env!("CARGO_BIN_EXE_replay"))
        .arg("exec")
        .args(options)
        .arg("--log")
        .arg(log)
        .arg("--")
        .args(argv)
        .env("FABRICLAB_EPOCH_NS", monotonic_ns().to_string())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

fn run(options: &[&str], log: &Path, argv: &[&str]) -> Output {
    start(options, log, argv).wait_with_output().unwrap()
}

/// A log's start, end (after the epoch), by whom it ended, status, output.
fn read(log: &Path) -> (Option<i64>, Option<i64>, String, String, String) {
    let text = std::fs::read_to_string(log).unwrap();
    let lines: Vec<&str> = text.splitn(4, '\n').collect();
    assert_eq!(
        lines[..2],
        ["# fabriclab-exec-1", "start_ns,end_ns,ended_by,status"]
    );
    let fields: Vec<&str> = lines[2].split(',').collect();
    let number = |field: &str| field.parse().ok();
    (
        number(fields[0]),
        number(fields[1]),
        fields[2].to_owned(),
        fields[3].to_owned(),
        lines[3].to_owned(),
    )
}

#[test]
fn a_program_that_ends_by_itself_starts_at_its_time() {
    let directory = tempfile::tempdir().unwrap();
    let log = directory.path().join("made/by/itself.log");
    let script = "printf '{\"one\": 1}\\n'; exit 3";
    let output = run(&["--at-ns", "50000000"], &log, &["sh", "-c", script]);
    assert!(output.status.success(), "a failure is told by the log");
    let (start_ns, end_ns, ended_by, status, written) = read(&log);
    assert!(start_ns.unwrap() >= 50_000_000);
    assert!(end_ns >= start_ns);
    assert_eq!((&*ended_by, &*status), ("itself", "exit 3"));
    assert_eq!(written, "{\"one\": 1}\n");
}

#[test]
fn a_program_is_interrupted_at_its_time() {
    let directory = tempfile::tempdir().unwrap();
    let log = directory.path().join("sleep.log");
    assert!(run(&["--until-ns", "100000000"], &log, &["sleep", "600"])
        .status
        .success());
    let (_, end_ns, ended_by, status, _) = read(&log);
    assert!(end_ns.unwrap() >= 100_000_000);
    assert_eq!((&*ended_by, &*status), ("until", "signal 2"));
}

#[test]
fn a_program_is_interrupted_where_a_shell_ignores_interrupts() {
    let directory = tempfile::tempdir().unwrap();
    let log = directory.path().join("background.log");
    let status = Command::new("sh")
        .args([
            "-c",
            "trap '' INT; exec \"$@\"",
            "sh",
            env!("CARGO_BIN_EXE_replay"),
        ])
        .args(["exec", "--until-ns", "0", "--log"])
        .arg(&log)
        .args(["--", "sleep", "60"])
        .env("FABRICLAB_EPOCH_NS", monotonic_ns().to_string())
        .status()
        .unwrap();
    assert!(status.success());
    let (_, _, ended_by, status, _) = read(&log);
    assert_eq!((&*ended_by, &*status), ("until", "signal 2"));
}

#[test]
fn what_it_writes_when_it_is_interrupted_is_kept() {
    let directory = tempfile::tempdir().unwrap();
    let (log, ready) = (
        directory.path().join("trap.log"),
        directory.path().join("ready"),
    );
    let script = "trap 'head -c 300000 /dev/zero | tr \"\\0\" x; exit 1' INT; echo begin; : > \"$0\"; while :; do \
        sleep 0.05; done";
    let mut running = start(&[], &log, &["sh", "-c", script, ready.to_str().unwrap()]);
    while !ready.exists() {
        assert_eq!(running.try_wait().unwrap(), None, "it ended by itself");
        std::thread::yield_now();
    }
    terminate(&running);
    assert!(running.wait_with_output().unwrap().status.success());
    let (_, _, ended_by, status, written) = read(&log);
    assert_eq!((&*ended_by, &*status), ("signal", "exit 1"));
    assert_eq!(written.len(), "begin\n".len() + 300_000);
}

#[test]
fn a_signal_ends_it_before_its_time_and_while_it_runs() {
    let directory = tempfile::tempdir().unwrap();
    let log = directory.path().join("early.log");
    let waiting = start(&["--at-ns", "600000000000"], &log, &["true"]);
    wait_for_signal_mask(&waiting);
    terminate(&waiting);
    assert!(waiting.wait_with_output().unwrap().status.success());
    assert_eq!(
        read(&log),
        (None, None, "signal".into(), String::new(), String::new())
    );

    let log = directory.path().join("running.log");
    let running = start(&[], &log, &["sleep", "600"]);
    wait_for_signal_mask(&running);
    terminate(&running);
    assert!(running.wait_with_output().unwrap().status.success());
    let (_, _, ended_by, status, _) = read(&log);
    assert_eq!((&*ended_by, &*status), ("signal", "signal 2"));
}

#[test]
fn a_loss_of_power_is_told_from_a_signal() {
    let directory = tempfile::tempdir().unwrap();
    let log = directory.path().join("down.log");
    let running = start(&[], &log, &["sleep", "600"]);
    wait_for_signal_mask(&running);
    send(&running, Signal::SIGPWR);
    assert!(running.wait_with_output().unwrap().status.success());
    assert_eq!(read(&log).2, "power");
}

#[test]
fn a_program_that_does_not_exist_is_an_error_that_names_it() {
    let directory = tempfile::tempdir().unwrap();
    let output = run(&[], &directory.path().join("x.log"), &["no-such-program"]);
    assert_eq!(output.status.code(), Some(1));
    let error = String::from_utf8(output.stderr).unwrap();
    assert!(
        error.starts_with("replay: no-such-program: No such file"),
        "{error}"
    );
}
