//! The machine's virtual clock. Reading it costs a little virtual time; sleeping costs no real time.

use nix::time::{clock_gettime, ClockId};

pub const MILLISECOND_NS: i64 = 1_000_000;

/// CLOCK_MONOTONIC in nanoseconds.
pub fn monotonic_ns() -> i64 {
    // The clock is always there; a machine without one could not even report it.
    clock_gettime(ClockId::CLOCK_MONOTONIC)
        .map_or(0, |time| time.tv_sec() * 1_000_000_000 + time.tv_nsec())
}

/// The first whole millisecond that is at least `lead_ns` after `now_ns`.
pub fn whole_millisecond_after(now_ns: i64, lead_ns: i64) -> i64 {
    let earliest = now_ns + lead_ns;
    (earliest + MILLISECOND_NS - 1) / MILLISECOND_NS * MILLISECOND_NS
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_epoch_is_a_whole_millisecond_and_never_early() {
        assert_eq!(whole_millisecond_after(0, 5_000_000), 5_000_000);
        assert_eq!(whole_millisecond_after(1, 5_000_000), 6_000_000);
        assert_eq!(whole_millisecond_after(999_999, 1), 1_000_000);
    }
}
