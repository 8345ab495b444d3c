//! Starting programs in the machine or in a node.

use std::ffi::CString;
use std::fs::{self, File};
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::path::Path;

use nix::errno::Errno;
use nix::unistd::Pid;

use crate::failure::{Context, Failure, Result};
use crate::namespace::{Machine, Node};

const PATH: &str = "/usr/sbin:/usr/bin:/sbin:/bin:/tools";
const STACK_BYTES: usize = 64 * 1024;
/// Of our kernel, drivers/char/random.c (`kernel/patches/*/*-who-watches-draws-alone.patch`); it outlives execve(2).
const PERSONALITY_WATCHES: libc::c_ulong = 0x1000_0000;
const NODE_NAMESPACES: libc::c_int = libc::CLONE_NEWNET | libc::CLONE_NEWNS | libc::CLONE_NEWUTS;

/// Where a program reads and writes.
pub struct Streams {
    pub input: OwnedFd,
    pub output: OwnedFd,
    pub errors: OwnedFd,
}

impl Streams {
    /// No input; output and errors into one file.
    pub fn logged(log: &str) -> Result<Self> {
        let errors = append(log)?;
        let output = errors.try_clone().context(|| format!("open {log}"))?;
        Self::of(output, errors)
    }

    /// No input; output and errors into two files.
    pub fn split(output: &str, log: &str) -> Result<Self> {
        Self::of(create(output)?, create(log)?)
    }

    /// No input; output and errors are thrown away.
    pub fn none() -> Result<Self> {
        let open = || File::create("/dev/null").context(|| "open /dev/null".to_owned());
        Self::of(open()?, open()?)
    }

    fn of(output: File, errors: File) -> Result<Self> {
        let input = File::open("/dev/null").context(|| "open /dev/null".to_owned())?;
        Ok(Self {
            input: input.into(),
            output: output.into(),
            errors: errors.into(),
        })
    }
}

fn create(path: &str) -> Result<File> {
    make_parent(path)?;
    File::create(path).context(|| format!("open {path}"))
}

/// A daemon that starts again adds to what it wrote before.
fn append(path: &str) -> Result<File> {
    make_parent(path)?;
    let mut options = File::options();
    let opened = options.create(true).append(true).open(path);
    opened.context(|| format!("open {path}"))
}

fn make_parent(path: &str) -> Result<()> {
    if let Some(parent) = Path::new(path).parent() {
        fs::create_dir_all(parent).context(|| format!("make {}", parent.display()))?;
    }
    Ok(())
}

/// What a program is to the others.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// It takes part, and draws from the machine's randomness as all do.
    Plays,
    /// It only looks: what it draws is of a stream of its own, so that nobody else's numbers tell whether it is there.
    Watches,
}

/// Starts a program; `node` absent is the machine. `variables` (`NAME=value`) go into its environment.
pub fn start(
    machine: &Machine,
    node: Option<&Node>,
    argv: &[String],
    variables: &[String],
    part: Part,
    streams: &Streams,
) -> Result<Pid> {
    let arguments = argv
        .iter()
        .map(|argument| c_string(argument))
        .collect::<Result<Vec<_>>>()?;
    let variables = environment(node, variables)?;
    let candidates = candidates(&argv[0])?;
    let exec = Exec {
        candidates: pointers(&candidates),
        arguments: pointers(&arguments),
        environment: pointers(&variables),
        descriptors: [
            streams.input.as_raw_fd(),
            streams.output.as_raw_fd(),
            streams.errors.as_raw_fd(),
        ],
        node: node.map_or(-1, Node::pidfd),
        part,
        error: 0,
    };
    let started = match node {
        Some(node) => machine.children_inside(node, || spawn(exec))?,
        None => spawn(exec),
    };
    started.map_err(|errno| Failure::new(format!("start {}: {}", argv[0], errno.desc())))
}

fn environment(node: Option<&Node>, more: &[String]) -> Result<Vec<CString>> {
    let mut variables = vec![c_string(&format!("PATH={PATH}"))?, c_string("HOME=/root")?];
    if let Some(node) = node {
        variables.push(c_string(&format!("FABRICLAB_NODE={}", node.name))?);
    }
    for variable in more {
        variables.push(c_string(variable)?);
    }
    Ok(variables)
}

/// The paths to try, as a shell would.
fn candidates(program: &str) -> Result<Vec<CString>> {
    if program.contains('/') {
        return Ok(vec![c_string(program)?]);
    }
    PATH.split(':')
        .map(|directory| c_string(&format!("{directory}/{program}")))
        .collect()
}

fn c_string(text: &str) -> Result<CString> {
    CString::new(text).map_err(|_| Failure::new(format!("{text:?} holds a NUL")))
}

fn pointers(strings: &[CString]) -> Vec<*const libc::c_char> {
    strings
        .iter()
        .map(|string| string.as_ptr())
        .chain([std::ptr::null()])
        .collect()
}

/// All that the new process needs, made beforehand: between clone and exec it may only make system calls.
struct Exec {
    candidates: Vec<*const libc::c_char>,
    arguments: Vec<*const libc::c_char>,
    environment: Vec<*const libc::c_char>,
    descriptors: [RawFd; 3],
    /// The pidfd of a node's first process, or -1.
    node: RawFd,
    part: Part,
    /// Why it could not be started, or 0.
    error: libc::c_int,
}

/// vfork and exec, as posix_spawn does: a plain fork would copy PID 1's memory and cost a host process more.
fn spawn(mut exec: Exec) -> nix::Result<Pid> {
    let mut stack = vec![0_u64; STACK_BYTES / 8];
    // SAFETY: CLONE_VFORK suspends this process until the new one has left its stack and `exec`, by exec or exit; both live until then.
    let pid = unsafe {
        libc::clone(
            become_program,
            stack.as_mut_ptr_range().end.cast(),
            libc::CLONE_VM | libc::CLONE_VFORK | libc::SIGCHLD,
            (&raw mut exec).cast(),
        )
    };
    let pid = Pid::from_raw(Errno::result(pid)?);
    match exec.error {
        0 => Ok(pid),
        error => {
            // It has exited; nobody else would reap it before its failure is told.
            let _ = nix::sys::wait::waitpid(pid, None);
            Err(Errno::from_raw(error))
        }
    }
}

/// Kills all processes of a node but its first, whoever started them.
pub fn kill_all(machine: &Machine, node: &Node) -> Result<()> {
    let mut stack = vec![0_u64; STACK_BYTES / 8];
    let pid = machine.children_inside(node, || {
        // SAFETY: as in spawn; the new process makes system calls only.
        Errno::result(unsafe {
            libc::clone(
                kill_others,
                stack.as_mut_ptr_range().end.cast(),
                libc::CLONE_VM | libc::CLONE_VFORK | libc::SIGCHLD,
                std::ptr::null_mut(),
            )
        })
    })?;
    let killed = pid.and_then(|pid| nix::sys::wait::waitpid(Pid::from_raw(pid), None));
    killed
        .map(drop)
        .context(|| format!("kill the processes of {}", node.name))
}

extern "C" fn kill_others(_: *mut libc::c_void) -> libc::c_int {
    // SAFETY: no pointers. All that this process sees, which is its node's, but itself and the first. That there are none is no error.
    unsafe { libc::kill(-1, libc::SIGKILL) };
    0
}

extern "C" fn become_program(argument: *mut libc::c_void) -> libc::c_int {
    // SAFETY: it is spawn's `exec`; spawn is suspended.
    let exec = unsafe { &mut *argument.cast::<Exec>() };
    // SAFETY: system calls on valid descriptors and zero-terminated arrays of zero-terminated strings only; no allocation, no lock.
    unsafe {
        if exec.node >= 0 && libc::setns(exec.node, NODE_NAMESPACES) != 0 {
            exec.error = *libc::__errno_location();
            return 127;
        }
        libc::setsid();
        if exec.part == Part::Watches {
            // Any bits are accepted, by kernels to which this one says nothing too.
            libc::personality(PERSONALITY_WATCHES);
        }
        let mut none: libc::sigset_t = std::mem::zeroed();
        libc::sigemptyset(&raw mut none);
        libc::sigprocmask(libc::SIG_SETMASK, &raw const none, std::ptr::null_mut());
        libc::signal(libc::SIGPIPE, libc::SIG_DFL);
        for (number, descriptor) in exec.descriptors.iter().enumerate() {
            if libc::dup2(*descriptor, number as RawFd) < 0 {
                exec.error = *libc::__errno_location();
                return 127;
            }
        }
        exec.error = exec_first(exec);
    }
    127
}

/// Tries one path after another; returns why the last one failed (a refusal counts for more than an absence).
///
/// # Safety
/// `exec` holds valid arrays.
unsafe fn exec_first(exec: &Exec) -> libc::c_int {
    let mut error = libc::ENOENT;
    for candidate in &exec.candidates[..exec.candidates.len() - 1] {
        // SAFETY: the caller's promise.
        let errno = unsafe {
            libc::execve(
                *candidate,
                exec.arguments.as_ptr(),
                exec.environment.as_ptr(),
            );
            *libc::__errno_location()
        };
        if errno != libc::ENOENT && errno != libc::ENOTDIR {
            error = errno;
        }
    }
    error
}
