//! A lab on loopback: files, processes, and their logs.

use std::fs::File;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU16, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use nix::sys::time::TimeValLike;
use nix::time::{clock_gettime, ClockId};
use tempfile::TempDir;

/// How long after the start of the processes the epoch is. Where one was not ready by then this host was busy, and they
/// are given more.
const LEADS_NS: [i64; 4] = [
    2 * SECOND_NS,
    8 * SECOND_NS,
    32 * SECOND_NS,
    128 * SECOND_NS,
];
/// What replay says when it was not ready in time.
const LATE: &str = "after the epoch: flows that were due start late";

/// These tests run in real time: what must have happened by some time is given seconds, as a busy machine may need
/// them.
pub const SECOND_NS: i64 = 1_000_000_000;
pub const COLUMNS: &str =
    "flow,start_ns,src,dst,size_bytes,stop_ns,mode,connection,group,after,class";

/// Tests run at the same time in one network namespace: each has a subnet of its own, for this process and for this
/// test.
static SUBNETS: AtomicU16 = AtomicU16::new(0);

/// One lab plays at a time: thousands of flows of one would be the weather of another.
static PLAYING: Mutex<()> = Mutex::new(());

pub struct Lab {
    directory: TempDir,
    hosts: Vec<String>,
    _playing: MutexGuard<'static, ()>,
}

/// A row of a flow log, as column names and values.
#[derive(Debug)]
pub struct Row(Vec<(String, String)>);

impl Row {
    pub fn text(&self, column: &str) -> &str {
        let found = self.0.iter().find(|(name, _)| name == column);
        &found.unwrap_or_else(|| panic!("no column {column}")).1
    }

    pub fn number(&self, column: &str) -> i64 {
        self.text(column)
            .parse()
            .unwrap_or_else(|_| panic!("{column} is no number in {self:?}"))
    }

    pub fn is(&self, flow: i64, side: &str) -> bool {
        self.number("flow") == flow && self.text("side") == side
    }
}

impl Lab {
    pub fn new(hosts: &[&str]) -> Self {
        let directory = tempfile::tempdir().expect("temporary directory");
        let subnet = 1 + SUBNETS.fetch_add(1, Ordering::Relaxed);
        let process = 1 + std::process::id() % 250;
        let mut text = "# fabriclab-hosts-1\nhost,address\n".to_owned();
        for (index, host) in hosts.iter().enumerate() {
            text += &format!("{host},127.{process}.{subnet}.{}\n", index + 1);
        }
        std::fs::write(directory.path().join("hosts.csv"), text).expect("write");
        Self {
            directory,
            hosts: hosts.iter().map(|&host| host.to_owned()).collect(),
            // A test that failed says nothing of the next one's lab.
            _playing: PLAYING.lock().unwrap_or_else(PoisonError::into_inner),
        }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    fn inputs(&self, command: &mut Command) {
        command
            .arg("--trace")
            .arg(self.path("trace.csv"))
            .arg("--hosts")
            .arg(self.path("hosts.csv"));
    }

    fn write_trace(&self, rows: &str) {
        self.write_columns(COLUMNS, rows);
    }

    fn write_columns(&self, columns: &str, rows: &str) {
        let text = format!("# fabriclab-trace-1\n{columns}\n{rows}");
        std::fs::write(self.path("trace.csv"), text).expect("write");
    }

    fn start(&self, host: &str, epoch_ns: i64, more: &[&str]) -> Child {
        let mut command = Command::new(env!("CARGO_BIN_EXE_replay"));
        self.inputs(&mut command);
        command
            .args(["--bind", "--host", host, "--log"])
            .arg(self.path(host))
            .arg("--rendezvous")
            .arg(self.path("meet"))
            .args(more)
            .stderr(File::create(self.said_by(host)).expect("file"));
        command.env("FABRICLAB_EPOCH_NS", epoch_ns.to_string());
        command.spawn().expect("replay starts")
    }

    fn said_by(&self, host: &str) -> PathBuf {
        self.path(&format!("{host}.stderr"))
    }

    /// Plays until all have ended in the way that `end` makes them; again, with a later epoch, if one was not ready in
    /// time.
    fn play_in_time(
        &self,
        hosts: &[String],
        more: &[&str],
        end: impl Fn(&mut [Child]),
    ) -> Vec<Row> {
        let is_late = |host: &String| {
            let said = std::fs::read_to_string(self.said_by(host)).expect("file");
            eprint!("{said}");
            said.contains(LATE)
        };
        for lead_ns in LEADS_NS {
            let mut processes = self.start_each(hosts, lead_ns, more);
            end(&mut processes);
            for mut process in processes {
                assert!(process.wait().expect("wait").success());
            }
            if !hosts.iter().any(is_late) {
                return hosts.iter().flat_map(|host| self.read_log(host)).collect();
            }
        }
        panic!("this host is too busy to start a process within {LEADS_NS:?} ns")
    }

    fn read_log(&self, host: &str) -> Vec<Row> {
        rows_of(&std::fs::read_to_string(self.path(host)).expect("log"))
    }

    /// What a host that still plays has logged: its last line may not be whole yet, nor its first.
    fn read_open_log(&self, host: &str) -> Vec<Row> {
        let text = std::fs::read_to_string(self.path(host)).unwrap_or_default();
        let whole = &text[..text.rfind('\n').map_or(0, |end| end + 1)];
        match whole.lines().count() {
            0 | 1 => vec![],
            _ => rows_of(whole),
        }
    }

    fn start_each(&self, hosts: &[String], lead_ns: i64, more: &[&str]) -> Vec<Child> {
        let meet = self.path("meet");
        if meet.exists() {
            std::fs::remove_dir_all(&meet).expect("directory");
        }
        std::fs::create_dir(&meet).expect("directory");
        for host in hosts {
            // The log of an attempt that was late is not to be taken for this one's.
            _ = std::fs::remove_file(self.path(host));
        }
        let epoch_ns = monotonic_ns() + lead_ns;
        let start = |host: &String| self.start(host, epoch_ns, more);
        hosts.iter().map(start).collect()
    }

    /// Plays on all hosts until each has ended by itself.
    pub fn play(&self, rows: &str) -> Vec<Row> {
        self.play_columns(COLUMNS, rows)
    }

    /// Plays a trace with other columns than most.
    pub fn play_columns(&self, columns: &str, rows: &str) -> Vec<Row> {
        self.write_columns(columns, rows);
        self.play_in_time(&self.hosts, &[], |_| ())
    }

    pub fn play_until(&self, rows: &str, until_ns: i64) -> Vec<Row> {
        self.write_trace(rows);
        self.play_in_time(&self.hosts, &["--until-ns", &until_ns.to_string()], |_| ())
    }

    /// Plays on some hosts; the others are not there.
    pub fn play_on(&self, hosts: &[&str], rows: &str) -> Vec<Row> {
        self.write_trace(rows);
        let hosts: Vec<_> = hosts.iter().map(|&host| host.to_owned()).collect();
        self.play_in_time(&hosts, &[], |_| ())
    }

    /// Plays, and sends SIGTERM to all when each host's log has a flow's completion.
    pub fn play_and_terminate(&self, rows: &str, flow: i64) -> Vec<Row> {
        self.play_and_signal(rows, flow, &vec!["-TERM"; self.hosts.len()])
    }

    /// Plays, and when each host's log has a flow's completion sends one host after another its signal: the next when
    /// this one has ended.
    pub fn play_and_signal(&self, rows: &str, flow: i64, signals: &[&str]) -> Vec<Row> {
        self.write_trace(rows);
        self.play_in_time(&self.hosts, &[], |processes| {
            self.wait_for_flow(processes, flow);
            for (process, signal) in processes.iter_mut().zip(signals) {
                let status = Command::new("kill")
                    .args([*signal, &process.id().to_string()])
                    .status()
                    .expect("kill");
                assert!(status.success());
                process.wait().expect("wait");
            }
        })
    }

    fn wait_for_flow(&self, processes: &mut [Child], flow: i64) {
        let logged = |host: &String| {
            let rows = self.read_open_log(host);
            rows.iter().any(|row| row.number("flow") == flow)
        };
        while !self.hosts.iter().all(logged) {
            for process in processes.iter_mut() {
                assert_eq!(
                    process.try_wait().expect("wait"),
                    None,
                    "a process ended by itself"
                );
            }
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
    }

    /// Exit status and standard error of a host that is given no directory to meet the others in.
    pub fn fail(&self, host: &str, columns: &str, rows: &str) -> (Option<i32>, String) {
        self.write_columns(columns, rows);
        let mut command = Command::new(env!("CARGO_BIN_EXE_replay"));
        self.inputs(&mut command);
        command.args(["--bind", "--host", host, "--log"]);
        command.arg(self.path(host));
        command.env("FABRICLAB_EPOCH_NS", monotonic_ns().to_string());
        let output = command.output().expect("replay starts");
        let message = String::from_utf8_lossy(&output.stderr).into_owned();
        (output.status.code(), message)
    }

    /// Exit status and standard error of `replay check`.
    pub fn check(&self, rows: &str) -> (Option<i32>, String) {
        self.write_trace(rows);
        let mut command = Command::new(env!("CARGO_BIN_EXE_replay"));
        command.arg("check");
        self.inputs(&mut command);
        let output = command
            .stdout(Stdio::null())
            .output()
            .expect("replay starts");
        (
            output.status.code(),
            String::from_utf8_lossy(&output.stderr).into_owned(),
        )
    }
}

/// The rows of a log that is whole.
fn rows_of(text: &str) -> Vec<Row> {
    let mut lines = text.lines();
    assert_eq!(lines.next(), Some("# fabriclab-flows-2"));
    let columns: Vec<_> = lines.next().expect("column names").split(',').collect();
    let row = |line: &str| {
        Row(columns
            .iter()
            .map(|&column| column.to_owned())
            .zip(line.split(',').map(str::to_owned))
            .collect())
    };
    lines.map(row).collect()
}

/// CLOCK_MONOTONIC; the standard library's clock does not show its value.
fn monotonic_ns() -> i64 {
    let now = clock_gettime(ClockId::CLOCK_MONOTONIC).unwrap();
    now.num_nanoseconds()
}
