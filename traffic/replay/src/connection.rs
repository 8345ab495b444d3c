//! A TCP connection to another host, and the table of those that are open.

use std::os::fd::AsRawFd;

use socket2::Socket;

use crate::counters::TcpCounters;
use crate::head::Head;
use crate::log::Carried;
use crate::mptcp::Subflows;
use crate::receiver::Receiver;
use crate::sender::Sender;
use crate::trace::KeptId;

pub enum Role {
    /// The peer connected; its first four bytes will say what for.
    Unidentified(Head),
    Sender(Sender),
    Receiver(Receiver),
}

pub struct Connection {
    pub socket: Socket,
    pub kept: Option<KeptId>,
    /// `None` while this side's connect is under way.
    pub connected_ns: Option<i64>,
    pub role: Role,
    /// Where MPTCP was asked for.
    pub subflows: Option<Box<Subflows>>,
}

impl Connection {
    /// Looks at the subflows of an MPTCP connection as they are now.
    pub fn look_at_subflows(&mut self) {
        if let (Some(subflows), Some(_)) = (&mut self.subflows, self.connected_ns) {
            subflows.look(self.socket.as_raw_fd());
        }
    }

    /// The sender's counters since the flow before, as far as they were looked at.
    pub fn count(&mut self) -> TcpCounters {
        match (&self.subflows, &mut self.role) {
            (Some(subflows), _) if !subflows.is_tcp() => subflows.counters(),
            (_, Role::Sender(sender)) => sender.count(self.socket.as_raw_fd()),
            _ => TcpCounters::default(),
        }
    }

    /// What the connection is, as far as it was looked at; `None` while there is none.
    pub fn carried(&self) -> Option<Carried> {
        self.connected_ns?;
        Some(match &self.subflows {
            None => Carried::Tcp,
            Some(subflows) if subflows.is_tcp() => Carried::Fallback,
            Some(_) => Carried::Mptcp,
        })
    }

    /// Most subflows that were seen established at one time.
    pub fn most_subflows(&self) -> Option<u32> {
        self.subflows.as_ref()?.most_established()
    }
}

/// Generations leave a token's highest bit free.
const MAX_GENERATION: u32 = u32::MAX >> 1;

/// A connection's place in the table, and which of the connections that were there in turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Handle {
    index: u32,
    generation: u32,
}

impl Handle {
    /// As the 64 bits that epoll returns.
    pub fn token(self) -> u64 {
        (u64::from(self.generation) << 32) | u64::from(self.index)
    }

    pub fn from_token(token: u64) -> Self {
        Self {
            index: token as u32,
            generation: (token >> 32) as u32,
        }
    }
}

#[derive(Default)]
struct Place {
    generation: u32,
    connection: Option<Connection>,
}

/// The open connections; an event for one that was closed meanwhile finds nothing.
#[derive(Default)]
pub struct Connections {
    places: Vec<Place>,
    free: Vec<u32>,
}

impl Connections {
    /// A place that [`Connections::put`] will fill.
    pub fn reserve(&mut self) -> Handle {
        let index = self.free.pop().unwrap_or_else(|| {
            self.places.push(Place::default());
            self.places.len() as u32 - 1
        });
        Handle {
            index,
            generation: self.places[index as usize].generation,
        }
    }

    pub fn put(&mut self, handle: Handle, connection: Connection) {
        self.places[handle.index as usize].connection = Some(connection);
    }

    /// Takes a connection out for work on it; it goes back with `put` or away with `release`.
    pub fn take(&mut self, handle: Handle) -> Option<Connection> {
        let place = self.places.get_mut(handle.index as usize)?;
        if place.generation == handle.generation {
            place.connection.take()
        } else {
            None
        }
    }

    /// Frees the place of a connection that was taken.
    pub fn release(&mut self, handle: Handle) {
        let place = &mut self.places[handle.index as usize];
        place.generation = (place.generation + 1) & MAX_GENERATION;
        self.free.push(handle.index);
    }

    /// Takes all that are open, in the order of their places.
    pub fn take_all(&mut self) -> Vec<Connection> {
        self.places
            .iter_mut()
            .filter_map(|place| place.connection.take())
            .collect()
    }
}
