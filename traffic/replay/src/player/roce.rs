//! What the player does with flows over RoCE. The times of their ends are the NIC's, not those of waking up.

use std::io;
use std::net::{IpAddr, Ipv4Addr};

use super::kept_pairs::{first_of, KeptPair};
use super::Player;
use crate::errno;
use crate::hosts::Family;
use crate::log::Status;
use crate::roce::{Completion, Connect, End, Event};
use crate::schedule::{Action, RowId};
use crate::trace::Side;

/// How long after there was no way to a peer its queue pair is tried again, before the epoch.
const RETRY_NS: i64 = 1_000_000;

impl Player {
    pub(super) fn open_queue_pairs(&mut self) {
        let trace = &self.flows.trace;
        for (row, flow) in trace.flows.iter().enumerate() {
            // Those behind the first of a pair have it with that.
            let is_first = flow
                .kept
                .is_none_or(|kept| first_of(trace, kept) == flow.number);
            if trace.is_roce(flow) && is_first {
                self.flows
                    .schedule
                    .at(i64::MIN, Action::Connect(row as RowId));
            }
        }
    }

    pub(super) fn connect_pair(&mut self, row: RowId) -> io::Result<()> {
        let connect = self.addresses_of(row);
        let Some(pairs) = &mut self.queue_pairs else {
            return Ok(());
        };
        match connect.and_then(|connect| pairs.device.connect(&connect)) {
            Ok(()) => {
                let rows = pairs.rows_with(row, self.flows.flow(row));
                let ends = rows.into_iter().map(|row| (row, End::default()));
                pairs.ends.extend(ends);
                Ok(())
            }
            Err(error) => self.pair_unconnected(row, errno::number(&error)),
        }
    }

    fn addresses_of(&self, row: RowId) -> io::Result<Connect> {
        let flow = self.flows.flow(row);
        let peer = self.hosts.addresses(flow.peer).of(Some(Family::V4));
        let own = self.network.own_address(Family::V4);
        let (peer, own) = (ipv4(peer)?, ipv4(own)?);
        let ends = match flow.side {
            Side::Src => [own, peer],
            Side::Dst => [peer, own],
        };
        Ok(Connect::of(flow.number, peer, ends))
    }

    /// A queue pair could not be connected: routes may come until the epoch. Who starts the flow has then failed when
    /// it starts; the other end at once, as nothing can come any more.
    fn pair_unconnected(&mut self, row: RowId, number: i32) -> io::Result<()> {
        // The kernel may have waited for the peer's hardware address.
        self.clock.forget();
        let now_ns = self.clock.now_ns();
        if [libc::EHOSTUNREACH, libc::ENETUNREACH].contains(&number) && now_ns < 0 {
            let again_ns = (now_ns + RETRY_NS).min(0);
            self.flows.schedule.at(again_ns, Action::Connect(row));
            return Ok(());
        }
        let flow = self.flows.flow(row);
        let Some(pairs) = &mut self.queue_pairs else {
            return Ok(());
        };
        if !std::mem::replace(&mut pairs.said_why, true) {
            let (flow, why) = (flow.number, reason(number));
            let name = errno::Name(number);
            eprintln!(
                "replay: the queue pair of flow {flow} failed: {name}{why}; others are not named"
            );
        }
        let rows = pairs.rows_with(row, flow);
        if flow.starts_here() {
            pairs
                .failed
                .extend(rows.into_iter().map(|row| (row, number)));
            return Ok(());
        }
        self.look_for_due = true;
        rows.into_iter().try_for_each(|row| {
            self.flows
                .end_unconnected(row, Status::Failed(number), None, &self.clock)
        })
    }

    pub(super) fn start_pair(&mut self, row: RowId, start_ns: i64) -> io::Result<()> {
        let flow = self.flows.flow(row).clone();
        let Some(pairs) = &mut self.queue_pairs else {
            return Ok(());
        };
        let Some(end) = pairs.ends.get_mut(&row) else {
            let number = pairs.failed.remove(&row).unwrap_or(libc::ENOTCONN);
            let status = Status::Failed(number);
            return self
                .flows
                .end_unconnected(row, status, Some(start_ns), &self.clock);
        };
        end.start(&flow, start_ns);
        self.post_messages(row)
    }

    /// Posts what may be posted now; a flow that cannot has failed.
    fn post_messages(&mut self, row: RowId) -> io::Result<()> {
        let trace = &self.flows.trace;
        let posted = self
            .queue_pairs
            .as_mut()
            .map(|pairs| pairs.post(row, trace));
        match posted {
            Some(Err(error)) => {
                let status = Status::Failed(errno::number(&error));
                self.end_pair(row, status, self.clock.now_ns())
            }
            _ => Ok(()),
        }
    }

    pub(super) fn read_completions(&mut self) -> io::Result<()> {
        let Some(pairs) = &self.queue_pairs else {
            return Ok(());
        };
        let mut completions = Vec::new();
        pairs.device.read_completions(&mut completions)?;
        completions
            .iter()
            .try_for_each(|completion| self.on_completion(completion))
    }

    fn on_completion(&mut self, completion: &Completion) -> io::Result<()> {
        let Some(pairs) = self.queue_pairs.as_mut() else {
            return Ok(());
        };
        // What comes for a flow that has ended here is of no interest: a long one that stopped, say.
        let kept = pairs.kept.get(&completion.flow);
        let row = kept.map_or_else(|| self.flows.find_open(completion.flow), KeptPair::current);
        let Some((row, end)) = row.and_then(|row| Some((row, pairs.ends.get_mut(&row)?))) else {
            return Ok(());
        };
        let flow = self.flows.flow(row).clone();
        let at_ns = self.clock.after_epoch_ns(completion.time_ns);
        let first_ns = completion
            .first_ns
            .map(|first_ns| self.clock.after_epoch_ns(first_ns));
        end.counters = kept.map_or(completion.counters, |pair| {
            pair.counters(completion.counters)
        });
        match completion.event {
            Event::Sent => end.sent(&flow, completion.bytes, first_ns),
            Event::Received => end.received(&flow, completion.bytes, first_ns),
            Event::Answered => end.answered(completion.bytes, first_ns),
            Event::Failed(number) => {
                let status = match () {
                    () if self.power_lost => Status::Failed(libc::EHOSTDOWN),
                    () if self.is_time_over(row) => Status::Stopped,
                    () => Status::Failed(number),
                };
                return self.pair_failed(row, completion.flow, status, at_ns);
            }
        }
        if !end.is_complete(&flow) {
            return self.post_messages(row);
        }
        if let Some(pair) = pairs.kept.get_mut(&completion.flow) {
            pair.current_ended(completion.counters);
        }
        self.end_pair(row, Status::Complete, at_ns)
    }

    /// A queue pair ended before its time: what has started on it, with it, and what has not when it starts. `first`
    /// is the flow whose number the pair has.
    fn pair_failed(
        &mut self,
        row: RowId,
        first: u32,
        status: Status,
        at_ns: i64,
    ) -> io::Result<()> {
        let Some(pairs) = self.queue_pairs.as_mut() else {
            return Ok(());
        };
        let rows = match pairs.kept.get_mut(&first) {
            Some(pair) => pair.fail(),
            None => vec![row],
        };
        for row in rows {
            let Some(pairs) = self.queue_pairs.as_mut() else {
                return Ok(());
            };
            let has_started = |end: &End| end.start_ns.is_some();
            if pairs.ends.get(&row).is_some_and(has_started) {
                self.end_pair(row, status, at_ns)?;
            } else {
                pairs.ends.remove(&row);
                pairs.failed.insert(row, libc::ENOTCONN);
            }
        }
        Ok(())
    }

    /// Ends a flow that has a queue pair. The pair stays until the program ends, and nothing is posted to it any more.
    fn end_pair(&mut self, row: RowId, status: Status, end_ns: i64) -> io::Result<()> {
        let pairs = self.queue_pairs.as_mut();
        let Some(end) = pairs.and_then(|pairs| pairs.ends.remove(&row)) else {
            return Ok(());
        };
        // A group may be complete with it, and flows that wait for the group due at once.
        self.look_for_due = true;
        self.flows
            .end_paired(row, &end, status, end_ns, &self.clock)
    }

    /// Ends a long flow on time. What it has posted the NIC still sends; neither end counts it.
    pub(super) fn stop_pair(&mut self, row: RowId) -> io::Result<()> {
        // What has come by now counts.
        self.read_completions()?;
        let flow = self.flows.flow(row);
        // The destination sees nothing of a flow before a message is whole. That it was under way it knows where the
        // clock alone starts it.
        let is_timed = flow.side == Side::Dst && flow.after.is_empty();
        let end = self
            .queue_pairs
            .as_ref()
            .and_then(|pairs| pairs.ends.get(&row));
        if end.is_some_and(|end| end.is_under_way() || is_timed) {
            return self.end_pair(row, Status::Stopped, self.clock.now_ns());
        }
        self.flows
            .end_unconnected(row, Status::Unstarted, None, &self.clock)
    }

    /// Ends what is open at the end of the run, in trace order; what nothing was seen of is left.
    pub(super) fn end_pairs(&mut self, status: Status) -> io::Result<()> {
        if !self.power_lost {
            self.read_completions()?;
        }
        let Some(pairs) = &self.queue_pairs else {
            return Ok(());
        };
        let under_way = pairs.ends.iter().filter(|(_, end)| end.is_under_way());
        let mut rows: Vec<_> = under_way.map(|(&row, _)| row).collect();
        rows.sort_unstable();
        let now_ns = self.clock.now_ns();
        rows.into_iter()
            .try_for_each(|row| self.end_pair(row, status, now_ns))
    }
}

fn ipv4(address: Option<IpAddr>) -> io::Result<Ipv4Addr> {
    match address {
        Some(IpAddr::V4(address)) => Ok(address),
        _ => Err(io::Error::from_raw_os_error(libc::EADDRNOTAVAIL)),
    }
}

/// What an error of a queue pair means, where its name does not say it.
fn reason(number: i32) -> &'static str {
    match number {
        libc::ENODEV => " (the NIC towards its peer has no RoCE)",
        libc::EMSGSIZE => " (a packet of the path MTU is longer than the link's MTU allows)",
        libc::EOPNOTSUPP => " (a NIC with selective repeat has no READ)",
        libc::EADDRINUSE => " (another program has a pair of this number)",
        _ => "",
    }
}
