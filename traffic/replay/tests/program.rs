//! `replay program`: programs that wait for each other. No test depends on how fast this host is.

mod process;

use std::net::TcpListener;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};

use process::{monotonic_ns, terminate, wait_for_signal_mask};

fn start(directory: &Path, name: &str, options: &[&str], argv: &[&str]) -> Child {
    Command::new(env!("CARGO_BIN_EXE_replay"))
        .args(["program", "--name", name])
        .arg("--rendezvous")
        .arg(directory)
        .arg("--record")
        .arg(directory.join(format!("records/{name}.csv")))
        .args(options)
        .arg("--")
        .args(argv)
        .env("FABRICLAB_EPOCH_NS", monotonic_ns().to_string())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

fn run(directory: &Path, name: &str, options: &[&str], argv: &[&str]) -> Output {
    start(directory, name, options, argv)
        .wait_with_output()
        .unwrap()
}

/// The fields of a record's one row.
fn record(directory: &Path, name: &str) -> Vec<String> {
    let text = std::fs::read_to_string(directory.join(format!("records/{name}.csv"))).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(
        lines[..2],
        ["# fabriclab-program-1", "start_ns,end_ns,ended_by,status"]
    );
    lines[2].split(',').map(str::to_owned).collect()
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn a_program_has_its_environment_its_output_and_its_status() {
    let directory = tempfile::tempdir().unwrap();
    let place = directory.path();
    let file = place.join("output/one.txt");
    let file_text = file.to_str().unwrap();
    let options = [
        "--status",
        "3",
        "--env",
        "WHO=me=us",
        "--output",
        file_text,
        "--at-ns",
        "1000000",
    ];
    let output = run(place, "one", &options, &["sh", "-c", "echo $WHO; exit 3"]);
    assert!(output.status.success(), "{}", said(&output));
    assert_eq!(std::fs::read_to_string(file).unwrap(), "me=us\n");
    let row = record(place, "one");
    assert_eq!(row[2..], ["itself", "exit 3"]);
    let times = [&row[0], &row[1]].map(|text| text.parse::<i64>().unwrap());
    assert!(times[0] >= 1_000_000 && times[1] >= times[0], "{times:?}");
}

#[test]
fn another_status_is_a_failure_and_so_is_no_program() {
    let directory = tempfile::tempdir().unwrap();
    let output = run(directory.path(), "one", &[], &["sh", "-c", "exit 3"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(said(&output).contains("one ended with exit 3; exit 0 was expected"));
    let output = run(directory.path(), "two", &[], &["no-such-program"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(said(&output).contains("no-such-program: this node has no such program"));
    assert_eq!(record(directory.path(), "two"), ["", "", "", ""]);
}

#[test]
fn a_program_waits_for_the_end_of_another_one() {
    let directory = tempfile::tempdir().unwrap();
    let place = directory.path();
    let order = place.join("order");
    let echo = |word: &str| format!("echo {word} >>{}", order.display());
    let second = start(
        place,
        "second",
        &["--after", "first"],
        &["sh", "-c", &echo("second")],
    );
    let first = run(place, "first", &[], &["sh", "-c", &echo("first")]);
    assert!(first.status.success());
    assert!(second.wait_with_output().unwrap().status.success());
    assert_eq!(std::fs::read_to_string(order).unwrap(), "first\nsecond\n");
}

#[test]
fn a_program_waits_for_a_port_of_another_one() {
    let directory = tempfile::tempdir().unwrap();
    let place = directory.path();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port().to_string();
    let server = start(place, "server", &["--announce", &port], &["sleep", "600"]);
    let sign = format!("server:{port}");
    let client = run(place, "client", &["--after", &sign], &["true"]);
    assert!(client.status.success(), "{}", said(&client));
    wait_for_signal_mask(&server);
    terminate(&server);
    assert!(server.wait_with_output().unwrap().status.success());
    assert_eq!(record(place, "server")[2..], ["signal", "signal 15"]);
}

#[test]
fn a_port_that_never_opens_is_a_failure() {
    let directory = tempfile::tempdir().unwrap();
    let port = TcpListener::bind("127.0.0.1:0")
        .and_then(|listener| listener.local_addr())
        .unwrap()
        .port()
        .to_string();
    let output = run(
        directory.path(),
        "server",
        &["--announce", &port],
        &["true"],
    );
    assert_eq!(output.status.code(), Some(1));
    assert!(said(&output).contains(&format!("ended before anybody listened on TCP port {port}")));
}

#[test]
fn a_program_ends_at_its_time() {
    let directory = tempfile::tempdir().unwrap();
    let place = directory.path();
    let output = run(place, "late", &["--until-ns", "1000000"], &["sleep", "600"]);
    assert!(output.status.success(), "{}", said(&output));
    assert_eq!(record(place, "late")[2..], ["until", "signal 15"]);
}

#[test]
fn one_that_does_not_end_when_it_is_told_is_killed_with_those_that_it_started() {
    let directory = tempfile::tempdir().unwrap();
    let place = directory.path();
    let ready = place.join("ready");
    let script = format!(
        "trap '' TERM; sleep 600 & touch {}; wait; wait",
        ready.display()
    );
    let program = start(place, "stubborn", &[], &["sh", "-c", &script]);
    while !ready.exists() {
        std::thread::yield_now();
    }
    terminate(&program);
    // Its output ends when nobody is left who could write to it.
    let output = program.wait_with_output().unwrap();
    assert!(output.status.success(), "{}", said(&output));
    assert_eq!(record(place, "stubborn")[2..], ["signal", "signal 9"]);
}
