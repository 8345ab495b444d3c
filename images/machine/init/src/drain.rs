//! Waits for what programs have sent as datagrams: nobody acknowledges these, so a program ends, and with it the run,
//! while they still stand in queues.

use std::fs;

use netlink::{attributes, find_attribute, u32_at, uapi, Protocol, Request, Socket};
use nix::sched::CloneFlags;
use nix::unistd::Pid;

use crate::answers;
use crate::failure::{Context, Result};
use crate::job::Job;
use crate::lab::Lab;

/// The length of `struct tcmsg`.
const QDISC_HEADER_BYTES: usize = 20;
/// The counter of datagrams that a node has sent, by the file of its process that has it.
const IPV4: (&str, &str) = ("snmp", "Udp:");
const IPV6: (&str, &str) = ("snmp6", "Udp6OutDatagrams");
const OUT_DATAGRAMS: &str = "OutDatagrams";

pub struct Drain {
    senders: Vec<Pid>,
    /// A socket in each node, whose queues it tells.
    sockets: Vec<Socket>,
    /// For how long no datagram may have been in a queue.
    pub still_ns: i64,
    /// Datagrams that the senders had sent before the traffic.
    sent_before: u64,
}

impl Drain {
    /// Before the traffic. `None`: nobody may send datagrams.
    pub fn of_job(lab: &Lab, job: &Job) -> Result<Option<Self>> {
        let Some(wanted) = &job.drain else {
            return Ok(None);
        };
        let senders = wanted.nodes.iter().map(|name| Ok(lab.node(name)?.pid));
        let senders: Vec<Pid> = senders.collect::<Result<_>>()?;
        let open = || Socket::open(Protocol::Route).context(|| "open a netlink socket".to_owned());
        let inside = |node| lab.machine.inside(node, CloneFlags::CLONE_NEWNET, open);
        Ok(Some(Self {
            sockets: lab.nodes().iter().map(inside).collect::<Result<_>>()?,
            sent_before: sent(&senders),
            senders,
            still_ns: wanted.still_ns,
        }))
    }

    /// Whether any datagram was sent since the traffic began.
    pub fn was_sent(&self) -> bool {
        sent(&self.senders) != self.sent_before
    }

    /// Whether anything stands in a queue now.
    pub fn is_queued(&self) -> Result<bool> {
        let mut backlog = false;
        for socket in &self.sockets {
            let request = Request::new(
                libc::RTM_GETQDISC,
                libc::NLM_F_DUMP,
                &[0; QDISC_HEADER_BYTES],
            );
            answers::each(socket, request, libc::RTM_NEWQDISC, "the queues", |qdisc| {
                backlog |= packets(qdisc)? > 0;
                Some(())
            })?;
        }
        Ok(backlog)
    }
}

/// How many packets stand in a qdisc; `None` where the message is broken.
fn packets(qdisc: &[u8]) -> Option<u32> {
    let rest = qdisc.get(QDISC_HEADER_BYTES..)?;
    let Some((_, statistics)) = attributes(rest).find(|(kind, _)| *kind == libc::TCA_STATS2) else {
        return Some(0);
    };
    // struct gnet_stats_queue: qlen comes first.
    find_attribute(statistics, uapi::TCA_STATS_QUEUE).map_or(Some(0), |queue| u32_at(queue, 0))
}

fn sent(nodes: &[Pid]) -> u64 {
    nodes
        .iter()
        .flat_map(|pid| [IPV4, IPV6].map(|(file, key)| (format!("/proc/{pid}/net/{file}"), key)))
        // A machine without IPv6 has no such file.
        .filter_map(|(file, key)| Some((fs::read_to_string(file).ok()?, key)))
        .map(|(text, key)| datagrams(&text, key))
        .sum()
}

/// What a file counts below a key: a number beside it (snmp6), or two lines that begin with it, the names above the
/// numbers (snmp).
fn datagrams(text: &str, key: &str) -> u64 {
    let mut lines = text
        .lines()
        .map(str::split_whitespace)
        .filter_map(|mut words| (words.next() == Some(key)).then_some(words));
    let (first, second) = (lines.next(), lines.next());
    let number = match (first, second) {
        (Some(names), Some(numbers)) => names
            .zip(numbers)
            .find(|(name, _)| *name == OUT_DATAGRAMS)
            .map(|(_, number)| number),
        (Some(mut numbers), None) => numbers.next(),
        _ => None,
    };
    number.and_then(|number| number.parse().ok()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::{datagrams, packets, IPV4, IPV6};

    #[test]
    fn datagrams_are_counted_by_name() {
        let text = "Tcp: InSegs OutSegs\nTcp: 7 8\nUdp: InDatagrams NoPorts InErrors OutDatagrams\nUdp: 1 2 3 4\n";
        assert_eq!(datagrams(text, IPV4.1), 4);
        assert_eq!(datagrams("Tcp: InSegs\nTcp: 7\n", IPV4.1), 0);
        let text = "Ip6InReceives 5\nUdp6InDatagrams 6\nUdp6OutDatagrams \t 9\n";
        assert_eq!(datagrams(text, IPV6.1), 9);
    }

    #[test]
    fn a_cut_message_is_broken_and_one_without_statistics_is_empty() {
        assert_eq!(packets(&[0; 10]), None);
        assert_eq!(packets(&[0; 20]), Some(0));
    }
}
