//! How the player and those of other hosts tell each other which groups are complete.

use std::io;

use super::source::Source;
use super::Player;
use crate::hosts::HostId;
use crate::rendezvous::Delivery;
use crate::schedule::{Action, Part};
use crate::wakeups;

/// How long after a host was not there it is told again.
const RETRY_NS: i64 = 1_000_000;

impl Player {
    /// Whether nothing is left to play or to tell.
    pub(super) fn is_done(&self) -> bool {
        let idle = self
            .rendezvous
            .as_ref()
            .is_none_or(|rendezvous| rendezvous.is_idle());
        self.flows.all_ended() && idle
    }

    /// Tells other hosts which groups they need not wait for any more.
    pub(super) fn send_notices(&mut self) -> io::Result<()> {
        let Some(rendezvous) = &mut self.rendezvous else {
            return Ok(());
        };
        let mut told: Vec<HostId> = Vec::new();
        for notice in self.flows.schedule.take_notices() {
            if let Some(socket) = rendezvous.tell(notice.to, notice.group, notice.state)? {
                let token = Source::Peer(notice.to).token();
                self.epoll.add(socket, wakeups::WRITABLE, token)?;
            }
            if !told.contains(&notice.to) {
                told.push(notice.to);
            }
        }
        told.into_iter().try_for_each(|host| self.deliver(host))
    }

    pub(super) fn deliver(&mut self, host: HostId) -> io::Result<()> {
        let Some(rendezvous) = &mut self.rendezvous else {
            return Ok(());
        };
        if rendezvous.deliver(host, self.hosts.name(host))? == Delivery::Later {
            let again_ns = self.clock.now_ns() + RETRY_NS;
            self.flows.schedule.at(again_ns, Action::Tell(host));
        }
        Ok(())
    }

    pub(super) fn read_mailbox(&mut self) -> io::Result<()> {
        self.look_for_due = true;
        while let Some((group, part)) = self
            .rendezvous
            .as_ref()
            .map_or(Ok(None), |rendezvous| rendezvous.next_message())?
        {
            match part {
                Part::Complete => self.flows.other_part_complete(group, &self.clock),
                Part::Failed => self.flows.other_part_failed(group, &self.clock)?,
            }
        }
        Ok(())
    }
}
