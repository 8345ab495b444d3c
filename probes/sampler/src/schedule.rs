//! When to sample: one absolute timer on CLOCK_MONOTONIC for all parts, and SIGTERM or SIGINT to end.
//!
//! A sample costs one system call here, the timer's `read`. The clock is not read: in virtual time even that would move
//! it. How many times the timer has expired tells whether a sample is in time.

use std::io;
use std::os::fd::AsFd;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::OnceLock;

use nix::errno::Errno;
use nix::sys::epoll::{Epoll, EpollCreateFlags, EpollEvent, EpollFlags, EpollTimeout};
use nix::sys::signal::{sigaction, SaFlags, SigAction, SigHandler, SigSet, Signal};
use nix::sys::time::{TimeSpec, TimeValLike};
use nix::sys::timerfd::{ClockId, Expiration, TimerFd, TimerFlags, TimerSetTimeFlags};
use nix::time::clock_gettime;
use nix::unistd::read;

const NS_PER_S: u64 = 1_000_000_000;

static STOP: AtomicBool = AtomicBool::new(false);
/// The process's one timer, where the signal handler finds it.
static TIMER: OnceLock<TimerFd> = OnceLock::new();

/// Why the timer woke us.
#[derive(Debug, PartialEq)]
pub enum Wake {
    /// It expired so many times since the last wake-up; one is in time.
    Expired(u64),
    /// Sockets have something to read, by their numbers.
    Readable(Vec<usize>),
    /// SIGTERM or SIGINT.
    Stop,
}

pub struct Timer {
    timer: &'static TimerFd,
    epoch_ns: u64,
}

impl Timer {
    /// Expires at the epoch (CLOCK_MONOTONIC, not 0) and then every `period_ns`. From here on SIGTERM and SIGINT are
    /// caught. A process starts it once.
    pub fn start(epoch_ns: u64, period_ns: u64) -> io::Result<Self> {
        let timer = TimerFd::new(ClockId::CLOCK_MONOTONIC, TimerFlags::TFD_CLOEXEC)?;
        let expirations = Expiration::IntervalDelayed(timespec(epoch_ns), timespec(period_ns));
        timer.set(expirations, TimerSetTimeFlags::TFD_TIMER_ABSTIME)?;
        let timer = TIMER.get_or_init(|| timer);
        catch(Signal::SIGTERM)?;
        catch(Signal::SIGINT)?;
        Ok(Self { timer, epoch_ns })
    }

    pub fn wait(&self) -> io::Result<Wake> {
        loop {
            let mut expirations = [0; 8];
            let result = read(self.timer, &mut expirations);
            if STOP.load(Ordering::Relaxed) {
                return Ok(Wake::Stop);
            }
            match result {
                Ok(_) => return Ok(Wake::Expired(u64::from_ne_bytes(expirations))),
                Err(Errno::EINTR) => {}
                Err(errno) => return Err(errno.into()),
            }
        }
    }

    /// As [`Timer::wait`], but sockets wake it too.
    pub fn wait_beside(&self, sockets: &Watched) -> io::Result<Wake> {
        loop {
            let mut events = [EpollEvent::empty(); 32];
            let ready = sockets.epoll.wait(&mut events, EpollTimeout::NONE);
            if STOP.load(Ordering::Relaxed) {
                return Ok(Wake::Stop);
            }
            let ready = match ready {
                Err(Errno::EINTR) => continue,
                ready => ready?,
            };
            let numbers: Vec<usize> = events[..ready]
                .iter()
                .map(|event| event.data())
                .filter(|number| *number != TIMER_NUMBER)
                .map(|number| number as usize)
                .collect();
            // A timer that has expired as well is found by the next call.
            return match numbers.is_empty() {
                true => self.wait(),
                false => Ok(Wake::Readable(numbers)),
            };
        }
    }

    /// Nanoseconds since the epoch; `None` before it.
    pub fn now_ns(&self) -> Option<u64> {
        u64::try_from(self.since_epoch_ns()).ok()
    }

    /// Nanoseconds since the epoch; negative before it.
    pub fn since_epoch_ns(&self) -> i64 {
        let now = clock_gettime(nix::time::ClockId::CLOCK_MONOTONIC).expect("it always exists");
        now.num_nanoseconds() - self.epoch_ns as i64
    }
}

/// As the timer's number among those of sockets.
const TIMER_NUMBER: u64 = u64::MAX;

/// The timer, and sockets of which each wakes who waits for it. A sampler without any waits for its timer alone, which
/// is one system call less.
pub struct Watched {
    epoll: Epoll,
}

impl Watched {
    /// Sockets have the numbers of their order.
    pub fn new(timer: &Timer, sockets: impl Iterator<Item = impl AsFd>) -> io::Result<Self> {
        let epoll = Epoll::new(EpollCreateFlags::EPOLL_CLOEXEC)?;
        let readable = |number| EpollEvent::new(EpollFlags::EPOLLIN, number);
        epoll.add(timer.timer, readable(TIMER_NUMBER))?;
        for (number, socket) in sockets.enumerate() {
            epoll.add(socket, readable(number as u64))?;
        }
        Ok(Self { epoll })
    }
}

fn timespec(ns: u64) -> TimeSpec {
    TimeSpec::new(
        (ns / NS_PER_S) as libc::time_t,
        (ns % NS_PER_S) as libc::c_long,
    )
}

/// Makes the timer expire at once: a signal between the look at `STOP` and the `read` would else be noticed a whole
/// interval later.
extern "C" fn stop(_signal: libc::c_int) {
    // It belongs to the thread that the handler interrupts.
    let errno = Errno::last();
    STOP.store(true, Ordering::Relaxed);
    if let Some(timer) = TIMER.get() {
        let _ = timer.set(Expiration::OneShot(timespec(1)), TimerSetTimeFlags::empty());
    }
    errno.set();
}

fn catch(signal: Signal) -> io::Result<()> {
    let handler = SigHandler::Handler(stop);
    let action = SigAction::new(handler, SaFlags::empty(), SigSet::empty());
    // SAFETY: the handler loads and stores atomics and makes one system call: it is async-signal-safe.
    unsafe { sigaction(signal, &action) }?;
    Ok(())
}

/// The longest period of which all intervals are multiples.
pub fn common_period(intervals_ns: impl Iterator<Item = u64>) -> u64 {
    fn greatest_common_divisor(a: u64, b: u64) -> u64 {
        match b {
            0 => a,
            _ => greatest_common_divisor(b, a % b),
        }
    }
    intervals_ns.fold(0, greatest_common_divisor)
}

/// The due times of one part: the multiples of its interval.
#[derive(Debug)]
pub struct DueTimes {
    interval_ns: u64,
    next_ns: u64,
}

/// A sample that is due.
#[derive(Debug, PartialEq)]
pub struct Due {
    /// The latest due time that has come.
    pub time_ns: u64,
    /// How many due times before it passed without a sample.
    pub missed: u64,
    /// The first due time that has come; earlier than `time_ns` if some were missed.
    pub first_ns: u64,
}

impl DueTimes {
    pub fn new(interval_ns: u64) -> Self {
        Self {
            interval_ns,
            next_ns: 0,
        }
    }

    pub fn take(&mut self, now_ns: u64) -> Option<Due> {
        let missed = now_ns.checked_sub(self.next_ns)? / self.interval_ns;
        let first_ns = self.next_ns;
        let time_ns = first_ns + missed * self.interval_ns;
        self.next_ns = time_ns + self.interval_ns;
        Some(Due {
            time_ns,
            missed,
            first_ns,
        })
    }
}

/// How punctual the samples were.
#[derive(Debug, Default, PartialEq)]
pub struct Punctuality {
    samples: u64,
    missed: u64,
    max_late_ns: u64,
}

impl Punctuality {
    /// Counts a sample; `clock` is asked only if it is late.
    pub fn count(&mut self, due: &Due, clock: impl FnOnce() -> u64) {
        self.samples += 1;
        if due.missed > 0 {
            self.missed += due.missed;
            self.max_late_ns = self.max_late_ns.max(clock().saturating_sub(due.first_ns));
        }
    }

    /// Counts samples that the kernel took itself: it is never late.
    pub fn count_recorded(&mut self, samples: u64) {
        self.samples += samples;
    }
}

impl std::fmt::Display for Punctuality {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "samples {} late {} max_late_ns {}",
            self.samples, self.missed, self.max_late_ns
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_period_divides_all_intervals() {
        assert_eq!(
            common_period([100_000, 1_000_000, 10_000_000].into_iter()),
            100_000
        );
        assert_eq!(common_period([20_000, 30_000].into_iter()), 10_000);
        assert_eq!(common_period([70_000].into_iter()), 70_000);
    }

    #[test]
    fn due_times_are_the_multiples_of_the_interval() {
        let mut due = DueTimes::new(100);
        let taken: Vec<_> = (0..=300)
            .step_by(50)
            .filter_map(|now| due.take(now))
            .map(|due| due.time_ns)
            .collect();
        assert_eq!(taken, [0, 100, 200, 300]);
    }

    #[test]
    fn a_late_wake_up_gives_one_sample_and_tells_what_was_missed() {
        let mut due = DueTimes::new(100);
        assert_eq!(
            due.take(0),
            Some(Due {
                time_ns: 0,
                missed: 0,
                first_ns: 0
            })
        );
        assert_eq!(
            due.take(450),
            Some(Due {
                time_ns: 400,
                missed: 3,
                first_ns: 100
            })
        );
        assert_eq!(due.take(499), None);
        assert_eq!(
            due.take(500),
            Some(Due {
                time_ns: 500,
                missed: 0,
                first_ns: 500
            })
        );
    }

    #[test]
    fn lateness_is_counted_and_the_clock_read_only_for_it() {
        let mut punctuality = Punctuality::default();
        punctuality.count(
            &Due {
                time_ns: 100,
                missed: 0,
                first_ns: 100,
            },
            || panic!("in time: the clock must not be read"),
        );
        punctuality.count(
            &Due {
                time_ns: 400,
                missed: 2,
                first_ns: 200,
            },
            || 450,
        );
        punctuality.count(
            &Due {
                time_ns: 600,
                missed: 1,
                first_ns: 500,
            },
            || 610,
        );
        assert_eq!(punctuality.to_string(), "samples 3 late 3 max_late_ns 250");
    }
}
