//! The namespaces of the machine and of its nodes: making them, and working inside.

use std::fs::File;
use std::io::Read;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};

use nix::fcntl::OFlag;
use nix::mount::{mount, MsFlags};
use nix::sched::{setns, CloneFlags};
use nix::sys::signal::{signal, SigHandler, Signal};
use nix::unistd::{pipe2, sethostname, write, Pid};

use crate::failure::{Context, Failure, Result};
use crate::mounts;

/// Room for a node's first process; mounting needs little of it.
const STACK_BYTES: usize = 128 * 1024;
const NAMESPACES: libc::c_int =
    libc::CLONE_NEWNET | libc::CLONE_NEWNS | libc::CLONE_NEWUTS | libc::CLONE_NEWPID;

/// The machine's own namespaces, to come back to.
pub struct Machine {
    net: File,
    mount: File,
    uts: File,
    pid: File,
    /// Batch files go to the real tools, always: to compare what they do with what PID 1 does.
    pub batch_by_tools: bool,
}

/// A node: its first process, which does nothing but keep the namespaces and reap what is left to it.
pub struct Node {
    pub name: String,
    pub pid: Pid,
    pidfd: OwnedFd,
}

impl Machine {
    pub fn open(batch_by_tools: bool) -> Result<Self> {
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
    pub fn create(name: &str) -> Result<Self> {
        let node = start_first_process(name).map_err(|failure| failure.in_node(name))?;
        node.name_network_namespace()
            .map_err(|failure| failure.in_node(name))?;
        Ok(node)
    }

    pub fn pidfd(&self) -> RawFd {
        self.pidfd.as_raw_fd()
    }

    /// The node's network namespace, for netlink.
    pub fn open_network_namespace(&self) -> Result<File> {
        let path = format!("/proc/{}/ns/net", self.pid);
        File::open(&path).context(|| format!("open {path}"))
    }

    fn name_network_namespace(&self) -> Result<()> {
        let target = format!("{}/{}", mounts::NETNS_DIRECTORY, self.name);
        File::create(&target).context(|| format!("make {target}"))?;
        let source = format!("/proc/{}/ns/net", self.pid);
        mount(
            Some(source.as_str()),
            target.as_str(),
            None::<&str>,
            MsFlags::MS_BIND,
            None::<&str>,
        )
        .context(|| format!("mount {target}"))
    }
}

/// What a node's first process needs and what it has to say; lives in the memory that it shares with PID 1.
struct Start<'a> {
    name: &'a str,
    ready: RawFd,
    result: Result<()>,
}

fn start_first_process(name: &str) -> Result<Node> {
    let (done, ready) = pipe2(OFlag::O_CLOEXEC).context(|| "make a pipe".to_owned())?;
    // The process stays on this stack for good.
    let stack = Box::leak(vec![0_u64; STACK_BYTES / 8].into_boxed_slice());
    let mut start = Start {
        name,
        ready: ready.as_raw_fd(),
        result: Err(Failure::new("the node's first process died")),
    };
    let mut pidfd: RawFd = -1;
    // SAFETY: the stack is fresh and never freed. `start` outlives every use by the process: PID 1 waits below until it has closed `ready`,
    // after which it touches no memory but its stack. CLONE_VM spares a copy of PID 1's memory and, in User-Mode Linux, a host process.
    let pid = unsafe {
        libc::clone(
            first_process,
            stack.as_mut_ptr_range().end.cast(),
            libc::CLONE_VM | libc::CLONE_PIDFD | NAMESPACES | libc::SIGCHLD,
            (&raw mut start).cast(),
            &raw mut pidfd,
        )
    };
    if pid < 0 {
        return Err(nix::errno::Errno::last()).context(|| "make namespaces".to_owned());
    }
    drop(ready);
    // SAFETY: CLONE_PIDFD has just made it, and nobody else knows it.
    let pidfd = unsafe { OwnedFd::from_raw_fd(pidfd) };
    // One byte, or the end of the pipe when the process has died.
    let _ = File::from(done).read(&mut [0]);
    start.result?;
    Ok(Node {
        name: name.to_owned(),
        pid: Pid::from_raw(pid),
        pidfd,
    })
}

extern "C" fn first_process(argument: *mut libc::c_void) -> libc::c_int {
    // SAFETY: it is the `start` of start_first_process, which waits.
    let start = unsafe { &mut *argument.cast::<Start>() };
    start.result = set_up_node(start.name);
    let ready = start.ready;
    // SAFETY: the descriptor is this process's own copy and open; PID 1 goes on now, `start` must not be touched any more.
    let _ = write(unsafe { std::os::fd::BorrowedFd::borrow_raw(ready) }, &[1]);
    loop {
        // SAFETY: pause has no arguments. It returns only after a signal handler, and there is none.
        unsafe { libc::syscall(libc::SYS_pause) };
    }
}

fn set_up_node(name: &str) -> Result<()> {
    // Ignoring it reaps the processes that their parents left behind.
    // SAFETY: no handler is installed.
    unsafe { signal(Signal::SIGCHLD, SigHandler::SigIgn) }
        .context(|| "ignore SIGCHLD".to_owned())?;
    sethostname(name).context(|| format!("set the host name {name}"))?;
    mounts::enter_node_root()
}
