//! Rates of lines. Frames that no bridge passes on (IEEE 802.1Q, 8.6.3) and no protocol takes keep a line busy; what
//! the interface has sent is its own counter's.

use std::fs;
use std::io::{self, Write};
use std::mem::size_of;
use std::os::fd::AsRawFd;
use std::thread::sleep;
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::net::if_::if_nametoindex;
use serde_json::json;
use socket2::{Domain, Socket, Type};

/// The nearest bridge's address: nobody forwards it.
const NEAREST_BRIDGE: [u8; 6] = [0x01, 0x80, 0xc2, 0x00, 0x00, 0x0e];
/// IEEE 802, local experimental EtherType 1.
const EXPERIMENTAL: u16 = 0x88b5;
/// An Ethernet header, and the least frame without its check sequence.
const LEAST_FRAME_BYTES: usize = 60;
const SO_SNDBUFFORCE: libc::c_int = libc::SO_SNDBUFFORCE;
/// How long a window's end, or that of a full queue, is waited for before a look at what has left.
const FULL_PAUSE: Duration = Duration::from_micros(50);
/// What the kernel may need beside the bytes of a frame: as many again, twice over.
const SPARE: u32 = 4;
/// The part of the time at the beginning that is not counted: the line has no queue yet.
const WARM_UP: u32 = 4;

/// A line, and how it is kept busy.
#[derive(Clone, Debug, PartialEq)]
pub struct Line {
    pub interface: String,
    pub frame_bytes: usize,
    pub window_bytes: u32,
    pub time: Duration,
}

pub fn parse_line(written: &str) -> Result<Line, String> {
    let wrong = || "must be INTERFACE:FRAME:WINDOW:MILLISECONDS, such as eth1:1514:32000:100";
    let words: Vec<&str> = written.split(':').collect();
    let [interface, frame, window, milliseconds] = words[..] else {
        return Err(wrong().to_owned());
    };
    let frame_bytes = frame
        .parse()
        .ok()
        .filter(|bytes| (LEAST_FRAME_BYTES..=65_535).contains(bytes));
    let time = milliseconds.parse().ok().filter(|time| *time > 0);
    match (frame_bytes, window.parse().ok(), time) {
        (Some(frame_bytes), Some(window_bytes), Some(time)) if !interface.is_empty() => Ok(Line {
            interface: interface.to_owned(),
            frame_bytes,
            window_bytes,
            time: Duration::from_millis(time),
        }),
        _ => Err(wrong().to_owned()),
    }
}

/// Prints a line of JSON for each: `interface`, `frames` and `bytes` that left, `time_ns` in which.
pub fn measure(lines: &[Line]) -> io::Result<()> {
    let mut output = io::stdout().lock();
    for line in lines {
        let sent = keep_busy(line).map_err(|error| {
            io::Error::new(error.kind(), format!("{}: {error}", line.interface))
        })?;
        let line = json!({
            "interface": line.interface, "frames": sent.frames, "bytes": sent.bytes, "time_ns": sent.time_ns,
        });
        writeln!(output, "{line}")?;
    }
    output.flush()
}

struct Counters {
    at: Instant,
    frames: u64,
    bytes: u64,
}

struct Sent {
    frames: u64,
    bytes: u64,
    time_ns: u64,
}

fn keep_busy(line: &Line) -> io::Result<Sent> {
    let socket = open(line)?;
    let frame = frame(line.frame_bytes);
    let began = Instant::now();
    let mut window = Window::new(line.window_bytes, Counters::read(&line.interface)?.bytes);
    window.fill(&socket, &frame, line, began + line.time / WARM_UP)?;
    let first = Counters::read(&line.interface)?;
    window.fill(&socket, &frame, line, began + line.time)?;
    let last = Counters::read(&line.interface)?;
    Ok(Sent {
        frames: last.frames - first.frames,
        bytes: last.bytes - first.bytes,
        time_ns: (last.at - first.at).as_nanos() as u64,
    })
}

/// How much may wait to be sent. The socket does not tell: a queue that delays (netem) takes its frames off its account
/// at once. So what the interface has sent is told from what was given to it.
struct Window {
    bytes: u64,
    given: u64,
    left: u64,
    /// Half of the window has left in a pause: the line is too fast for pauses.
    is_fast: bool,
}

impl Window {
    fn new(bytes: u32, sent_before: u64) -> Self {
        Self {
            bytes: u64::from(bytes),
            given: sent_before,
            left: sent_before,
            is_fast: false,
        }
    }

    /// Keeps the window full until the deadline.
    fn fill(
        &mut self,
        socket: &Socket,
        frame: &[u8],
        line: &Line,
        deadline: Instant,
    ) -> io::Result<()> {
        while Instant::now() < deadline {
            if self.has_room(frame.len()) {
                match socket.send(frame) {
                    Ok(_) => {
                        self.given += frame.len() as u64;
                        continue;
                    }
                    // The queue is full, or drops before it is.
                    Err(error) if error.raw_os_error() == Some(libc::ENOBUFS) => {}
                    Err(error) => return Err(error),
                }
            }
            if !self.is_fast {
                sleep(FULL_PAUSE);
            }
            self.look(Counters::read(&line.interface)?.bytes);
        }
        Ok(())
    }

    fn has_room(&self, bytes: usize) -> bool {
        // Others send, too: more may have left than was given.
        self.given.saturating_sub(self.left) + bytes as u64 <= self.bytes
    }

    fn look(&mut self, sent: u64) {
        self.is_fast |= sent - self.left > self.bytes / 2;
        self.left = sent;
        self.given = self.given.max(sent);
    }
}

/// A socket that never waits: its window is counted.
fn open(line: &Line) -> io::Result<Socket> {
    let index = if_nametoindex(line.interface.as_str())?;
    // Protocol 0: the socket gets no frames.
    let socket = Socket::new(Domain::PACKET, Type::RAW, None)?;
    bind(&socket, index)?;
    let room = line.window_bytes.saturating_mul(SPARE);
    let room = room.min(i32::MAX as u32 / 2) as libc::c_int;
    let place = (&raw const room).cast();
    // SAFETY: `room` is valid for reading its size.
    Errno::result(unsafe {
        libc::setsockopt(
            socket.as_raw_fd(),
            libc::SOL_SOCKET,
            SO_SNDBUFFORCE,
            place,
            size_of::<libc::c_int>() as libc::socklen_t,
        )
    })?;
    Ok(socket)
}

fn bind(socket: &Socket, index: u32) -> io::Result<()> {
    let address = libc::sockaddr_ll {
        sll_family: libc::AF_PACKET as u16,
        sll_protocol: 0,
        sll_ifindex: index as libc::c_int,
        sll_hatype: 0,
        sll_pkttype: 0,
        sll_halen: 0,
        sll_addr: [0; 8],
    };
    let length = size_of::<libc::sockaddr_ll>() as libc::socklen_t;
    // SAFETY: `address` is valid for reading `length` bytes.
    Errno::result(unsafe { libc::bind(socket.as_raw_fd(), (&raw const address).cast(), length) })?;
    Ok(())
}

fn frame(bytes: usize) -> Vec<u8> {
    let mut frame = vec![0; bytes];
    frame[..6].copy_from_slice(&NEAREST_BRIDGE);
    // A local address that is nobody's.
    frame[6] = 0x02;
    frame[12..14].copy_from_slice(&EXPERIMENTAL.to_be_bytes());
    frame
}

impl Counters {
    fn read(interface: &str) -> io::Result<Self> {
        let read = |counter: &str| -> io::Result<u64> {
            let path = format!("/sys/class/net/{interface}/statistics/{counter}");
            let text = fs::read_to_string(&path)?;
            text.trim().parse().map_err(|_| {
                io::Error::other(format!("{path} holds {text:?}, which is not a number"))
            })
        };
        Ok(Self {
            at: Instant::now(),
            frames: read("tx_packets")?,
            bytes: read("tx_bytes")?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_four_words() {
        let line = Line {
            interface: "eth1".to_owned(),
            frame_bytes: 1514,
            window_bytes: 32_000,
            time: Duration::from_millis(100),
        };
        assert_eq!(parse_line("eth1:1514:32000:100"), Ok(line));
        for wrong in [
            "eth1",
            "eth1:59:32000:100",
            "eth1:1514:-1:100",
            "eth1:1514:1:0",
            ":1514:1:1",
        ] {
            assert!(
                parse_line(wrong)
                    .unwrap_err()
                    .starts_with("must be INTERFACE"),
                "{wrong}"
            );
        }
    }

    #[test]
    fn a_window_is_what_was_given_and_has_not_left() {
        let mut window = Window::new(4000, 100);
        assert!(window.has_room(4000) && !window.has_room(4001));
        window.given += 3000;
        assert!(window.has_room(1000) && !window.has_room(1001));
        window.look(1100);
        assert!(window.has_room(2000) && !window.has_room(2001));
        assert!(!window.is_fast, "a quarter left");
        window.look(3101);
        assert!(window.is_fast, "more than half left at once");
        window.look(9000);
        assert!(window.has_room(4000), "others have sent");
    }

    #[test]
    fn nobody_passes_the_frames_on() {
        let frame = frame(60);
        assert_eq!(frame.len(), 60);
        assert_eq!(
            frame[..14],
            [1, 0x80, 0xc2, 0, 0, 0x0e, 2, 0, 0, 0, 0, 0, 0x88, 0xb5]
        );
    }
}
