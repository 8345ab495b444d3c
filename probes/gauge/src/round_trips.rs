//! Round trips of idle paths. The kernel stamps an answer when it comes in: how soon this process runs is no part of
//! it.

use std::io::{self, IoSliceMut, Write};
use std::net::{IpAddr, SocketAddr};
use std::os::fd::{AsFd, AsRawFd};
use std::thread::sleep;
use std::time::{Duration, Instant};

use nix::cmsg_space;
use nix::poll::{poll, PollFd, PollFlags, PollTimeout};
use nix::sys::socket::{
    recvmsg, setsockopt, sockopt::ReceiveTimestampns, ControlMessageOwned, MsgFlags,
};
use nix::sys::time::TimeSpec;
use nix::time::{clock_gettime, ClockId};
use serde_json::json;
use socket2::{Domain, Protocol, Socket, Type};

use crate::echo::{behind_ipv4_header, is_reply, request, Kind, IPV4, IPV6};

const PACKET_BYTES: usize = 2048;

/// How often is asked, and how long is waited.
pub struct Pace {
    pub count: u16,
    pub pause: Duration,
    pub patience: Duration,
}

/// Prints a line of JSON for each address: `address`, `sent`, `round_trips_ns` (of what was answered).
pub fn measure(addresses: &[IpAddr], pace: &Pace) -> io::Result<()> {
    let mut output = io::stdout().lock();
    for address in addresses {
        let found = Echoes::open(*address)?.measure(pace)?;
        let line = json!({"address": address, "sent": pace.count, "round_trips_ns": found});
        writeln!(output, "{line}")?;
    }
    output.flush()
}

struct Echoes {
    socket: Socket,
    kind: Kind,
    identifier: u16,
}

impl Echoes {
    fn open(address: IpAddr) -> io::Result<Self> {
        let (domain, protocol, kind) = match address {
            IpAddr::V4(_) => (Domain::IPV4, Protocol::ICMPV4, IPV4),
            IpAddr::V6(_) => (Domain::IPV6, Protocol::ICMPV6, IPV6),
        };
        let socket = Socket::new(domain, Type::RAW, Some(protocol))?;
        setsockopt(&socket, ReceiveTimestampns, &true)?;
        socket.connect(&SocketAddr::new(address, 0).into())?;
        let identifier = std::process::id() as u16;
        Ok(Self {
            socket,
            kind,
            identifier,
        })
    }

    fn measure(&self, pace: &Pace) -> io::Result<Vec<i64>> {
        let mut found = Vec::new();
        for sequence in 0..pace.count {
            let sent_ns = nanoseconds(clock_gettime(ClockId::CLOCK_REALTIME)?);
            match self
                .socket
                .send(&request(self.kind, self.identifier, sequence))
            {
                Ok(_) => {}
                Err(error) if is_unreachable(&error) => return Ok(found),
                Err(error) => return Err(error),
            }
            if let Some(received_ns) = self.await_reply(sequence, pace.patience)? {
                found.push(received_ns - sent_ns);
            }
            sleep(pace.pause);
        }
        Ok(found)
    }

    /// When the reply came in; `None` where none comes in time.
    fn await_reply(&self, sequence: u16, patience: Duration) -> io::Result<Option<i64>> {
        let deadline = Instant::now() + patience;
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            let timeout = PollTimeout::try_from(left).unwrap_or(PollTimeout::MAX);
            if poll(
                &mut [PollFd::new(self.socket.as_fd(), PollFlags::POLLIN)],
                timeout,
            )? == 0
            {
                return Ok(None);
            }
            if let Some(received_ns) = self.receive(sequence)? {
                return Ok(Some(received_ns));
            }
        }
    }

    fn receive(&self, sequence: u16) -> io::Result<Option<i64>> {
        let mut packet = [0; PACKET_BYTES];
        let mut room = cmsg_space!(TimeSpec);
        let mut parts = [IoSliceMut::new(&mut packet)];
        let descriptor = self.socket.as_raw_fd();
        let message = recvmsg::<()>(descriptor, &mut parts, Some(&mut room), MsgFlags::empty())?;
        let stamp = message.cmsgs()?.find_map(|control| match control {
            ControlMessageOwned::ScmTimestampns(stamp) => Some(nanoseconds(stamp)),
            _ => None,
        });
        let length = message.bytes;
        let bytes = &packet[..length];
        let reply = if self.kind.has_ip_header() {
            behind_ipv4_header(bytes)
        } else {
            bytes
        };
        Ok(stamp.filter(|_| is_reply(self.kind, reply, self.identifier, sequence)))
    }
}

fn nanoseconds(time: TimeSpec) -> i64 {
    time.tv_sec() * 1_000_000_000 + time.tv_nsec()
}

fn is_unreachable(error: &io::Error) -> bool {
    matches!(
        error.raw_os_error(),
        Some(libc::ENETUNREACH | libc::EHOSTUNREACH | libc::ECONNREFUSED)
    )
}
