//! When the traffic begins, and how often PID 1 looks whether it is to end.

use std::path::Path;

use crate::clock;
use crate::job::JOB;

/// From the choice of the epoch to the epoch: programs start and open kept connections meanwhile, virtual time.
const LEAD_NS: i64 = 10 * clock::MILLISECOND_NS;
/// Between two looks for the `stop` file, and two progress events, virtual time.
pub const TICK_NS: i64 = 100 * clock::MILLISECOND_NS;
/// A file of this name in the run directory ends the traffic.
const STOP_FILE: &str = "stop";

/// When programs begin that start now.
pub fn epoch_after(now_ns: i64) -> i64 {
    clock::whole_millisecond_after(now_ns, LEAD_NS)
}

/// The host wants the traffic to end.
pub fn is_stop_asked() -> bool {
    Path::new(JOB).join(STOP_FILE).exists()
}
