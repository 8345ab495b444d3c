//! Watches processes: starts them with their logs, reaps them, ends them.

use std::collections::BTreeMap;

use nix::errno::Errno;
use nix::poll::{ppoll, PollFd, PollFlags};
use nix::sys::signal::{kill, SigSet, Signal};
use nix::sys::signalfd::{SfdFlags, SignalFd};
use nix::sys::time::TimeSpec;
use nix::sys::wait::{waitpid, WaitPidFlag, WaitStatus};
use nix::unistd::Pid;
use std::os::fd::{AsFd, BorrowedFd};

use crate::clock;
use crate::events;
use crate::failure::{Context, Failure, Result};
use crate::job::{Program, JOB};
use crate::lab::Lab;
use crate::process::{self, Part, Streams};

/// How long a process may take after SIGTERM before it is killed, virtual time.
pub const GRACE_NS: i64 = 2_000_000_000;

/// How long traffic of a node that loses its power may take to write down what became of its flows. Work takes no
/// virtual time.
const DYING_NS: i64 = 1_000_000;
/// Ends the TCP connections of a node: without a process some would live on in its kernel, which a real node loses too.
const FORGET_CONNECTIONS: [&str; 4] = ["ss", "--kill", "--all", "--tcp"];

/// What daemons find otherwise than on stock Linux: how long they wait, what they are told of (`preload/daemons.c`).
const DAEMONS_PRELOAD: &str = "/tools/daemons.so";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    Daemon,
    /// Sets a node up as its own files say: how it ends is told, and fails nothing.
    Setup,
    Probe,
    Traffic,
    /// Runs beside the traffic and ends with it, or before.
    Disturbance,
    Collector,
    /// Does what a loss of power does to a node.
    Power,
    /// A node's first process.
    Node,
    /// Somebody's, in a live lab: how it ends is nobody else's concern.
    Session,
}

struct Process {
    name: String,
    node: Option<String>,
    role: Role,
    /// Its node loses its power, or somebody asked for its end: it ends as it must.
    is_halted: bool,
}

/// A process that has ended.
pub struct Ended {
    pub pid: Pid,
    pub name: String,
    pub node: Option<String>,
    pub role: Role,
    /// `exit N` or `signal N`.
    pub status: String,
    is_halted: bool,
}

impl Ended {
    pub fn succeeded(&self) -> bool {
        self.is_halted || self.role == Role::Setup || self.status == "exit 0"
    }

    pub fn failure(&self) -> Failure {
        let failure = match self.role {
            Role::Node => Failure::new(format!(
                "the first process of the node died ({})",
                self.status
            )),
            _ => Failure::new(format!(
                "{} ended with {}; its output is in logs/{}.log",
                self.name, self.status, self.name
            )),
        };
        Failure {
            node: self.node.clone(),
            ..failure
        }
    }
}

pub struct Supervisor {
    children: BTreeMap<Pid, Process>,
    signals: SignalFd,
}

/// What a program finds in its environment beside its node's name.
fn variables(role: Role, epoch_ns: Option<i64>) -> Vec<String> {
    let epoch = epoch_ns.map(|epoch_ns| format!("FABRICLAB_EPOCH_NS={epoch_ns}"));
    let preload = (role == Role::Daemon).then(|| format!("LD_PRELOAD={DAEMONS_PRELOAD}"));
    epoch.into_iter().chain(preload).collect()
}

fn part(role: Role) -> Part {
    match role {
        Role::Probe => Part::Watches,
        Role::Daemon => Part::PlaysInTurn,
        _ => Part::Plays,
    }
}

impl Supervisor {
    pub fn new() -> Result<Self> {
        let mut mask = SigSet::empty();
        mask.add(Signal::SIGCHLD);
        mask.thread_block().context(|| "block SIGCHLD".to_owned())?;
        let signals = SignalFd::with_flags(&mask, SfdFlags::SFD_NONBLOCK | SfdFlags::SFD_CLOEXEC)
            .context(|| "open a signalfd".to_owned())?;
        Ok(Self {
            children: BTreeMap::new(),
            signals,
        })
    }

    pub fn watch_nodes(&mut self, lab: &Lab) {
        for node in lab.nodes() {
            self.adopt(node.pid, &node.name, Some(&node.name), Role::Node);
        }
    }

    /// Watches a process that somebody else has started.
    pub fn adopt(&mut self, pid: Pid, name: &str, node: Option<&str>, role: Role) {
        let process = Process {
            name: name.to_owned(),
            node: node.map(str::to_owned),
            role,
            is_halted: false,
        };
        self.children.insert(pid, process);
    }

    /// Starts a program of the job with its log; a collector's output goes to `collect/<name>`. Returns its number.
    pub fn start(
        &mut self,
        lab: &Lab,
        program: &Program,
        role: Role,
        epoch_ns: Option<i64>,
    ) -> Result<Pid> {
        let in_node = |failure: Failure| Failure {
            node: program.node.clone(),
            ..failure
        };
        let log = format!("{JOB}/logs/{}.log", program.name);
        let streams = match role {
            Role::Collector => Streams::split(&format!("{JOB}/collect/{}", program.name), &log),
            _ => Streams::logged(&log),
        }
        .map_err(in_node)?;
        let node = program
            .node
            .as_deref()
            .map(|name| lab.node(name))
            .transpose()?;
        let pid = process::start(
            &lab.machine,
            node,
            &program.argv,
            &variables(role, epoch_ns),
            part(role),
            &streams,
        )
        .map_err(in_node)?;
        self.adopt(pid, &program.name, program.node.as_deref(), role);
        Ok(pid)
    }

    pub fn any(&self, role: Role) -> bool {
        self.children.values().any(|process| process.role == role)
    }

    /// Waits for processes to end, until `deadline_ns` on the machine's clock at the latest; returns those that have
    /// ended.
    pub fn wait(&mut self, deadline_ns: Option<i64>) -> Result<Vec<Ended>> {
        let mut ended = self.reap();
        if ended.is_empty() {
            self.sleep(deadline_ns)?;
            ended = self.reap();
        }
        Ok(ended)
    }

    /// Readable when a process has ended: then `reap` returns it.
    pub fn signals(&self) -> BorrowedFd<'_> {
        self.signals.as_fd()
    }

    /// The process of a name and one of these roles.
    pub fn find(&self, name: &str, roles: &[Role]) -> Option<Pid> {
        let found =
            |(_, process): &(&Pid, &Process)| process.name == name && roles.contains(&process.role);
        self.children.iter().find(found).map(|(pid, _)| *pid)
    }

    /// The names of all processes of these roles.
    pub fn names(&self, roles: &[Role]) -> Vec<&str> {
        let mut names: Vec<&str> = self
            .children
            .values()
            .filter(|process| roles.contains(&process.role))
            .map(|process| process.name.as_str())
            .collect();
        names.sort_unstable();
        names
    }

    /// Sends a process a signal that ends it: how it ends then is no failure.
    pub fn end(&mut self, pid: Pid, signal: Signal) {
        if let Some(process) = self.children.get_mut(&pid) {
            process.is_halted = true;
            // One that has just ended is reaped next.
            let _ = kill(pid, signal);
        }
    }

    /// Ends all processes of a role: SIGTERM, after two virtual seconds SIGKILL. Returns what has ended meanwhile, of
    /// any role.
    pub fn terminate(&mut self, role: Role) -> Result<Vec<Ended>> {
        let mut all = Vec::new();
        for signal in [Signal::SIGTERM, Signal::SIGKILL] {
            self.signal(role, signal);
            all.append(&mut self.wait_for(role, Some(clock::monotonic_ns() + GRACE_NS))?);
        }
        Ok(all)
    }

    /// Waits until no process of the role is left, or until the deadline.
    pub fn wait_for(&mut self, role: Role, deadline_ns: Option<i64>) -> Result<Vec<Ended>> {
        let mut all = Vec::new();
        while self.any(role) && deadline_ns.is_none_or(|deadline| clock::monotonic_ns() < deadline)
        {
            all.append(&mut self.wait(deadline_ns)?);
        }
        Ok(all)
    }

    /// Ends all processes of a node at once, as a loss of power does, and what the kernel keeps of their connections.
    /// Traffic is told before (SIGPWR), so that its log says what became of its flows. Returns what has ended
    /// meanwhile, of any node.
    pub fn halt(&mut self, lab: &Lab, name: &str) -> Result<Vec<Ended>> {
        let node = lab.node(name)?;
        let mut writing = Vec::new();
        for (pid, process) in &mut self.children {
            if process.node.as_deref() == Some(name) && process.role != Role::Node {
                process.is_halted = true;
                if matches!(process.role, Role::Traffic | Role::Disturbance) {
                    writing.push(*pid);
                }
            }
        }
        for pid in &writing {
            let _ = kill(*pid, Signal::SIGPWR);
        }
        let mut ended = self.wait_until_gone(&writing, Some(clock::monotonic_ns() + DYING_NS))?;
        process::kill_all(&lab.machine, node)?;
        let halted = |(pid, process): (&Pid, &Process)| {
            (process.is_halted && process.node.as_deref() == Some(name)).then_some(*pid)
        };
        let left: Vec<Pid> = self.children.iter().filter_map(halted).collect();
        ended.append(&mut self.wait_until_gone(&left, None)?);
        let forget = FORGET_CONNECTIONS.map(str::to_owned);
        let pid = process::start(
            &lab.machine,
            Some(node),
            &forget,
            &[],
            Part::Plays,
            &Streams::none()?,
        )?;
        self.adopt(pid, &format!("ss@{name}"), Some(name), Role::Power);
        ended.append(&mut self.wait_until_gone(&[pid], None)?);
        Ok(ended)
    }

    /// Waits so long, whatever ends meanwhile; a failure of one that may not fail ends the wait.
    pub fn rest(&mut self, duration_ns: i64) -> Result<()> {
        self.rest_until(clock::monotonic_ns() + duration_ns)
    }

    /// The same until an instant of the machine's clock.
    pub fn rest_until(&mut self, deadline_ns: i64) -> Result<()> {
        while clock::monotonic_ns() < deadline_ns {
            let ended = self.wait(Some(deadline_ns))?;
            if let Some(process) = ended.iter().find(|process| !process.succeeded()) {
                return Err(process.failure());
            }
        }
        Ok(())
    }

    pub fn wait_until_gone(
        &mut self,
        pids: &[Pid],
        deadline_ns: Option<i64>,
    ) -> Result<Vec<Ended>> {
        let mut all = Vec::new();
        while pids.iter().any(|pid| self.children.contains_key(pid))
            && deadline_ns.is_none_or(|deadline| clock::monotonic_ns() < deadline)
        {
            all.append(&mut self.wait(deadline_ns)?);
        }
        Ok(all)
    }

    fn signal(&self, role: Role, signal: Signal) {
        for (pid, _) in self
            .children
            .iter()
            .filter(|(_, process)| process.role == role)
        {
            // One that has just ended is reaped next.
            let _ = kill(*pid, signal);
        }
    }

    fn sleep(&self, deadline_ns: Option<i64>) -> Result<()> {
        wait_for_events(
            &mut [PollFd::new(self.signals.as_fd(), PollFlags::POLLIN)],
            deadline_ns,
        )
    }

    /// Collects what has ended. Signals merge, so one of them may stand for many processes.
    pub fn reap(&mut self) -> Vec<Ended> {
        while let Ok(Some(_)) = self.signals.read_signal() {}
        let mut ended = Vec::new();
        loop {
            let (pid, status) = match waitpid(None, Some(WaitPidFlag::WNOHANG)) {
                Ok(WaitStatus::Exited(pid, code)) => (pid, format!("exit {code}")),
                Ok(WaitStatus::Signaled(pid, signal, _)) => {
                    (pid, format!("signal {}", signal as i32))
                }
                Ok(WaitStatus::StillAlive) | Err(_) => return ended,
                Ok(_) => continue,
            };
            // Others are orphans of the machine's programs.
            let Some(process) = self.children.remove(&pid) else {
                continue;
            };
            if !matches!(process.role, Role::Node | Role::Power | Role::Session) {
                events::process(&process.name, status.clone());
            }
            ended.push(Ended {
                pid,
                name: process.name,
                node: process.node,
                role: process.role,
                status,
                is_halted: process.is_halted,
            });
        }
    }
}

/// Waits until one of the events happens, or until `deadline_ns` on the machine's clock.
pub fn wait_for_events(events: &mut [PollFd], deadline_ns: Option<i64>) -> Result<()> {
    let timeout = deadline_ns.map(|deadline| {
        let left = (deadline - clock::monotonic_ns()).max(0);
        TimeSpec::new(left / 1_000_000_000, left % 1_000_000_000)
    });
    match ppoll(events, timeout, None) {
        Ok(_) | Err(Errno::EINTR) => Ok(()),
        Err(errno) => Err(errno).context(|| "wait for a process".to_owned()),
    }
}
