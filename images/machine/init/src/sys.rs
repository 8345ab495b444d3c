//! The system calls that neither the standard library nor nix has a safe function for. All unsafe code of PID 1 is
//! here.
//!
//! PID 1 has one thread. That is why code may run in a process that shares its memory: while PID 1 waits, it is as if
//! PID 1 ran it.

use std::ffi::CString;
use std::fs::File;
use std::io::Read;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};

use nix::errno::Errno;
use nix::fcntl::OFlag;
use nix::sched::CloneFlags;
use nix::sys::signal::{signal, SigHandler, Signal};
use nix::unistd::{pipe2, Pid};

/// For work between vfork and exec.
const BORROWED_STACK_BYTES: usize = 64 * 1024;
/// For a node's first process; mounting needs little of it.
const KEEPER_STACK_BYTES: usize = 128 * 1024;

/// What a process does that begins with the memory of PID 1, and what is to be told of it.
struct Beginning<Work, Told> {
    work: Option<Work>,
    told: Option<Told>,
    ready: RawFd,
}

/// Keeps a capability from all programs that this process or its children become (PR_CAPBSET_DROP). One that the kernel
/// does not know, nobody has.
pub fn drop_for_programs(capability: u8) -> nix::Result<()> {
    // SAFETY: the call takes no memory.
    let result = unsafe {
        libc::prctl(
            libc::PR_CAPBSET_DROP,
            libc::c_ulong::from(capability),
            0 as libc::c_ulong,
            0 as libc::c_ulong,
            0 as libc::c_ulong,
        )
    };
    match Errno::result(result) {
        Err(Errno::EINVAL) => Ok(()),
        result => result.map(drop),
    }
}

/// Does `work` in a new process, in PID 1's own memory: a plain fork would copy it and cost a host process more. PID 1
/// waits until the process has become another program or ended, with the status that `work` returns.
pub fn vfork<Work: FnOnce() -> libc::c_int>(work: Work) -> nix::Result<Pid> {
    extern "C" fn run<Work: FnOnce() -> libc::c_int>(argument: *mut libc::c_void) -> libc::c_int {
        // SAFETY: it is the `beginning` below, whose owner is suspended.
        let beginning = unsafe { &mut *argument.cast::<Beginning<Work, ()>>() };
        beginning.work.take().map_or(0, |work| work())
    }
    let mut stack = vec![0_u64; BORROWED_STACK_BYTES / 8];
    let mut beginning = Beginning {
        work: Some(work),
        told: None::<()>,
        ready: -1,
    };
    // SAFETY: CLONE_VFORK suspends this process until the new one has left its stack and `beginning`, by exec or exit;
    // both live until then. There is no other thread that could hold a lock.
    let pid = unsafe {
        libc::clone(
            run::<Work>,
            stack.as_mut_ptr_range().end.cast(),
            libc::CLONE_VM | libc::CLONE_VFORK | libc::SIGCHLD,
            (&raw mut beginning).cast(),
        )
    };
    Errno::result(pid).map(Pid::from_raw)
}

/// Starts a process with new namespaces that does `set_up` and then nothing but keep them. Returns its number, its
/// pidfd, and what `set_up` returned; `None`: it died before. CLONE_VM spares a copy of PID 1's memory and, in
/// User-Mode Linux, a host process.
pub fn start_keeper<Told, SetUp: FnOnce() -> Told>(
    namespaces: CloneFlags,
    set_up: SetUp,
) -> nix::Result<(Pid, OwnedFd, Option<Told>)> {
    let (done, ready) = pipe2(OFlag::O_CLOEXEC)?;
    // The process stays on this stack for good.
    let stack = Box::leak(vec![0_u64; KEEPER_STACK_BYTES / 8].into_boxed_slice());
    let mut beginning = Beginning {
        work: Some(set_up),
        told: None,
        ready: ready.as_raw_fd(),
    };
    let mut pidfd: RawFd = -1;
    // SAFETY: the stack is fresh and never freed. `beginning` outlives every use by the process: PID 1 waits below
    // until it has written to `ready`, after which it touches no memory but its stack, or has ended.
    let pid = unsafe {
        libc::clone(
            keep::<Told, SetUp>,
            stack.as_mut_ptr_range().end.cast(),
            libc::CLONE_VM | libc::CLONE_PIDFD | libc::SIGCHLD | namespaces.bits(),
            (&raw mut beginning).cast(),
            &raw mut pidfd,
        )
    };
    let pid = Errno::result(pid).map(Pid::from_raw)?;
    drop(ready);
    // SAFETY: CLONE_PIDFD has just made it, and nobody else knows it.
    let pidfd = unsafe { OwnedFd::from_raw_fd(pidfd) };
    // One byte, or the end of the pipe when the process has died.
    let _ = File::from(done).read(&mut [0]);
    Ok((pid, pidfd, beginning.told))
}

extern "C" fn keep<Told, SetUp: FnOnce() -> Told>(argument: *mut libc::c_void) -> libc::c_int {
    // SAFETY: it is the `beginning` of start_keeper, which waits.
    let beginning = unsafe { &mut *argument.cast::<Beginning<SetUp, Told>>() };
    beginning.told = beginning.work.take().map(|set_up| set_up());
    let ready = beginning.ready;
    // SAFETY: the descriptor is this process's own copy and open. PID 1 goes on now: `beginning` must not be touched
    // any more.
    unsafe { libc::write(ready, [1_u8].as_ptr().cast(), 1) };
    loop {
        // SAFETY: pause has no arguments. It returns only after a signal handler, and there is none.
        unsafe { libc::syscall(libc::SYS_pause) };
    }
}

/// A program to become, made beforehand: what is allocated between vfork and exec nobody frees.
pub struct Program {
    /// The paths to try, one after another.
    candidates: Vec<CString>,
    arguments: Pointers,
    environment: Pointers,
}

impl Program {
    pub fn new(
        candidates: Vec<CString>,
        arguments: Vec<CString>,
        environment: Vec<CString>,
    ) -> Self {
        Self {
            candidates,
            arguments: Pointers::new(arguments),
            environment: Pointers::new(environment),
        }
    }

    /// Replaces this process; returns why the last path failed (a refusal counts for more than an absence).
    pub fn exec(&self) -> Errno {
        let mut error = Errno::ENOENT;
        for candidate in &self.candidates {
            let (arguments, environment) = (&self.arguments.list, &self.environment.list);
            // SAFETY: both lists are of zero-terminated strings, which live beside them, and end with a null pointer.
            unsafe { libc::execve(candidate.as_ptr(), arguments.as_ptr(), environment.as_ptr()) };
            let errno = Errno::last();
            if errno != Errno::ENOENT && errno != Errno::ENOTDIR {
                error = errno;
            }
        }
        error
    }
}

/// Strings as execve(2) wants them.
struct Pointers {
    list: Vec<*const libc::c_char>,
    /// What the list points to; a string's bytes stay where they are when it moves.
    _strings: Vec<CString>,
}

impl Pointers {
    fn new(strings: Vec<CString>) -> Self {
        let pointers = strings.iter().map(|string| string.as_ptr());
        Self {
            list: pointers.chain([std::ptr::null()]).collect(),
            _strings: strings,
        }
    }
}

/// Ignores a signal, or leaves it to the kernel's default. An ignored SIGCHLD reaps processes that their parents left
/// behind.
pub fn set_ignored(which: Signal, ignored: bool) -> nix::Result<()> {
    let action = match ignored {
        true => SigHandler::SigIgn,
        false => SigHandler::SigDfl,
    };
    // SAFETY: no handler is installed, and none is replaced.
    unsafe { signal(which, action) }.map(drop)
}

/// From now on this process runs only when no other one is to.
pub fn yield_to_all() -> nix::Result<()> {
    set_scheduler(libc::SCHED_IDLE, 0)
}

/// From now on this process and its children run when it is their turn: not before those of the kind that were woken
/// before them. One that never waits is interrupted in the end.
pub fn run_in_turn() -> nix::Result<()> {
    set_scheduler(libc::SCHED_RR, 1)
}

/// From now on this process runs before all others that are due at an instant; its children do not.
pub fn run_first() -> nix::Result<()> {
    set_scheduler(libc::SCHED_FIFO | libc::SCHED_RESET_ON_FORK, 2)
}

fn set_scheduler(policy: libc::c_int, priority: libc::c_int) -> nix::Result<()> {
    let priority = libc::sched_param {
        sched_priority: priority,
    };
    // SAFETY: the kernel reads `priority`, which outlives the call.
    let returned = unsafe { libc::sched_setscheduler(0, policy, &raw const priority) };
    Errno::result(returned).map(drop)
}

/// A descriptor that becomes readable when the process ends.
pub fn open_pidfd(pid: Pid) -> nix::Result<OwnedFd> {
    // SAFETY: the call has two integers for arguments.
    let returned = unsafe { libc::syscall(libc::SYS_pidfd_open, pid.as_raw(), 0) };
    let descriptor = Errno::result(returned)?;
    // SAFETY: it is new and nobody else knows it.
    Ok(unsafe { OwnedFd::from_raw_fd(descriptor as RawFd) })
}

/// Makes a terminal the one that controls this process's session, which it leads and which has none yet.
pub fn take_terminal(terminal: &OwnedFd) -> nix::Result<()> {
    // SAFETY: the request's argument is a number.
    let result = unsafe { libc::ioctl(terminal.as_raw_fd(), libc::TIOCSCTTY, 0) };
    Errno::result(result).map(drop)
}

/// Tells a terminal how large it is; whoever is in its foreground gets SIGWINCH.
pub fn set_window_size(terminal: &OwnedFd, rows: u16, columns: u16) -> nix::Result<()> {
    let size = libc::winsize {
        ws_row: rows,
        ws_col: columns,
        ws_xpixel: 0,
        ws_ypixel: 0,
    };
    // SAFETY: the request's argument points to a size that outlives the call.
    let result = unsafe { libc::ioctl(terminal.as_raw_fd(), libc::TIOCSWINSZ, &raw const size) };
    Errno::result(result).map(drop)
}

/// Makes virtual time stand still until the host lets it go on: include/uapi/linux/fabriclab_live.h, LIVE_IOC_STOP.
pub fn stop_time(device: &File) -> nix::Result<()> {
    let request = nix::request_code_none!(b'f', 1);
    // SAFETY: the request has no argument.
    let result = unsafe { libc::ioctl(device.as_raw_fd(), request) };
    Errno::result(result).map(drop)
}

/// Says that the next node of the host's looks is the one of this process: LIVE_IOC_NODE of the same header.
pub fn name_node(device: &File, process: Pid) -> nix::Result<()> {
    let request = nix::request_code_none!(b'f', 2);
    // SAFETY: the request's argument is a number.
    let result = unsafe { libc::ioctl(device.as_raw_fd(), request, process.as_raw()) };
    Errno::result(result).map(drop)
}

/// Linux, include/uapi/linux/ethtool.h: `struct ethtool_value`.
#[repr(C)]
struct EthtoolValue {
    command: u32,
    value: u32,
}

/// Linux, include/uapi/linux/ethtool.h: `struct ethtool_coalesce`.
#[repr(C)]
struct EthtoolCoalesce {
    command: u32,
    rx_coalesce_usecs: u32,
    between: [u32; 8],
    use_adaptive_rx_coalesce: u32,
    others: [u32; 12],
}

/// Linux, include/uapi/linux/ethtool.h: `struct ethtool_channels`.
#[repr(C)]
#[derive(Default)]
struct EthtoolChannels {
    command: u32,
    most: [u32; 4],
    rx_count: u32,
    tx_count: u32,
    other_count: u32,
    combined_count: u32,
}

const ETHTOOL_SCOALESCE: u32 = 0x0f;
const ETHTOOL_SCHANNELS: u32 = 0x3d;

/// Gives a command of ethtool a number, for an interface of the network namespace that `socket` was opened in.
pub fn ethtool(socket: &OwnedFd, interface: &str, command: u32, value: u32) -> nix::Result<()> {
    ethtool_request(socket, interface, &mut EthtoolValue { command, value })
}

/// `ethtool -L INTERFACE rx COUNT`; the interface is down, and has one transmit queue.
pub fn ethtool_receive_queues(socket: &OwnedFd, interface: &str, count: u32) -> nix::Result<()> {
    let mut request = EthtoolChannels {
        command: ETHTOOL_SCHANNELS,
        rx_count: count,
        tx_count: 1,
        ..EthtoolChannels::default()
    };
    ethtool_request(socket, interface, &mut request)
}

/// `ethtool -C INTERFACE rx-usecs US`
pub fn ethtool_interrupt_delay(socket: &OwnedFd, interface: &str, us: u32) -> nix::Result<()> {
    set_coalescing(socket, interface, us, false)
}

/// `ethtool -C INTERFACE adaptive-rx on`
pub fn ethtool_adaptive_interrupts(socket: &OwnedFd, interface: &str) -> nix::Result<()> {
    set_coalescing(socket, interface, 0, true)
}

fn set_coalescing(socket: &OwnedFd, interface: &str, us: u32, adaptive: bool) -> nix::Result<()> {
    let mut request = EthtoolCoalesce {
        command: ETHTOOL_SCOALESCE,
        rx_coalesce_usecs: us,
        between: [0; 8],
        use_adaptive_rx_coalesce: adaptive.into(),
        others: [0; 12],
    };
    ethtool_request(socket, interface, &mut request)
}

fn ethtool_request<T>(socket: &OwnedFd, interface: &str, request: &mut T) -> nix::Result<()> {
    let mut name = [0; libc::IF_NAMESIZE];
    for (to, from) in name[..libc::IF_NAMESIZE - 1]
        .iter_mut()
        .zip(interface.bytes())
    {
        *to = from as libc::c_char;
    }
    let mut interface_request = libc::ifreq {
        ifr_name: name,
        ifr_ifru: libc::__c_anonymous_ifr_ifru {
            ifru_data: (request as *mut T).cast(),
        },
    };
    // SAFETY: the request names an interface and points to one of ethtool's structures; both outlive the call.
    let result = unsafe {
        libc::ioctl(
            socket.as_raw_fd(),
            libc::SIOCETHTOOL,
            &raw mut interface_request,
        )
    };
    Errno::result(result).map(drop)
}
