//! What all samplers have in common.

use std::os::fd::BorrowedFd;

/// One part of the configuration at work.
pub trait Probe {
    /// Takes a sample, or those that the kernel has taken; a row is written if it differs from the row before, and
    /// always in the last sample. `time_ns` counts from the epoch.
    fn sample(&mut self, time_ns: u64, last: bool) -> Result<(), String>;

    /// Where the kernel takes the samples: what is readable when there are many, so that they are drained.
    fn recorder(&self) -> Option<BorrowedFd<'_>> {
        None
    }

    /// How often the sampler must wake for it: for each sample, unless the kernel takes them; `None`: whenever it wakes
    /// anyway.
    fn wake_ns(&self, interval_ns: u64) -> Option<u64> {
        self.recorder().is_none().then_some(interval_ns)
    }

    /// Takes the samples that the kernel has taken.
    fn drain(&mut self) -> Result<(), String> {
        Ok(())
    }

    /// Writes what is buffered.
    fn finish(&mut self) -> Result<(), String>;
}
