//! What tests of started programs need.

use std::process::Child;

use nix::sys::signal::{kill, Signal};
use nix::sys::time::TimeValLike;
use nix::time::{clock_gettime, ClockId};
use nix::unistd::Pid;

pub fn monotonic_ns() -> i64 {
    clock_gettime(ClockId::CLOCK_MONOTONIC)
        .unwrap()
        .num_nanoseconds()
}

pub fn terminate(child: &Child) {
    send(child, Signal::SIGTERM);
}

pub fn send(child: &Child, signal: Signal) {
    kill(Pid::from_raw(child.id() as libc::pid_t), signal).unwrap();
}

/// Waits until the process takes SIGTERM itself.
pub fn wait_for_signal_mask(child: &Child) {
    let path = format!("/proc/{}/status", child.id());
    loop {
        let status = std::fs::read_to_string(&path).unwrap();
        let blocked = status.lines().find_map(|line| line.strip_prefix("SigBlk:"));
        let mask = u64::from_str_radix(blocked.unwrap().trim(), 16).unwrap();
        if mask & (1 << (libc::SIGTERM - 1)) != 0 {
            return;
        }
        std::thread::yield_now();
    }
}
