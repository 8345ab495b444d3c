//! How many files PID 1 and the programs may have open.

use nix::sys::resource::{setrlimit, Resource};

use crate::failure::{Context, Result};

/// The usual soft limit, of every program. Not more: FRR closes every descriptor up to it, one call each, which took
/// seconds with 65,536.
const OPEN_FILES: u64 = 1024;
/// What a program may raise its own limit to (the replay has a socket for each of 10,000 flows), and what PID 1 has: a
/// descriptor of each node, and those of its sessions.
const OPEN_FILES_MAX: u64 = 1_048_576;

/// PID 1 may open as many files as any program may ask for.
pub fn raise() -> Result<()> {
    setrlimit(Resource::RLIMIT_NOFILE, OPEN_FILES_MAX, OPEN_FILES_MAX)
        .context(|| format!("allow up to {OPEN_FILES_MAX} open files"))
}

/// This process, which becomes a program, has the limits of one.
pub fn of_a_program() -> nix::Result<()> {
    setrlimit(Resource::RLIMIT_NOFILE, OPEN_FILES, OPEN_FILES_MAX)
}
