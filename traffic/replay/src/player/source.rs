//! What an event came from, as the 64 bits that epoll returns.

use crate::connection::Handle;
use crate::hosts::HostId;
use crate::trace::ServiceId;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    Connection(Handle),
    Listener(ServiceId),
    /// A host that did not take what it is told at once.
    Peer(HostId),
    /// What other hosts tell.
    Mailbox,
    /// The host's RoCE NIC.
    Roce,
    /// The host's socket of Homa.
    Homa,
    Timer,
    Signals,
}

/// Handles leave the highest bit free.
const NO_CONNECTION: u64 = 1 << 63;
const LISTENER: u64 = 1;
const PEER: u64 = 2;
const MAILBOX: u64 = 3;
const TIMER: u64 = 4;
const SIGNALS: u64 = 5;
const ROCE: u64 = 6;
const HOMA: u64 = 7;

impl Source {
    pub fn token(self) -> u64 {
        let (kind, which) = match self {
            Self::Connection(handle) => return handle.token(),
            Self::Listener(service) => (LISTENER, service.into()),
            Self::Peer(host) => (PEER, host),
            Self::Mailbox => (MAILBOX, 0),
            Self::Roce => (ROCE, 0),
            Self::Homa => (HOMA, 0),
            Self::Timer => (TIMER, 0),
            Self::Signals => (SIGNALS, 0),
        };
        NO_CONNECTION | (kind << 32) | u64::from(which)
    }

    pub fn of(token: u64) -> Self {
        if token & NO_CONNECTION == 0 {
            return Self::Connection(Handle::from_token(token));
        }
        let which = token as u32;
        match (token & !NO_CONNECTION) >> 32 {
            LISTENER => Self::Listener(which as ServiceId),
            PEER => Self::Peer(which),
            MAILBOX => Self::Mailbox,
            ROCE => Self::Roce,
            HOMA => Self::Homa,
            TIMER => Self::Timer,
            _ => Self::Signals,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_tells_its_source() {
        let sources = [
            Source::Connection(Handle::from_token(0x7fff_ffff_ffff_ffff)),
            Source::Connection(Handle::from_token(0)),
            Source::Listener(65_535),
            Source::Peer(u32::MAX),
            Source::Mailbox,
            Source::Roce,
            Source::Homa,
            Source::Timer,
            Source::Signals,
        ];
        for source in sources {
            assert_eq!(Source::of(source.token()), source);
        }
    }
}
