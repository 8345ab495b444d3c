//! What tests of started programs need.

use std::process::Child;

pub fn monotonic_ns() -> i64 {
    let mut now = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: the pointer is to a timespec that outlives the call.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &mut now) };
    now.tv_sec * 1_000_000_000 + now.tv_nsec
}

pub fn terminate(child: &Child) {
    send(child, libc::SIGTERM);
}

pub fn send(child: &Child, signal: libc::c_int) {
    // SAFETY: a system call without pointers; the process is our child, which has not been waited for.
    let sent = unsafe { libc::kill(child.id() as libc::pid_t, signal) };
    assert_eq!(sent, 0);
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
