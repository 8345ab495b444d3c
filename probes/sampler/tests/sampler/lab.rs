//! Runs the sampler in network namespaces of its own. Each test starts itself again inside a new user and network
//! namespace, so that no privilege is needed and the host's network is never touched. What this host's kernel lacks is
//! named and skipped.

use std::ffi::OsStr;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use nix::sys::signal::{kill, Signal};
use nix::sys::socket::{setsockopt, sockopt};
use nix::sys::time::TimeValLike;
use nix::time::{clock_gettime, ClockId};
use nix::unistd::Pid;

/// Set in the process that runs inside the new namespaces.
const INSIDE: &str = "FABRICLAB_TEST_INSIDE";

/// How long to wait for something that must happen; only a failing test waits as long.
const PATIENCE: Duration = Duration::from_secs(300);

/// Starts the test `name` (with its module) again in new user and network namespaces; true in the process that is
/// inside.
pub fn is_inside(name: &str) -> bool {
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
pub fn in_new_namespaces(flags: &[&str], program: &OsStr) -> Command {
    let mut command = Command::new("unshare");
    command.args(flags).args(["--net", "--"]).arg(program);
    command
}

/// Runs `ip` or `tc`; false, with a message, if this host lacks the tool or its kernel the feature. Any other failure
/// is the test's.
pub fn can(command: &str) -> bool {
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

fn monotonic_ns() -> i64 {
    clock_gettime(ClockId::CLOCK_MONOTONIC)
        .unwrap()
        .num_nanoseconds()
}

pub struct Lab {
    directory: tempfile::TempDir,
}

impl Lab {
    pub fn new() -> Self {
        Self {
            directory: tempfile::tempdir().unwrap(),
        }
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    /// Starts the sampler with this configuration, in which `DIR/` is the lab's directory.
    pub fn start(&self, parts: &str) -> Child {
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
    pub fn refusal(&self, parts: &str) -> String {
        let output = self.start(parts).wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(2));
        let error = String::from_utf8(output.stderr).unwrap();
        assert_eq!(error.lines().count(), 1, "{error}");
        error
    }

    /// The rows of a CSV file, after its version line and its column names.
    pub fn rows(&self, name: &str) -> Vec<Vec<String>> {
        let text = std::fs::read_to_string(self.path(name)).unwrap_or_default();
        let whole = &text[..text.rfind('\n').map_or(0, |end| end + 1)];
        whole
            .lines()
            .skip(2)
            .map(|row| row.split(',').map(str::to_owned).collect())
            .collect()
    }

    pub fn wait_for_rows(&self, name: &str, satisfied: impl Fn(&[Vec<String>]) -> bool) {
        wait_for(name, || satisfied(&self.rows(name)));
    }
}

pub fn wait_for(what: &str, happened: impl Fn() -> bool) {
    let start = Instant::now();
    while !happened() {
        assert!(start.elapsed() < PATIENCE, "waited for {what} in vain");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Ends the sampler with SIGTERM, which must succeed; its last line.
pub fn stop(sampler: Child) -> String {
    kill(Pid::from_raw(sampler.id() as libc::pid_t), Signal::SIGTERM).unwrap();
    let Output { status, stderr, .. } = sampler.wait_with_output().unwrap();
    let stderr = String::from_utf8(stderr).unwrap();
    assert_eq!(status.code(), Some(0), "{stderr}");
    stderr.lines().last().unwrap_or("").to_owned()
}

/// Sends `bytes` over a connection of this namespace whose sending side carries `mark`, and returns it, open.
pub fn send_marked(mark: u32, address: &str, bytes: usize) -> (TcpStream, TcpStream) {
    let listener = TcpListener::bind((address, 0)).unwrap();
    let mut sender = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    let (mut receiver, _) = listener.accept().unwrap();
    setsockopt(&sender, sockopt::Mark, &mark).unwrap();
    let writer = std::thread::spawn(move || {
        sender.write_all(&vec![0; bytes]).unwrap();
        sender
    });
    receiver.read_exact(&mut vec![0; bytes]).unwrap();
    (writer.join().unwrap(), receiver)
}

pub fn number(field: &str) -> u64 {
    field.parse().unwrap()
}
