//! Where hosts tell each other that groups are complete: a directory with a Unix datagram socket of each host, named by
//! it. Such sockets reach across network namespaces, and in virtual time a datagram takes no time.
//!
//! A message is one byte, `c` (this host's part of the group is complete) or `f` (it can't be any more), and the
//! group's number (by first appearance in the trace, four bytes, most significant first).

use std::collections::{BTreeMap, VecDeque};
use std::io;
use std::os::unix::net::UnixDatagram;
use std::path::{Path, PathBuf};

use crate::hosts::HostId;
use crate::schedule::Part;
use crate::trace::GroupId;

const MESSAGE_BYTES: usize = 5;
type Message = [u8; MESSAGE_BYTES];

/// What is to be done for a message to arrive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Delivery {
    Done,
    /// The peer's queue is full: [`Rendezvous::deliver`] goes on when the socket is writable.
    WhenWritable,
    /// The peer is not there yet.
    Later,
}

/// A host that is told something.
struct Peer {
    socket: UnixDatagram,
    connected: bool,
    outbox: VecDeque<Message>,
}

pub struct Rendezvous {
    directory: PathBuf,
    mailbox: UnixDatagram,
    peers: BTreeMap<HostId, Peer>,
}

impl Rendezvous {
    /// Opens this host's mailbox, in place of one that an earlier run left.
    pub fn open(directory: &Path, host: &str) -> io::Result<Self> {
        let path = directory.join(host);
        match std::fs::remove_file(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        let mailbox = UnixDatagram::bind(&path)?;
        mailbox.set_nonblocking(true)?;
        Ok(Self {
            directory: directory.to_owned(),
            mailbox,
            peers: BTreeMap::new(),
        })
    }

    pub fn mailbox(&self) -> &UnixDatagram {
        &self.mailbox
    }

    /// The next message of another host; `None` when there is none.
    pub fn next_message(&self) -> io::Result<Option<(GroupId, Part)>> {
        let mut message = [0; MESSAGE_BYTES + 1];
        let length = match self.mailbox.recv(&mut message) {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(None),
            received => received?,
        };
        decode(&message[..length]).map(Some).ok_or_else(|| {
            let directory = self.directory.display();
            io::Error::other(format!(
                "{directory}: got a message that this version of replay does not write"
            ))
        })
    }

    /// Puts a message into a peer's outbox; returns the peer's socket when it is a new one, whose writability is to be
    /// watched.
    pub fn tell(
        &mut self,
        to: HostId,
        group: GroupId,
        state: Part,
    ) -> io::Result<Option<&UnixDatagram>> {
        let is_new = !self.peers.contains_key(&to);
        if is_new {
            let socket = UnixDatagram::unbound()?;
            socket.set_nonblocking(true)?;
            let (connected, outbox) = (false, VecDeque::new());
            self.peers.insert(
                to,
                Peer {
                    socket,
                    connected,
                    outbox,
                },
            );
        }
        let peer = self.peers.get_mut(&to);
        Ok(peer.and_then(|peer| {
            peer.outbox.push_back(encode(group, state));
            is_new.then_some(&peer.socket)
        }))
    }

    /// Sends what waits for a peer, as far as it goes.
    pub fn deliver(&mut self, to: HostId, name: &str) -> io::Result<Delivery> {
        let Some(peer) = self.peers.get_mut(&to) else {
            return Ok(Delivery::Done);
        };
        match peer.deliver(&self.directory.join(name)) {
            Ok(()) => Ok(Delivery::Done),
            Err(error) => match error.raw_os_error() {
                Some(libc::EAGAIN) => Ok(Delivery::WhenWritable),
                Some(libc::ENOENT) => Ok(Delivery::Later),
                // The peer has ended: nothing waits there any more.
                Some(libc::ECONNREFUSED | libc::ENOTCONN | libc::EPIPE) => {
                    peer.outbox.clear();
                    Ok(Delivery::Done)
                }
                _ => Err(error),
            },
        }
    }

    pub fn is_idle(&self) -> bool {
        self.peers.values().all(|peer| peer.outbox.is_empty())
    }
}

impl Peer {
    fn deliver(&mut self, path: &Path) -> io::Result<()> {
        if !self.connected {
            self.socket.connect(path)?;
            self.connected = true;
        }
        while let Some(message) = self.outbox.front() {
            self.socket.send(message)?;
            self.outbox.pop_front();
        }
        Ok(())
    }
}

fn encode(group: GroupId, state: Part) -> Message {
    let [a, b, c, d] = group.to_be_bytes();
    let state = match state {
        Part::Complete => b'c',
        Part::Failed => b'f',
    };
    [state, a, b, c, d]
}

fn decode(message: &[u8]) -> Option<(GroupId, Part)> {
    let &[state, a, b, c, d] = message else {
        return None;
    };
    let state = match state {
        b'c' => Part::Complete,
        b'f' => Part::Failed,
        _ => return None,
    };
    Some((GroupId::from_be_bytes([a, b, c, d]), state))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_waits_until_the_peer_is_there() {
        let directory = tempfile::tempdir().expect("temporary directory");
        let mut one = Rendezvous::open(directory.path(), "h1").expect("open");
        let new = one.tell(7, 258, Part::Complete).expect("tell");
        assert!(new.is_some());
        assert_eq!(one.deliver(7, "h2").expect("deliver"), Delivery::Later);
        let other = Rendezvous::open(directory.path(), "h2").expect("open");
        assert!(one.tell(7, 3, Part::Failed).expect("tell").is_none());
        assert_eq!(one.deliver(7, "h2").expect("deliver"), Delivery::Done);
        assert!(one.is_idle());
        assert_eq!(
            other.next_message().expect("read"),
            Some((258, Part::Complete))
        );
        assert_eq!(other.next_message().expect("read"), Some((3, Part::Failed)));
        assert_eq!(other.next_message().expect("read"), None);
    }

    #[test]
    fn a_full_mailbox_takes_the_rest_when_it_is_read() {
        let directory = tempfile::tempdir().expect("temporary directory");
        let mut one = Rendezvous::open(directory.path(), "h1").expect("open");
        let other = Rendezvous::open(directory.path(), "h2").expect("open");
        for group in 0..10_000 {
            one.tell(0, group, Part::Complete).expect("tell");
        }
        assert_eq!(
            one.deliver(0, "h2").expect("deliver"),
            Delivery::WhenWritable
        );
        for group in 0..10_000 {
            let mut message = other.next_message().expect("read");
            if message.is_none() {
                one.deliver(0, "h2").expect("deliver");
                message = other.next_message().expect("read");
            }
            assert_eq!(message, Some((group, Part::Complete)));
        }
        assert!(one.is_idle());
    }

    #[test]
    fn what_has_ended_is_told_nothing() {
        let directory = tempfile::tempdir().expect("temporary directory");
        let mut one = Rendezvous::open(directory.path(), "h1").expect("open");
        drop(Rendezvous::open(directory.path(), "h2").expect("open"));
        one.tell(0, 1, Part::Complete).expect("tell");
        assert_eq!(one.deliver(0, "h2").expect("deliver"), Delivery::Done);
        assert!(one.is_idle());
    }
}
