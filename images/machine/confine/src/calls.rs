//! The system calls that the machine's kernel makes of the host, as a filter (seccomp(2)): all others do not exist for
//! it, nor for the processes in which the programs of its nodes run.
//!
//! What they are was read from arch/um of Linux 6.12 and 7.3 with our patches, and from the C libraries that it is
//! linked with. Calls that Landlock does not look at, but that change files of the host by their path (chmod, chown,
//! utimes, setxattr, link, symlink), are not among them.

use std::collections::BTreeMap;

use libc::c_long;
use seccompiler::{
    sock_filter, BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition,
    SeccompFilter, SeccompRule, TargetArch,
};

use crate::failure::{Context, Result};
use crate::files::Bound;

type Rules = BTreeMap<c_long, Vec<SeccompRule>>;

/// Those that nothing outside of the process depends on, or that Landlock looks at.
const ALWAYS: &[c_long] = &[
    // Descriptors that it has.
    libc::SYS_read,
    libc::SYS_write,
    libc::SYS_readv,
    libc::SYS_writev,
    libc::SYS_pread64,
    libc::SYS_pwrite64,
    libc::SYS_lseek,
    libc::SYS_close,
    libc::SYS_close_range,
    libc::SYS_dup,
    libc::SYS_dup2,
    libc::SYS_dup3,
    libc::SYS_poll,
    libc::SYS_ppoll,
    libc::SYS_epoll_create,
    libc::SYS_epoll_create1,
    libc::SYS_epoll_ctl,
    libc::SYS_epoll_wait,
    libc::SYS_epoll_pwait,
    libc::SYS_signalfd,
    libc::SYS_signalfd4,
    libc::SYS_pipe,
    libc::SYS_pipe2,
    libc::SYS_memfd_create,
    libc::SYS_ftruncate,
    libc::SYS_fallocate,
    libc::SYS_fsync,
    libc::SYS_fdatasync,
    libc::SYS_sync,
    // Names of files: what they show of others is that they are there.
    libc::SYS_stat,
    libc::SYS_fstat,
    libc::SYS_lstat,
    libc::SYS_newfstatat,
    libc::SYS_statx,
    libc::SYS_statfs,
    libc::SYS_fstatfs,
    libc::SYS_access,
    libc::SYS_faccessat,
    libc::SYS_faccessat2,
    libc::SYS_readlink,
    libc::SYS_readlinkat,
    libc::SYS_getcwd,
    libc::SYS_getdents64,
    libc::SYS_unlink,
    libc::SYS_unlinkat,
    libc::SYS_rmdir,
    libc::SYS_rename,
    libc::SYS_renameat,
    libc::SYS_renameat2,
    // Memory.
    libc::SYS_mmap,
    libc::SYS_munmap,
    libc::SYS_mprotect,
    libc::SYS_mremap,
    libc::SYS_madvise,
    libc::SYS_brk,
    libc::SYS_futex,
    // Its own processes and their signals.
    libc::SYS_fork,
    libc::SYS_vfork,
    libc::SYS_exit,
    libc::SYS_exit_group,
    libc::SYS_wait4,
    libc::SYS_waitid,
    libc::SYS_kill,
    libc::SYS_rt_sigaction,
    libc::SYS_rt_sigprocmask,
    libc::SYS_rt_sigreturn,
    libc::SYS_rt_sigsuspend,
    libc::SYS_rt_sigtimedwait,
    libc::SYS_rt_sigpending,
    libc::SYS_sigaltstack,
    libc::SYS_restart_syscall,
    libc::SYS_pause,
    libc::SYS_sched_yield,
    libc::SYS_sched_getaffinity,
    libc::SYS_set_tid_address,
    libc::SYS_set_robust_list,
    libc::SYS_rseq,
    libc::SYS_arch_prctl,
    libc::SYS_seccomp,
    libc::SYS_getpid,
    libc::SYS_gettid,
    libc::SYS_getppid,
    libc::SYS_getpgrp,
    libc::SYS_getuid,
    libc::SYS_geteuid,
    libc::SYS_getgid,
    libc::SYS_getegid,
    libc::SYS_umask,
    // Time, and what the host is.
    libc::SYS_clock_gettime,
    libc::SYS_clock_getres,
    libc::SYS_clock_nanosleep,
    libc::SYS_nanosleep,
    libc::SYS_gettimeofday,
    libc::SYS_time,
    libc::SYS_times,
    libc::SYS_getrusage,
    libc::SYS_timer_create,
    libc::SYS_timer_settime,
    libc::SYS_timer_gettime,
    libc::SYS_timer_delete,
    libc::SYS_setitimer,
    libc::SYS_getrandom,
    libc::SYS_uname,
    libc::SYS_sysinfo,
    // A stream socket that it has, or that leads to itself: none of them takes an address.
    libc::SYS_recvmsg,
    libc::SYS_sendmsg,
];

const SETUID_AND_SETGID: u64 = 0o6000;

/// The namespaces that a new process could get (clone(2)).
const NEW_NAMESPACES: u64 = (libc::CLONE_NEWNS
    | libc::CLONE_NEWCGROUP
    | libc::CLONE_NEWUTS
    | libc::CLONE_NEWIPC
    | libc::CLONE_NEWUSER
    | libc::CLONE_NEWPID
    | libc::CLONE_NEWNET) as u64;

/// PTRACE_ATTACH and PTRACE_SEIZE: the kernel traces processes that it started, which ask for it.
const TRACE_OTHERS: [u64; 2] = [16, 0x4206];

/// The filter for the machine's kernel, which will be this very process.
pub fn machine(bound: &Bound) -> Result<BpfProgram> {
    let mut rules: Rules = ALWAYS.iter().map(|call| (*call, Vec::new())).collect();
    rules.extend(with_conditions(*bound)?);
    let filter = SeccompFilter::new(
        rules,
        // As if the host's kernel did not have it: the C library then does without.
        SeccompAction::Errno(libc::ENOSYS.unsigned_abs()),
        SeccompAction::Allow,
        TargetArch::x86_64,
    );
    let program: std::result::Result<BpfProgram, _> = filter.context(wrong_filter)?.try_into();
    program.context(wrong_filter).map(spare_other_architectures)
}

fn wrong_filter() -> String {
    "the filter of system calls".to_owned()
}

/// Those that are allowed with some arguments only.
fn with_conditions(bound: Bound) -> Result<Rules> {
    let own_process = u64::from(std::process::id());
    // Truncated are files by their descriptors; a descriptor for a path alone would show what may not be opened.
    let open_flags = u64::from((libc::O_TRUNC | libc::O_PATH).unsigned_abs());
    let mut rules: Rules = [
        (
            libc::SYS_open,
            rule(&[none(1, open_flags)?, none(2, SETUID_AND_SETGID)?])?,
        ),
        (
            libc::SYS_openat,
            rule(&[none(2, open_flags)?, none(3, SETUID_AND_SETGID)?])?,
        ),
        (libc::SYS_mkdir, rule(&[none(1, SETUID_AND_SETGID)?])?),
        (libc::SYS_mkdirat, rule(&[none(2, SETUID_AND_SETGID)?])?),
        (libc::SYS_clone, rule(&[none(0, NEW_NAMESPACES)?])?),
        (
            libc::SYS_execveat,
            rule(&[is(4, libc::AT_EMPTY_PATH.unsigned_abs().into())?])?,
        ),
        (libc::SYS_personality, rule(&[is(0, 0xffff_ffff)?])?),
        (libc::SYS_prlimit64, rule(&[is(0, 0)?])?),
        (libc::SYS_getrlimit, Vec::new()),
        (libc::SYS_setrlimit, Vec::new()),
        // Its log is a pipe; what asks for a terminal asks this.
        (libc::SYS_ioctl, any(1, &[libc::TCGETS, libc::TIOCGWINSZ])?),
        (
            libc::SYS_socketpair,
            rule(&[
                is(0, libc::AF_UNIX.unsigned_abs().into())?,
                masked(1, 0xf, libc::SOCK_STREAM.unsigned_abs().into())?,
            ])?,
        ),
    ]
    .into_iter()
    .collect();
    rules.insert(libc::SYS_fcntl, fcntl(own_process)?);
    rules.insert(libc::SYS_prctl, prctl()?);
    rules.insert(
        libc::SYS_tgkill,
        if bound.has_signals() {
            Vec::new()
        } else {
            rule(&[is(0, own_process)?])?
        },
    );
    rules.insert(
        libc::SYS_ptrace,
        // Where Landlock looks at it already, it costs nothing here.
        if bound.has_files() {
            Vec::new()
        } else {
            rule(&[not(0, TRACE_OTHERS[0])?, not(0, TRACE_OTHERS[1])?])?
        },
    );
    Ok(rules)
}

/// No locks that others wait for, and signals of a descriptor to itself only.
fn fcntl(own_process: u64) -> Result<Vec<SeccompRule>> {
    let mut rules = any(
        1,
        &[
            libc::F_GETFD,
            libc::F_SETFD,
            libc::F_GETFL,
            libc::F_SETFL,
            libc::F_DUPFD,
            libc::F_DUPFD_CLOEXEC,
            F_SETSIG,
        ]
        .map(|command| u64::from(command.unsigned_abs())),
    )?;
    let owner = is(1, libc::F_SETOWN.unsigned_abs().into())?;
    rules.extend(rule(&[owner, is(2, own_process)?])?);
    Ok(rules)
}

/// fcntl(2).
const F_SETSIG: i32 = 10;

/// It may not outlive who started it, and its programs may not read the host's time stamp counter.
fn prctl() -> Result<Vec<SeccompRule>> {
    let mut rules = any(
        0,
        &[
            libc::PR_SET_NAME,
            libc::PR_SET_NO_NEW_PRIVS,
            libc::PR_SET_TIMERSLACK,
            libc::PR_SET_SECCOMP,
            libc::PR_GET_DUMPABLE,
        ]
        .map(|option| u64::from(option.unsigned_abs())),
    )?;
    let dies = is(0, libc::PR_SET_PDEATHSIG.unsigned_abs().into())?;
    rules.extend(rule(&[dies, is(1, libc::SIGKILL.unsigned_abs().into())?])?);
    let counter = is(0, libc::PR_SET_TSC.unsigned_abs().into())?;
    rules.extend(rule(&[
        counter,
        is(1, libc::PR_TSC_SIGSEGV.unsigned_abs().into())?,
    ])?);
    Ok(rules)
}

/// One rule: all conditions hold.
fn rule(conditions: &[SeccompCondition]) -> Result<Vec<SeccompRule>> {
    SeccompRule::new(conditions.to_vec())
        .context(wrong_filter)
        .map(|rule| vec![rule])
}

/// A rule for each value that an argument may have.
fn any(argument: u8, values: &[u64]) -> Result<Vec<SeccompRule>> {
    let rules = values.iter().map(|value| rule(&[is(argument, *value)?]));
    Ok(rules
        .collect::<Result<Vec<_>>>()?
        .into_iter()
        .flatten()
        .collect())
}

fn is(argument: u8, value: u64) -> Result<SeccompCondition> {
    condition(argument, SeccompCmpOp::Eq, value)
}

fn not(argument: u8, value: u64) -> Result<SeccompCondition> {
    condition(argument, SeccompCmpOp::Ne, value)
}

fn none(argument: u8, bits: u64) -> Result<SeccompCondition> {
    masked(argument, bits, 0)
}

fn masked(argument: u8, mask: u64, value: u64) -> Result<SeccompCondition> {
    condition(argument, SeccompCmpOp::MaskedEq(mask), value)
}

/// The calls take `int`s, of which the kernel reads the lower half of a register.
fn condition(argument: u8, operation: SeccompCmpOp, value: u64) -> Result<SeccompCondition> {
    SeccompCondition::new(argument, SeccompCmpArgLen::Dword, operation, value).context(wrong_filter)
}

/// A call of another architecture (`int 0x80`) fails as others do. The library would kill the process: then a program
/// in a node would end another way under seccomp than under ptrace, where the kernel sees the call first.
fn spare_other_architectures(mut program: BpfProgram) -> BpfProgram {
    for instruction in &mut program {
        if instruction.code == RETURN && instruction.k == libc::SECCOMP_RET_KILL_PROCESS {
            instruction.k = libc::SECCOMP_RET_ERRNO | libc::ENOSYS.unsigned_abs();
        }
    }
    program
}

/// BPF_RET | BPF_K.
const RETURN: u16 = 0x06;

/// Whether this host's kernel has filters, and they are not filtered themselves.
pub fn are_supported() -> bool {
    let mut action: u32 = libc::SECCOMP_RET_ERRNO;
    // SAFETY: the call reads four bytes, which live until it returns.
    let answer = unsafe {
        libc::syscall(
            libc::SYS_seccomp,
            libc::SECCOMP_GET_ACTION_AVAIL,
            0,
            &raw mut action,
        )
    };
    answer == 0
}

/// Binds this process, and all that it starts. Without the host's measures against attacks that filtered processes may
/// fear from what they run themselves: they would slow it down (SECCOMP_FILTER_FLAG_SPEC_ALLOW).
pub fn bind(filter: &[sock_filter]) -> Result<()> {
    let program = libc::sock_fprog {
        len: u16::try_from(filter.len()).context(wrong_filter)?,
        filter: filter.as_ptr().cast_mut().cast(),
    };
    // SAFETY: the kernel copies the filter, which lives until the call returns; both types are `struct sock_filter`.
    let answer = unsafe {
        libc::syscall(
            libc::SYS_seccomp,
            libc::SECCOMP_SET_MODE_FILTER,
            libc::SECCOMP_FILTER_FLAG_SPEC_ALLOW,
            &raw const program,
        )
    };
    if answer == 0 {
        return Ok(());
    }
    Err(std::io::Error::last_os_error()).context(wrong_filter)
}
