//! Waiting for a time, for a signal, or for a descriptor, whatever comes first.

use std::io;
use std::os::fd::{AsFd, BorrowedFd};

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout};
use nix::sys::signalfd::SignalFd;

use crate::wakeups::{self, Termination, Timer};

/// What came first.
pub enum Wake {
    /// The time of the timer.
    Due,
    /// SIGTERM or SIGINT, or SIGPWR.
    Signal(Termination),
    /// The descriptor has something to read, or is at its end.
    Readable,
}

/// The timer and the signals that one waits for beside a descriptor.
pub struct Waiter {
    signals: SignalFd,
    timer: Timer,
    armed: bool,
}

impl Waiter {
    /// From now on SIGTERM, SIGINT and SIGPWR are blocked, and told here.
    pub fn new() -> io::Result<Self> {
        Ok(Self {
            signals: wakeups::termination_signals()?,
            timer: Timer::new()?,
            armed: false,
        })
    }

    /// Sets the timer, on CLOCK_MONOTONIC; the time before, if any, has passed.
    pub fn arm(&mut self, at_ns: i64) -> io::Result<()> {
        self.timer.expired();
        self.armed = true;
        self.timer.arm(at_ns)
    }

    /// Waits for a time on CLOCK_MONOTONIC; `false`: a signal came before it.
    pub fn sleep_until(&mut self, at_ns: i64) -> io::Result<bool> {
        self.arm(at_ns)?;
        Ok(!matches!(self.wait_for(None)?, Wake::Signal(_)))
    }

    /// Waits for whatever comes first. The timer and a signal are told once.
    pub fn wait(&mut self, descriptor: &impl AsFd) -> io::Result<Wake> {
        self.wait_for(Some(descriptor.as_fd()))
    }

    fn wait_for(&mut self, descriptor: Option<BorrowedFd>) -> io::Result<Wake> {
        loop {
            let timer = self.armed.then(|| self.timer.as_fd());
            let ready = poll([Some(self.signals.as_fd()), timer, descriptor])?;
            match ready {
                [true, _, _] => return wakeups::take_termination(&self.signals).map(Wake::Signal),
                [_, true, _] => {
                    self.armed = false;
                    return Ok(Wake::Due);
                }
                [_, _, true] => return Ok(Wake::Readable),
                [false, false, false] => {}
            }
        }
    }
}

/// Waits without a limit; which of the descriptors are readable or at their end.
fn poll<const N: usize>(descriptors: [Option<BorrowedFd>; N]) -> io::Result<[bool; N]> {
    let given = descriptors.iter().flatten();
    let mut entries: Vec<PollFd> = given
        .map(|descriptor| PollFd::new(*descriptor, PollFlags::POLLIN))
        .collect();
    match nix::poll::poll(&mut entries, PollTimeout::NONE) {
        Ok(_) | Err(Errno::EINTR) => {}
        Err(errno) => return Err(errno.into()),
    }
    let mut ready = entries.iter().map(|entry| entry.any().unwrap_or(true));
    Ok(descriptors.map(|descriptor| descriptor.is_some() && ready.next() == Some(true)))
}
