//! Listens to the congestion events of one network namespace, without waiting.

use std::io;
use std::path::Path;

use crate::namespace::{describe, open_socket};
use netlink::switch_port::event::{FAMILY, GROUP};
use netlink::{messages, Family, Inbox, Protocol, Reply, Socket};

use crate::switch::event::{read_event, Event};

/// An event of the largest switch, with bytes from each of its 256 ports and its own, takes up to 8.5 KB.
const MESSAGE_BYTES: usize = 16 * 1024;

/// Room for what comes between two samples. A message takes about a kilobyte of it, so this is some thousand events.
const RECEIVE_BUFFER_BYTES: u32 = 4 << 20;

pub struct Listener {
    socket: Socket,
    family: u16,
}

impl Listener {
    pub fn open(netns: Option<&Path>) -> Result<Self, String> {
        let socket = open_socket(netns, Protocol::Generic)?;
        Self::join(socket)
            .map_err(|error| format!("congestion events of {}: {error}", describe(netns)))
    }

    fn join(socket: Socket) -> io::Result<Self> {
        let (family, group) = find_family(&socket)?;
        socket.set_receive_buffer(RECEIVE_BUFFER_BYTES)?;
        socket.count_losses_silently()?;
        socket.join(group)?;
        Ok(Self { socket, family })
    }

    pub fn new_inbox() -> Inbox {
        Inbox::new(Inbox::MAX_SLOTS, MESSAGE_BYTES)
    }

    /// Hands on all events that have come, in the order in which they happened.
    pub fn drain(&self, inbox: &mut Inbox, mut each: impl FnMut(Event)) -> io::Result<()> {
        loop {
            inbox.receive(&self.socket, Inbox::MAX_SLOTS)?;
            for message in inbox.datagrams().flat_map(messages) {
                let message = message?;
                if message.kind == self.family {
                    read_event(message.payload).into_iter().for_each(&mut each);
                }
            }
            if inbox.len() < Inbox::MAX_SLOTS {
                return Ok(());
            }
        }
    }

    /// How many messages the kernel had no room for.
    pub fn lost(&self) -> io::Result<u32> {
        self.socket.losses()
    }
}

/// The numbers of the family and of its multicast group.
fn find_family(socket: &Socket) -> io::Result<(u16, u32)> {
    socket.send(Family::request(FAMILY, 0).finish(0))?;
    let mut inbox = Listener::new_inbox();
    inbox.receive(socket, 1)?;
    for message in inbox.datagrams().flat_map(messages) {
        match message?.reply() {
            Reply::Data(payload) => {
                return read_family(payload).ok_or_else(|| {
                    io::Error::other(format!(
                        "the kernel's `{FAMILY}` has no multicast group `{GROUP}`"
                    ))
                })
            }
            Reply::Refused(libc::ENOENT) => break,
            Reply::Refused(errno) => return Err(io::Error::from_raw_os_error(errno)),
            Reply::Done => {}
        }
    }
    Err(io::Error::other(format!(
        "this kernel has no generic netlink family `{FAMILY}`: it lacks the qdisc of that name"
    )))
}

/// The family's number and that of our group.
fn read_family(payload: &[u8]) -> Option<(u16, u32)> {
    let family = Family::read(payload)?;
    Some((family.id, family.group(GROUP)?))
}

#[cfg(test)]
#[path = "listener_tests.rs"]
mod tests;
