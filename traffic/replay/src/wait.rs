//! Waiting for a time, for a signal, or for a descriptor, whatever comes first.

use std::io;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};

use crate::sys::{self, Termination, Timer};

/// `poll` passes over such a descriptor.
const NO_DESCRIPTOR: RawFd = -1;

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
    signals: OwnedFd,
    timer: Timer,
    armed: bool,
}

impl Waiter {
    /// From now on SIGTERM, SIGINT and SIGPWR are blocked, and told here.
    pub fn new() -> io::Result<Self> {
        Ok(Self {
            signals: sys::termination_signals()?,
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
        Ok(!matches!(self.wait_for(NO_DESCRIPTOR)?, Wake::Signal(_)))
    }

    /// Waits for whatever comes first. The timer and a signal are told once.
    pub fn wait(&mut self, descriptor: &impl AsRawFd) -> io::Result<Wake> {
        self.wait_for(descriptor.as_raw_fd())
    }

    fn wait_for(&mut self, descriptor: RawFd) -> io::Result<Wake> {
        let timer = match self.armed {
            true => self.timer.as_raw_fd(),
            false => NO_DESCRIPTOR,
        };
        loop {
            let ready = poll([self.signals.as_raw_fd(), timer, descriptor])?;
            match ready {
                [true, _, _] => return sys::take_termination(&self.signals).map(Wake::Signal),
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
fn poll<const N: usize>(descriptors: [RawFd; N]) -> io::Result<[bool; N]> {
    let mut entries = descriptors.map(|fd| libc::pollfd {
        fd,
        events: libc::POLLIN,
        revents: 0,
    });
    // SAFETY: `entries` is valid for reading and writing, and has N entries.
    if unsafe { libc::poll(entries.as_mut_ptr(), N as libc::nfds_t, -1) } < 0 {
        let error = io::Error::last_os_error();
        if error.kind() != io::ErrorKind::Interrupted {
            return Err(error);
        }
    }
    Ok(entries.map(|entry| entry.revents != 0))
}
