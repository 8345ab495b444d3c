//! Runs the sampler in network namespaces of its own. Each test starts itself again inside a new user and network namespace, so that no
//! privilege is needed and the host's network is never touched. What this host's kernel lacks is named and skipped.

use std::ffi::OsStr;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

/// Set in the process that runs inside the new namespaces.
const INSIDE: &str = "FABRICLAB_TEST_INSIDE";

/// How long to wait for something that must happen; only a failing test waits as long.
const PATIENCE: Duration = Duration::from_secs(30);

/// Starts the test `name` again in new user and network namespaces; true in the process that is inside.
fn is_inside(name: &str) -> bool {
    if std::env::var_os(INSIDE).is_some() {
        return true;
    }
    if !may_unshare() {
        eprintln!("skipped: this host does not let users make user and network namespaces");
        return false;
    }
    let test = std::env::current_exe().unwrap();
    let mut command = in_new_namespaces(&["--user", "--map-root-user"], test.as_os_str());
    command
        .args([name, "--exact", "--nocapture"])
        .env(INSIDE, "1");
    let status = command.status().unwrap();
    assert!(status.success(), "{name} failed inside its namespaces");
    false
}

fn may_unshare() -> bool {
    in_new_namespaces(&["--user", "--map-root-user"], "true".as_ref())
        .output()
        .is_ok_and(|output| output.status.success())
}

/// A command that runs `program` in a new network namespace, and in those that `flags` of `unshare(1)` name.
fn in_new_namespaces(flags: &[&str], program: &OsStr) -> Command {
    let mut command = Command::new("unshare");
    command.args(flags).args(["--net", "--"]).arg(program);
    command
}

/// Runs `ip` or `tc`; false, with a message, if this host lacks the tool or its kernel the feature. Any other failure is the test's.
fn can(command: &str) -> bool {
    let words: Vec<&str> = command.split(' ').collect();
    let output = match Command::new(words[0]).args(&words[1..]).output() {
        Ok(output) => output,
        Err(error) => {
            eprintln!("skipped: {}: {error}", words[0]);
            return false;
        }
    };
    let error = String::from_utf8_lossy(&output.stderr);
    let lacking = error.to_lowercase().contains("unknown");
    assert!(output.status.success() || lacking, "{command}: {error}");
    if lacking {
        eprintln!(
            "skipped: this kernel lacks what `{command}` needs: {}",
            error.trim()
        );
    }
    !lacking
}

fn monotonic_ns() -> u64 {
    let mut now = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: the pointer is to a timespec that outlives the call.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &mut now) };
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}

struct Lab {
    directory: tempfile::TempDir,
}

impl Lab {
    fn new() -> Self {
        Self {
            directory: tempfile::tempdir().unwrap(),
        }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    /// Starts the sampler with this configuration, in which `DIR/` is the lab's directory.
    fn start(&self, parts: &str) -> Child {
        let config = format!(r#"{{"format": "fabriclab-sampler-1", {parts}}}"#);
        let config = config.replace("DIR/", &format!("{}/", self.directory.path().display()));
        std::fs::write(self.path("sampler.json"), config).unwrap();
        Command::new(env!("CARGO_BIN_EXE_sampler"))
            .arg("--config")
            .arg(self.path("sampler.json"))
            .env("FABRICLAB_EPOCH_NS", monotonic_ns().to_string())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap()
    }

    /// What the sampler says of a configuration that it must refuse.
    fn refusal(&self, parts: &str) -> String {
        let output = self.start(parts).wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(2));
        let error = String::from_utf8(output.stderr).unwrap();
        assert_eq!(error.lines().count(), 1, "{error}");
        error
    }

    /// The rows of a CSV file, after its version line and its column names.
    fn rows(&self, name: &str) -> Vec<Vec<String>> {
        let text = std::fs::read_to_string(self.path(name)).unwrap_or_default();
        let whole = &text[..text.rfind('\n').map_or(0, |end| end + 1)];
        whole
            .lines()
            .skip(2)
            .map(|row| row.split(',').map(str::to_owned).collect())
            .collect()
    }

    fn wait_for_rows(&self, name: &str, satisfied: impl Fn(&[Vec<String>]) -> bool) {
        wait_for(name, || satisfied(&self.rows(name)));
    }
}

fn wait_for(what: &str, happened: impl Fn() -> bool) {
    let start = Instant::now();
    while !happened() {
        assert!(start.elapsed() < PATIENCE, "waited for {what} in vain");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Ends the sampler with SIGTERM, which must succeed; its last line.
fn stop(sampler: Child) -> String {
    // SAFETY: a system call without pointers; the process is our child, which has not been waited for.
    let sent = unsafe { libc::kill(sampler.id() as libc::pid_t, libc::SIGTERM) };
    assert_eq!(sent, 0);
    let Output { status, stderr, .. } = sampler.wait_with_output().unwrap();
    let stderr = String::from_utf8(stderr).unwrap();
    assert_eq!(status.code(), Some(0), "{stderr}");
    stderr.lines().last().unwrap_or("").to_owned()
}

/// Sends `bytes` over a connection of this namespace whose sending side carries `mark`, and returns it, open.
fn send_marked(mark: u32, address: &str, bytes: usize) -> (TcpStream, TcpStream) {
    let listener = TcpListener::bind((address, 0)).unwrap();
    let mut sender = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    let (mut receiver, _) = listener.accept().unwrap();
    // SAFETY: the pointer and the length are those of a number that outlives the call.
    let set = unsafe {
        libc::setsockopt(
            sender.as_raw_fd(),
            libc::SOL_SOCKET,
            libc::SO_MARK,
            (&raw const mark).cast(),
            4,
        )
    };
    assert_eq!(set, 0);
    let writer = std::thread::spawn(move || {
        sender.write_all(&vec![0; bytes]).unwrap();
        sender
    });
    receiver.read_exact(&mut vec![0; bytes]).unwrap();
    (writer.join().unwrap(), receiver)
}

fn number(field: &str) -> u64 {
    field.parse().unwrap()
}

#[test]
fn samples_queue_connections_and_interface() {
    if !is_inside("samples_queue_connections_and_interface")
        || !can("ip link set lo up")
        || !can("tc qdisc add dev lo root handle 1f: bfifo limit 1000000")
    {
        return;
    }
    let lab = Lab::new();
    let sampler = lab.start(
        r#""queues": {"interval_ns": 1000000, "output": "DIR/q.csv", "ports": [{"name": "q", "interface": "lo", "handle": "1f:"}]},
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
    if !is_inside("a_port_that_vanishes_has_a_row_of_empty_values_and_comes_back")
        || !can(ADD)
        || !can(ADD_QDISC)
    {
        return;
    }
    let lab = Lab::new();
    let sampler = lab.start(
        r#""queues": {"interval_ns": 100000, "output": "DIR/q.csv", "ports": [
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
    if !is_inside("samples_a_namespace_by_its_path") || !can("ip link set lo up") {
        return;
    }
    let mut other = in_new_namespaces(&[], "sleep".as_ref())
        .arg("60")
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

#[test]
fn what_does_not_exist_is_refused_with_what_does() {
    if !is_inside("what_does_not_exist_is_refused_with_what_does") || !can("ip link set lo up") {
        return;
    }
    let lab = Lab::new();
    let interfaces = r#""interfaces": {"interval_ns": 1000000, "output": "DIR/i.csv", "ports": [{"name": "x", "interface": "eth9"NETNS}]}"#;
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
    if !is_inside("a_handle_that_does_not_exist_is_refused_with_those_that_do")
        || !can("tc qdisc add dev lo root handle 1f: bfifo limit 1000")
    {
        return;
    }
    let queues = r#""queues": {"interval_ns": 1000000, "output": "DIR/q.csv", "ports": [{"name": "x", "interface": "lo", "handle": "3:"}]}"#;
    let error = Lab::new().refusal(queues);
    assert!(
        error.contains("queues.ports[0].handle: no qdisc 3:; there are: 1f: (bfifo)"),
        "{error}"
    );
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
    if !is_inside("a_switch_that_the_kernel_cannot_be_is_refused") || !can("ip link set lo up") {
        return;
    }
    let lab = Lab::new();
    let error = lab.refusal(
        r#""switches": {"interval_ns": 1000000, "ports": [{"name": "s1:lo", "interface": "lo"}], "outputs":
             {"ports": "DIR/p.csv", "queues": "DIR/q.csv", "groups": "DIR/g.csv", "pools": "DIR/o.csv", "events": "DIR/e.csv"}}"#,
    );
    // By the kernel's lack of it or, in a kernel that has it, by what `lo` is.
    assert!(
        error.contains("sampler.json: switches.ports[0].") && error.contains("switch_port"),
        "{error}"
    );
    assert!(!lab.path("p.csv").exists());
}
