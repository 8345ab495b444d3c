//! Time after the epoch, read at most once a wake-up: a reading is a system call, and in the virtual machine one of
//! those that a task gets for nothing before it sleeps.

use std::cell::Cell;

use crate::wakeups;

pub struct Clock {
    epoch_ns: i64,
    read: Cell<Option<i64>>,
}

impl Clock {
    /// A clock that counts from `epoch_ns` on CLOCK_MONOTONIC.
    pub fn from_epoch(epoch_ns: i64) -> Self {
        Self {
            epoch_ns,
            read: Cell::new(None),
        }
    }

    /// Nanoseconds after the epoch, as of this wake-up.
    pub fn now_ns(&self) -> i64 {
        self.read.get().unwrap_or_else(|| {
            let now_ns = wakeups::monotonic_ns() - self.epoch_ns;
            self.read.set(Some(now_ns));
            now_ns
        })
    }

    /// The process has slept: the next [`Clock::now_ns`] reads anew.
    pub fn forget(&self) {
        self.read.set(None);
    }

    /// A time of CLOCK_MONOTONIC as one after the epoch.
    pub fn after_epoch_ns(&self, monotonic_ns: i64) -> i64 {
        monotonic_ns.saturating_sub(self.epoch_ns)
    }

    /// A time after the epoch as CLOCK_MONOTONIC has it.
    pub fn monotonic_ns(&self, after_epoch_ns: i64) -> i64 {
        self.epoch_ns.saturating_add(after_epoch_ns)
    }
}
