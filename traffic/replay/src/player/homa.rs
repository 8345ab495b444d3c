//! What the player does with flows over Homa: each is a remote procedure call. A push is a request of the flow's size
//! with a short answer; the answer to a pull's request is the flow.

use std::io;
use std::net::{IpAddr, SocketAddrV4};
use std::time::Duration;

use super::Player;
use crate::errno;
use crate::homa::Message;
use crate::hosts::Family;
use crate::log::Status;
use crate::schedule::RowId;
use crate::trace::{Extent, Flow, Mode, Side, HEAD_BYTES};

/// How often to look whether answers are acknowledged, and how often at most: for half a second, as Homa gives up a
/// peer that is silent after a fifth of that.
const LOOK_INTERVAL: Duration = Duration::from_micros(500);
const MOST_LOOKS: u32 = 1000;

impl Player {
    pub(super) fn start_call(&mut self, row: RowId, flow: &Flow, start_ns: i64) -> io::Result<()> {
        let bytes = match flow.mode {
            Mode::Push => size_of(flow),
            Mode::Pull | Mode::Read => flow.request_bytes.into(),
        };
        let asked = self.hosts.addresses(flow.peer).of(Some(Family::V4));
        let port = self.network.port(flow.service);
        let Some(calls) = &mut self.calls else {
            return Ok(());
        };
        let number = flow.number.to_be_bytes();
        let sent = match asked {
            Some(IpAddr::V4(address)) => {
                let peer = SocketAddrV4::new(address, port);
                calls.socket.request(peer, row.into(), number, bytes)
            }
            _ => Err(io::Error::from_raw_os_error(libc::EADDRNOTAVAIL)),
        };
        match sent {
            Ok(()) => {
                calls.begun.insert(row, start_ns);
                Ok(())
            }
            Err(error) => {
                let status = Status::Failed(errno::number(&error));
                self.flows
                    .end_unconnected(row, status, Some(start_ns), &self.clock)
            }
        }
    }

    pub(super) fn read_messages(&mut self) -> io::Result<()> {
        while let Some(calls) = &mut self.calls {
            match calls.socket.receive()? {
                None => break,
                Some(Message::Answer { cookie, bytes }) => {
                    let status = match &bytes {
                        Ok(_) => Status::Complete,
                        Err(error) => Status::Failed(errno::number(error)),
                    };
                    self.end_call(cookie as RowId, status)?;
                }
                Some(Message::Request {
                    id,
                    from,
                    head,
                    bytes,
                }) => self.on_request(id, from, head, bytes)?,
            }
        }
        Ok(())
    }

    /// A request came: the data of a push, or what asks for those of a pull.
    fn on_request(
        &mut self,
        id: u64,
        from: SocketAddrV4,
        head: [u8; HEAD_BYTES as usize],
        bytes: u64,
    ) -> io::Result<()> {
        let Some(row) = self.flows.find_open(u32::from_be_bytes(head)) else {
            return Ok(());
        };
        let flow = self.flows.flow(row).clone();
        let (answer, moved) = match flow.side {
            Side::Dst => (HEAD_BYTES, bytes),
            Side::Src => (size_of(&flow), size_of(&flow)),
        };
        let sent = match &mut self.calls {
            Some(calls) => {
                calls.has_answered |= flow.side == Side::Src;
                calls.socket.answer(from, id, head, answer)
            }
            None => Ok(()),
        };
        let status = match (flow.side, sent) {
            // The data came, whatever becomes of the answer.
            (Side::Dst, _) | (Side::Src, Ok(())) => Status::Complete,
            (Side::Src, Err(error)) => Status::Failed(errno::number(&error)),
        };
        self.look_for_due = true;
        self.flows.end_called(row, None, status, moved, &self.clock)
    }

    /// Ends a call that this host began.
    fn end_call(&mut self, row: RowId, status: Status) -> io::Result<()> {
        let calls = self.calls.as_mut();
        let Some(start_ns) = calls.and_then(|calls| calls.begun.remove(&row)) else {
            return Ok(());
        };
        let bytes = match status {
            Status::Complete => size_of(self.flows.flow(row)),
            _ => 0,
        };
        self.look_for_due = true;
        self.flows
            .end_called(row, Some(start_ns), status, bytes, &self.clock)
    }

    /// Ends what is open at the end of the run, in trace order.
    pub(super) fn end_calls(&mut self, status: Status) -> io::Result<()> {
        if !self.power_lost {
            self.read_messages()?;
        }
        let begun = self.calls.iter().flat_map(|calls| calls.begun.keys());
        let mut rows: Vec<_> = begun.copied().collect();
        rows.sort_unstable();
        rows.into_iter()
            .try_for_each(|row| self.end_call(row, status))?;
        self.let_answers_go()
    }

    /// Waits until the answers with data are acknowledged: Homa forgets what it has not sent when a socket is closed.
    fn let_answers_go(&self) -> io::Result<()> {
        let Some(calls) = self.calls.as_ref().filter(|calls| calls.has_answered) else {
            return Ok(());
        };
        for _ in 0..MOST_LOOKS {
            if self.terminated || calls.socket.open_calls()? == 0 {
                break;
            }
            std::thread::sleep(LOOK_INTERVAL);
        }
        Ok(())
    }
}

fn size_of(flow: &Flow) -> u64 {
    match flow.extent {
        Extent::Bytes(bytes) => bytes,
        Extent::UntilNs(_) => 0,
    }
}
