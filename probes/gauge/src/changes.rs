//! Says what a command says whenever routes or links have changed, with the time: nobody has to look again and again.

use std::io::{self, Write};
use std::os::fd::{AsRawFd, BorrowedFd};
use std::process::{Command, Stdio};

use netlink::{Protocol, Socket};
use nix::errno::Errno;
use nix::poll::{poll, PollFd, PollFlags, PollTimeout};
use nix::time::{clock_gettime, ClockId};

/// Of `enum rtnetlink_groups` in `include/uapi/linux/rtnetlink.h`: links, IPv4 and IPv6 routes, next hops.
const GROUPS: [u32; 4] = [1, 7, 11, 32];
const MESSAGE_BYTES: usize = 1 << 16;

pub fn follow(command: &[String]) -> io::Result<()> {
    let socket = Socket::open(Protocol::Route)?;
    socket.bind()?;
    // What there is no room for is lost; what there is room for says as well that something has changed.
    socket.count_losses_silently()?;
    for group in GROUPS {
        socket.join(group)?;
    }
    let mut output = io::stdout().lock();
    loop {
        let began_ns = now_ns()?;
        let said = run(command)?;
        writeln!(output, "{began_ns} {} {said}", now_ns()?)?;
        output.flush()?;
        await_change(&socket)?;
    }
}

/// Waits for a change, and takes all that are told by then.
fn await_change(socket: &Socket) -> io::Result<()> {
    // SAFETY: the socket outlives the descriptor that is borrowed of it.
    let descriptor = unsafe { BorrowedFd::borrow_raw(socket.as_raw_fd()) };
    let mut message = vec![0; MESSAGE_BYTES];
    let mut patience = PollTimeout::NONE;
    loop {
        match poll(&mut [PollFd::new(descriptor, PollFlags::POLLIN)], patience) {
            Ok(0) => return Ok(()),
            Ok(_) => {
                socket.receive(&mut message)?;
                patience = PollTimeout::ZERO;
            }
            Err(Errno::EINTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
}

/// What the command says, in one line.
fn run(command: &[String]) -> io::Result<String> {
    let output = Command::new(&command[0])
        .args(&command[1..])
        .stdin(Stdio::null())
        .stderr(Stdio::inherit())
        .output()
        .map_err(|error| io::Error::new(error.kind(), format!("{}: {error}", command[0])))?;
    if !output.status.success() {
        return Err(io::Error::other(format!(
            "{} ended with {}",
            command.join(" "),
            output.status
        )));
    }
    Ok(one_line(&String::from_utf8_lossy(&output.stdout)))
}

fn one_line(said: &str) -> String {
    said.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn now_ns() -> io::Result<i64> {
    let time = clock_gettime(ClockId::CLOCK_MONOTONIC)?;
    Ok(time.tv_sec() * 1_000_000_000 + time.tv_nsec())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_command_says_becomes_one_line() {
        let argv = |words: &[&str]| {
            words
                .iter()
                .map(|word| (*word).to_owned())
                .collect::<Vec<_>>()
        };
        let said = run(&argv(&["printf", "[ {\\n  \"dst\": 1 }\\n]\\n"])).expect("printf runs");
        assert_eq!(said, "[ { \"dst\": 1 } ]");
        let failed = run(&argv(&["false"])).expect_err("false fails");
        assert!(
            failed.to_string().starts_with("false ended with"),
            "{failed}"
        );
        let absent = run(&argv(&["no-such-program"])).expect_err("there is none");
        assert!(
            absent.to_string().starts_with("no-such-program: "),
            "{absent}"
        );
    }
}
