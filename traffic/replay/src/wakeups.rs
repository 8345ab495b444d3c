//! What wakes a program that waits: descriptors, a timer, signals.

use std::io;
use std::os::fd::AsFd;

use nix::errno::Errno;
use nix::sys::epoll::{EpollCreateFlags, EpollEvent, EpollFlags, EpollTimeout};
use nix::sys::signal::{sigprocmask, SigSet, SigmaskHow, Signal};
use nix::sys::signalfd::{SfdFlags, SignalFd};
use nix::sys::time::{TimeSpec, TimeValLike};
use nix::sys::timerfd::{self, Expiration, TimerFd, TimerFlags, TimerSetTimeFlags};
use nix::time::{clock_gettime, ClockId};

/// Events taken from the kernel at a time.
const EVENTS: usize = 1024;

pub const READABLE: u32 = libc::EPOLLIN as u32;
pub const WRITABLE: u32 = libc::EPOLLOUT as u32;
pub const PEER_CLOSED: u32 = libc::EPOLLRDHUP as u32;
pub const ERROR: u32 = libc::EPOLLERR as u32;
pub const HANG_UP: u32 = libc::EPOLLHUP as u32;

/// CLOCK_MONOTONIC in nanoseconds.
pub fn monotonic_ns() -> i64 {
    let now = clock_gettime(ClockId::CLOCK_MONOTONIC).expect("this clock always exists");
    now.num_nanoseconds()
}

/// An epoll instance; everything is registered edge-triggered, once.
pub struct Epoll {
    epoll: nix::sys::epoll::Epoll,
    events: Vec<EpollEvent>,
}

impl Epoll {
    pub fn new() -> io::Result<Self> {
        Ok(Self {
            epoll: nix::sys::epoll::Epoll::new(EpollCreateFlags::EPOLL_CLOEXEC)?,
            events: vec![EpollEvent::empty(); EVENTS],
        })
    }

    /// Watches a descriptor; what happens on it comes with `token`. Closing the descriptor ends it.
    pub fn add(&self, descriptor: impl AsFd, interest: u32, token: u64) -> io::Result<()> {
        let interest = EpollFlags::from_bits_retain(interest as libc::c_int);
        let event = EpollEvent::new(interest | EpollFlags::EPOLLET, token);
        Ok(self.epoll.add(descriptor, event)?)
    }

    /// Waits without a limit; returns how many events there are for [`Epoll::event`].
    pub fn wait(&mut self) -> io::Result<usize> {
        match self.epoll.wait(&mut self.events, EpollTimeout::NONE) {
            Err(Errno::EINTR) => Ok(0),
            count => Ok(count?),
        }
    }

    /// An event's token and what happened.
    pub fn event(&self, index: usize) -> (u64, u32) {
        let event = self.events[index];
        (event.data(), event.events().bits() as u32)
    }
}

/// A timer on absolute CLOCK_MONOTONIC times: exact, where the timeout of epoll_wait has slack.
pub struct Timer {
    timer: TimerFd,
    armed_ns: Option<i64>,
}

impl Timer {
    pub fn new() -> io::Result<Self> {
        let flags = TimerFlags::TFD_NONBLOCK | TimerFlags::TFD_CLOEXEC;
        Ok(Self {
            timer: TimerFd::new(timerfd::ClockId::CLOCK_MONOTONIC, flags)?,
            armed_ns: None,
        })
    }

    /// The timer went off; it is armed no longer. An edge-triggered timer needs no read.
    pub fn expired(&mut self) {
        self.armed_ns = None;
    }

    /// Goes off at a time at the latest (it may be armed for an earlier one already).
    pub fn arm(&mut self, at_ns: i64) -> io::Result<()> {
        if self.armed_ns.is_some_and(|armed_ns| armed_ns <= at_ns) {
            return Ok(());
        }
        self.armed_ns = Some(at_ns);
        // Zero would disarm it; what is past goes off at once.
        let once = Expiration::OneShot(TimeSpec::nanoseconds(at_ns.max(1)));
        Ok(self.timer.set(once, TimerSetTimeFlags::TFD_TIMER_ABSTIME)?)
    }
}

impl AsFd for Timer {
    fn as_fd(&self) -> std::os::fd::BorrowedFd<'_> {
        self.timer.as_fd()
    }
}

/// Blocks SIGTERM, SIGINT and SIGPWR and returns a descriptor that becomes readable when one comes.
pub fn termination_signals() -> io::Result<SignalFd> {
    let set = SigSet::from_iter([Signal::SIGTERM, Signal::SIGINT, Signal::SIGPWR]);
    sigprocmask(SigmaskHow::SIG_BLOCK, Some(&set), None)?;
    let flags = SfdFlags::SFD_NONBLOCK | SfdFlags::SFD_CLOEXEC;
    Ok(SignalFd::with_flags(&set, flags)?)
}

/// Why a program is to end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Termination {
    /// SIGTERM or SIGINT: somebody wants it to.
    Told,
    /// SIGPWR: its host loses its power.
    PowerLost,
}

/// Takes the signal that made the descriptor of `termination_signals` readable.
pub fn take_termination(signals: &SignalFd) -> io::Result<Termination> {
    let signal = signals.read_signal()?.ok_or(Errno::EAGAIN)?;
    Ok(match signal.ssi_signo == libc::SIGPWR as u32 {
        true => Termination::PowerLost,
        false => Termination::Told,
    })
}
