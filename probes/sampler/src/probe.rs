//! What all samplers have in common.

/// One part of the configuration at work.
pub trait Probe {
    /// Takes a sample; a row is written if it differs from the row before, and always in the last sample. `time_ns`
    /// counts from the epoch.
    fn sample(&mut self, time_ns: u64, last: bool) -> Result<(), String>;

    /// Writes what is buffered.
    fn finish(&mut self) -> Result<(), String>;
}
