//! The namespaces of the machine and of its nodes: making them, and working inside.

use std::fs::File;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use nix::sched::{setns, CloneFlags};
use nix::sys::signal::Signal;
use nix::unistd::{sethostname, Pid};

use crate::failure::{Context, Failure, Result};
use crate::mounts;
use crate::sys;

const NAMESPACES: CloneFlags = CloneFlags::CLONE_NEWNET
    .union(CloneFlags::CLONE_NEWNS)
    .union(CloneFlags::CLONE_NEWUTS)
    .union(CloneFlags::CLONE_NEWPID);

/// The machine's own namespaces, to come back to.
pub struct Machine {
    net: File,
    mount: File,
    uts: File,
    pid: File,
    /// Batch files go to the real tools, always: to compare what they do with what PID 1 does.
    pub batch_by_tools: bool,
    /// The lab is of wires: who only watches runs when nobody else does, whoever is in this machine.
    pub of_wires: bool,
}

/// A node: its first process, which does nothing but keep the namespaces and reap what is left to it.
pub struct Node {
    pub name: String,
    pub pid: Pid,
    /// `NAME=value`, of every program that is started in it.
    pub environment: Vec<String>,
    pidfd: OwnedFd,
}

impl Machine {
    pub fn open(batch_by_tools: bool, of_wires: bool) -> Result<Self> {
        let open = |kind: &str| {
            File::open(format!("/proc/self/ns/{kind}"))
                .context(|| format!("open the machine's {kind} namespace"))
        };
        Ok(Self {
            net: open("net")?,
            mount: open("mnt")?,
            uts: open("uts")?,
            pid: open("pid")?,
            batch_by_tools,
            of_wires,
        })
    }

    /// Does `work` in some of the node's namespaces (network, mount, UTS).
    pub fn inside<T>(
        &self,
        node: &Node,
        kinds: CloneFlags,
        work: impl FnOnce() -> Result<T>,
    ) -> Result<T> {
        setns(&node.pidfd, kinds).context(|| format!("enter the namespaces of {}", node.name))?;
        let result = work();
        for (kind, file) in [
            (CloneFlags::CLONE_NEWNET, &self.net),
            (CloneFlags::CLONE_NEWUTS, &self.uts),
            (CloneFlags::CLONE_NEWNS, &self.mount),
        ] {
            if kinds.contains(kind) {
                setns(file, kind).context(|| format!("leave the namespaces of {}", node.name))?;
            }
        }
        result
    }

    /// Does `work`; processes that it starts are in the node's PID namespace.
    pub fn children_inside<T>(&self, node: &Node, work: impl FnOnce() -> T) -> Result<T> {
        setns(&node.pidfd, CloneFlags::CLONE_NEWPID)
            .context(|| format!("enter the PID namespace of {}", node.name))?;
        let result = work();
        setns(&self.pid, CloneFlags::CLONE_NEWPID)
            .context(|| format!("leave the PID namespace of {}", node.name))?;
        Ok(result)
    }
}

impl Node {
    /// Makes a node's namespaces and its root, and gives the network namespace its name.
    pub fn create(name: &str, layers: &[String], environment: Vec<String>) -> Result<Self> {
        let mut node =
            start_first_process(name, layers).map_err(|failure| failure.in_node(name))?;
        node.environment = environment;
        mounts::name_network_namespace(name, node.pid).map_err(|failure| failure.in_node(name))?;
        Ok(node)
    }

    pub fn pidfd(&self) -> BorrowedFd<'_> {
        self.pidfd.as_fd()
    }

    /// The node's network namespace, for netlink.
    pub fn open_network_namespace(&self) -> Result<File> {
        let path = format!("/proc/{}/ns/net", self.pid);
        File::open(&path).context(|| format!("open {path}"))
    }
}

fn start_first_process(name: &str, layers: &[String]) -> Result<Node> {
    let (pid, pidfd, result) = sys::start_keeper(NAMESPACES, || set_up_node(name, layers))
        .context(|| "make namespaces".to_owned())?;
    result.unwrap_or_else(|| Err(Failure::new("the node's first process died")))?;
    Ok(Node {
        name: name.to_owned(),
        pid,
        environment: Vec::new(),
        pidfd,
    })
}

fn set_up_node(name: &str, layers: &[String]) -> Result<()> {
    // It reaps the processes that their parents left behind.
    sys::set_ignored(Signal::SIGCHLD, true).context(|| "ignore SIGCHLD".to_owned())?;
    sethostname(name).context(|| format!("set the host name {name}"))?;
    mounts::enter_node_root(layers)
}
