//! `ip -batch` and `tc -batch` files, run by the real tools.

use std::fs::File;
use std::io::{Read, Seek};
use std::os::fd::{AsFd, OwnedFd};

use nix::errno::Errno;
use nix::fcntl::OFlag;
use nix::poll::{poll, PollFd, PollFlags, PollTimeout};
use nix::sys::memfd::{memfd_create, MFdFlags};
use nix::sys::wait::{waitpid, WaitStatus};
use nix::unistd::{pipe2, read, write, Pid};

use crate::descriptor::set_nonblocking;
use crate::failure::{Context, Failure, Result};
use crate::namespace::{Machine, Node};
use crate::process::{self, Part, Streams};
use crate::sys;

/// A pipe's packet holds at most this much (pipe(7), PIPE_BUF).
const PACKET_BYTES: usize = 4096;

/// Applies a batch file's text in a node with `tool` (`ip` or `tc`, and options of its). A failure names the line and
/// holds the tool's words.
///
/// The tools print the number of a line that the kernel refuses, but not of one that they can't parse. So the lines go
/// through a pipe in packet mode, which gives a reader one line at a time: what is left in it tells which line was the
/// last.
pub fn run(machine: &Machine, node: &Node, tool: &[&str], text: &str) -> Result<()> {
    let (read_end, write_end) =
        pipe2(OFlag::O_CLOEXEC | OFlag::O_DIRECT).context(|| "make a pipe".to_owned())?;
    set_nonblocking(&write_end)?;
    let unread = read_end
        .try_clone()
        .context(|| "copy a descriptor".to_owned())?;
    let mut words = memfd().context(|| "make a file in memory".to_owned())?;
    let streams = Streams {
        input: read_end,
        output: words
            .try_clone()
            .context(|| "copy a descriptor".to_owned())?
            .into(),
        errors: words
            .try_clone()
            .context(|| "copy a descriptor".to_owned())?
            .into(),
        is_terminal: false,
    };
    // getopt_long(3) of rdma takes the long form alone, the parsers of the others the short one.
    let option = if tool[0] == "rdma" {
        "--batch"
    } else {
        "-batch"
    };
    let argv: Vec<_> = tool
        .iter()
        .chain(&[option, "-"])
        .map(|&word| word.to_owned())
        .collect();
    let tool = tool[0];
    let pid = process::start(machine, Some(node), &argv, &[], Part::Plays, &streams)?;
    drop(streams);
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let written = feed(&lines, &write_end, pid)?;
    drop(write_end);
    match waitpid(pid, None).context(|| format!("wait for {tool}"))? {
        WaitStatus::Exited(_, 0) => Ok(()),
        status => {
            let left = count_packets(&unread)?;
            let message =
                read_words(&mut words).unwrap_or_else(|| format!("{tool} ended with {status:?}"));
            Err(locate(&lines, written.saturating_sub(left), message))
        }
    }
}

/// Lets FRR's shell take lines of configuration in a node. A failure has the shell's words; the lines before the one
/// that it refuses hold.
pub fn configure_routing(machine: &Machine, node: &Node, lines: &[String]) -> Result<()> {
    let mut argv = vec!["vtysh".to_owned()];
    for line in std::iter::once("configure terminal").chain(lines.iter().map(String::as_str)) {
        argv.extend(["-c".to_owned(), line.to_owned()]);
    }
    let mut words = memfd().context(|| "make a file in memory".to_owned())?;
    let copy = || words.try_clone().context(|| "copy a descriptor".to_owned());
    let nothing = File::open("/dev/null").context(|| "open /dev/null".to_owned())?;
    let streams = Streams {
        input: nothing.into(),
        output: copy()?.into(),
        errors: copy()?.into(),
        is_terminal: false,
    };
    let pid = process::start(machine, Some(node), &argv, &[], Part::Plays, &streams)?;
    drop(streams);
    match waitpid(pid, None).context(|| "wait for vtysh".to_owned())? {
        WaitStatus::Exited(_, 0) => Ok(()),
        status => Err(Failure::new(
            read_words(&mut words).unwrap_or_else(|| format!("vtysh ended with {status:?}")),
        )),
    }
}

/// Writes line by line until all is written or the tool has ended; returns the number of packets written.
fn feed(lines: &[&str], pipe: &OwnedFd, tool: Pid) -> Result<usize> {
    let ended = sys::open_pidfd(tool).context(|| "watch a process".to_owned())?;
    let mut written = 0;
    for packet in lines
        .iter()
        .flat_map(|line| line.as_bytes().chunks(PACKET_BYTES))
    {
        loop {
            match write(pipe, packet) {
                Ok(_) => break,
                Err(Errno::EAGAIN) => {
                    let mut events = [
                        PollFd::new(pipe.as_fd(), PollFlags::POLLOUT),
                        PollFd::new(ended.as_fd(), PollFlags::POLLIN),
                    ];
                    poll(&mut events, PollTimeout::NONE)
                        .context(|| "wait for a process".to_owned())?;
                    if events[1].any().unwrap_or(true) {
                        return Ok(written);
                    }
                }
                Err(errno) => return Err(errno).context(|| "write to a process".to_owned()),
            }
        }
        written += 1;
    }
    Ok(written)
}

/// How many packets nobody has read.
fn count_packets(pipe: &OwnedFd) -> Result<usize> {
    set_nonblocking(pipe)?;
    let mut packet = [0; PACKET_BYTES];
    let mut count = 0;
    while matches!(read(pipe, &mut packet), Ok(length) if length > 0) {
        count += 1;
    }
    Ok(count)
}

/// The failure at the line whose last packet is the one of that number.
fn locate(lines: &[&str], packets: usize, message: String) -> Failure {
    let mut end = 0;
    for (index, line) in lines.iter().enumerate() {
        end += line.len().div_ceil(PACKET_BYTES);
        if end >= packets && packets > 0 {
            return Failure::new(message).at_line(index + 1, line.trim());
        }
    }
    Failure::new(message)
}

/// What the tool printed, without its own count of lines.
fn read_words(output: &mut File) -> Option<String> {
    let mut text = Vec::new();
    output
        .rewind()
        .and_then(|()| output.read_to_end(&mut text))
        .ok()?;
    let text = String::from_utf8_lossy(&text);
    let words: Vec<&str> = text
        .lines()
        .filter(|line| !line.starts_with("Command failed "))
        .collect();
    let words = words.join("\n").trim().to_owned();
    (!words.is_empty()).then_some(words)
}

fn memfd() -> nix::Result<File> {
    memfd_create(c"output", MFdFlags::MFD_CLOEXEC).map(File::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_line_read_is_the_one_that_failed() {
        let long = format!("{}\n", "x".repeat(PACKET_BYTES));
        let lines = ["first\n", &long, "third"];
        assert_eq!(locate(&lines, 1, String::new()).line, Some(1));
        assert_eq!(locate(&lines, 3, String::new()).line, Some(2));
        assert_eq!(
            locate(&lines, 4, String::new()).text.as_deref(),
            Some("third")
        );
        assert_eq!(locate(&lines, 0, String::new()).line, None);
    }
}
