//! What became of every frame: the counters of all links, ports and nodes when the traffic begins and when it ends, for
//! the host to compare. The kernel counts (`net/core/lost_frames.c`, devices, qdiscs). Nobody waits; no time passes.

use std::collections::HashMap;
use std::fmt::Write;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use netlink::{attributes, find_attribute, text, u32_at, u64_at, uapi, Protocol, Request, Socket};
use nix::sched::CloneFlags;

use crate::answers;
use crate::failure::{Context, Failure, Result};
use crate::job::{Job, JOB};
use crate::lab::Lab;
use crate::machine;

const LOST_FRAMES: &str = "/proc/fabriclab_lost_frames";
const LOST_FORMAT: &str = "fabriclab-lost-frames-1";
const FORMAT: &str = "# fabriclab-audit-1";
const COLUMNS: &str = "moment,node,device,counter,frames";
/// Ends the file: how many rows there are before it.
const LAST: &str = "rows";
/// The machine's own namespace, where no node is.
const MACHINE: &str = "(machine)";

/// `struct ifinfomsg` and `struct tcmsg`, and where both have the interface.
const INTERFACE_HEADER_BYTES: usize = 16;
const QDISC_HEADER_BYTES: usize = 20;
const INDEX_OFFSET: usize = 4;
const QDISC_PARENT_OFFSET: usize = 12;
/// Places in `struct rtnl_link_stats64`.
const LINK_COUNTERS: [(&str, usize); 4] = [
    ("received", 0),
    ("sent", 1),
    ("receive_dropped", 6),
    ("send_dropped", 7),
];
/// Places in `struct gnet_stats_queue`.
const QUEUE_WAITING: usize = 0;
const QUEUE_DROPS: usize = 8;
/// Where `struct tc_switch_port_xstats` has what the link lost by chance.
const SWITCH_PORT: &str = "switch_port";
const SWITCH_LOST: usize = 5 * 8;

/// The only row of a kernel that does not count.
const NOT_COUNTED: &str = "not audited,,,this kernel has no /proc/fabriclab_lost_frames,0\n";

/// The rows so far.
pub struct Audit {
    rows: String,
    counts: bool,
}

impl Audit {
    /// Before the traffic.
    pub fn begin(lab: &Lab, job: &Job) -> Result<Self> {
        let counts = Path::new(LOST_FRAMES).exists();
        let mut rows = String::new();
        if counts {
            look(lab, job, "begin", &mut rows)?;
        } else {
            rows.push_str(NOT_COUNTED);
        }
        Ok(Self { rows, counts })
    }

    /// When the traffic has ended, at that instant.
    pub fn end(self, lab: &Lab, job: &Job) -> Result<()> {
        let mut rows = self.rows;
        if self.counts {
            look(lab, job, "end", &mut rows)?;
        }
        let count = rows.lines().count();
        let path = file();
        if let Some(parent) = path.parent() {
            // A job that collects nothing has no directory for it.
            fs::create_dir_all(parent).context(|| format!("make {}", parent.display()))?;
        }
        fs::write(
            &path,
            format!("{FORMAT}\n{COLUMNS}\n{rows}{LAST},,,,{count}\n"),
        )
        .context(|| format!("write {}", path.display()))
    }
}

/// Of machines that run at once, each has its own.
fn file() -> PathBuf {
    let name = machine::part().map_or_else(
        || "audit.csv".to_owned(),
        |part| format!("audit-{part}.csv"),
    );
    Path::new(JOB).join("collect").join(name)
}

fn look(lab: &Lab, job: &Job, moment: &str, rows: &mut String) -> Result<()> {
    let mut namespaces = HashMap::new();
    for node in lab.nodes() {
        let open = || Socket::open(Protocol::Route).context(|| "open a netlink socket".to_owned());
        let socket = lab.machine.inside(node, CloneFlags::CLONE_NEWNET, open)?;
        let wanted = job.interfaces(&node.name);
        let names = look_at_links(&socket, &node.name, &wanted, moment, rows)?;
        look_at_queues(&socket, &node.name, &wanted, &names, moment, rows)?;
        let inode = inode(&format!("/proc/{}/ns/net", node.pid))?;
        namespaces.insert(inode, (node.name.as_str(), names));
    }
    namespaces.insert(inode("/proc/self/ns/net")?, (MACHINE, HashMap::new()));
    let lost = fs::read_to_string(LOST_FRAMES).context(|| format!("read {LOST_FRAMES}"))?;
    add_lost(&lost, &namespaces, moment, rows)
        .ok_or_else(|| Failure::new(format!("{LOST_FRAMES} is not as it should be: {lost}")))
}

fn inode(path: &str) -> Result<u64> {
    Ok(fs::metadata(path)
        .context(|| format!("look at {path}"))?
        .ino())
}

type Names = HashMap<u32, String>;

/// The counters of a node's ends of links; returns the names of all its devices by their numbers.
fn look_at_links(
    socket: &Socket,
    node: &str,
    wanted: &[&str],
    moment: &str,
    rows: &mut String,
) -> Result<Names> {
    let mut names = HashMap::new();
    let request = Request::new(
        libc::RTM_GETLINK,
        libc::NLM_F_DUMP,
        &[0; INTERFACE_HEADER_BYTES],
    );
    answers::each(socket, request, libc::RTM_NEWLINK, "the links", |link| {
        let rest = link.get(INTERFACE_HEADER_BYTES..)?;
        let name = text(find_attribute(rest, libc::IFLA_IFNAME)?);
        let counters = find_attribute(rest, libc::IFLA_STATS64)?;
        if wanted.contains(&name.as_str()) {
            for (counter, place) in LINK_COUNTERS {
                add(
                    rows,
                    moment,
                    node,
                    &name,
                    counter,
                    u64_at(counters, place * 8)?,
                );
            }
        }
        names.insert(u32_at(link, INDEX_OFFSET)?, name);
        Some(())
    })?;
    Ok(names)
}

/// The root qdiscs of a node's ends of links: they count what those below them drop as well.
fn look_at_queues(
    socket: &Socket,
    node: &str,
    wanted: &[&str],
    names: &Names,
    moment: &str,
    rows: &mut String,
) -> Result<()> {
    let request = Request::new(
        libc::RTM_GETQDISC,
        libc::NLM_F_DUMP,
        &[0; QDISC_HEADER_BYTES],
    );
    answers::each(socket, request, libc::RTM_NEWQDISC, "the queues", |qdisc| {
        let name = names.get(&u32_at(qdisc, INDEX_OFFSET)?)?;
        let is_root = u32_at(qdisc, QDISC_PARENT_OFFSET)? == uapi::TC_H_ROOT;
        if !is_root || !wanted.contains(&name.as_str()) {
            return Some(());
        }
        for (counter, frames) in queue_counters(qdisc.get(QDISC_HEADER_BYTES..)?)? {
            add(rows, moment, node, name, counter, frames);
        }
        Some(())
    })
}

/// A queue that frames pass uncounted (noqueue) has no counters.
fn queue_counters(qdisc: &[u8]) -> Option<Vec<(&'static str, u64)>> {
    let kind = text(find_attribute(qdisc, libc::TCA_KIND)?);
    let Some((_, statistics)) = attributes(qdisc).find(|(kind, _)| *kind == libc::TCA_STATS2)
    else {
        return Some(Vec::new());
    };
    if kind == "noqueue" {
        return Some(Vec::new());
    }
    let basic = find_attribute(statistics, uapi::TCA_STATS_BASIC)?;
    let sent = match find_attribute(statistics, uapi::TCA_STATS_PKT64) {
        Some(packets) => u64_at(packets, 0)?,
        None => u64::from(u32_at(basic, 8)?),
    };
    let queue = find_attribute(statistics, uapi::TCA_STATS_QUEUE)?;
    let mut counters = vec![
        ("queue_sent", sent),
        ("queue_dropped", u64::from(u32_at(queue, QUEUE_DROPS)?)),
        ("queue_waiting", u64::from(u32_at(queue, QUEUE_WAITING)?)),
    ];
    if kind == SWITCH_PORT {
        let own = find_attribute(statistics, uapi::TCA_STATS_APP)?;
        counters.push(("queue_lost", u64_at(own, SWITCH_LOST)?));
    }
    Some(counters)
}

/// What the kernel dropped, by node, device and reason; `None`: the text is broken.
fn add_lost(
    lost: &str,
    namespaces: &HashMap<u64, (&str, Names)>,
    moment: &str,
    rows: &mut String,
) -> Option<()> {
    let mut lines = lost.lines();
    let without_room = lines.next()?.strip_prefix(LOST_FORMAT)?.trim();
    add(
        rows,
        moment,
        "",
        "",
        "without_room",
        without_room.parse().ok()?,
    );
    for line in lines {
        let words: Vec<&str> = line.split(' ').collect();
        let [namespace, interface, _, reason, frames] = words[..] else {
            return None;
        };
        let namespace: u64 = namespace.parse().ok()?;
        let interface: u32 = interface.parse().ok()?;
        let unknown = format!("(namespace {namespace})");
        let nothing = Names::new();
        let (node, names) = match namespaces.get(&namespace) {
            Some((node, names)) => (*node, names),
            None if namespace == 0 => ("", &nothing),
            None => (unknown.as_str(), &nothing),
        };
        let number = format!("(interface {interface})");
        let device = match interface {
            0 => "",
            _ => names
                .get(&interface)
                .map_or(number.as_str(), String::as_str),
        };
        add(
            rows,
            moment,
            node,
            device,
            &format!("lost {reason}"),
            frames.parse().ok()?,
        );
    }
    Some(())
}

fn add(rows: &mut String, moment: &str, node: &str, device: &str, counter: &str, frames: u64) {
    // Into a text nothing fails.
    let _ = writeln!(rows, "{moment},{node},{device},{counter},{frames}");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_lost_is_told_by_node_and_device() {
        let names = Names::from([(2, "eth1".to_owned())]);
        let namespaces = HashMap::from([(7, ("h1", names)), (1, (MACHINE, Names::new()))]);
        let lost = "fabriclab-lost-frames-1 0\n7 2 66 CPU_BACKLOG 5\n7 0 11 SOCKET_RCVBUFF 1\n\
                    7 9 2 X 1\n0 0 2 NOT_SPECIFIED 3\n8 1 2 X 4\n1 1 2 X 6\n";
        let mut rows = String::new();
        assert_eq!(add_lost(lost, &namespaces, "end", &mut rows), Some(()));
        let expected = "end,,,without_room,0\nend,h1,eth1,lost CPU_BACKLOG,5\nend,h1,,lost SOCKET_RCVBUFF,1\n\
                        end,h1,(interface 9),lost X,1\nend,,,lost NOT_SPECIFIED,3\n\
                        end,(namespace 8),(interface 1),lost X,4\nend,(machine),(interface 1),lost X,6\n";
        assert_eq!(rows, expected);
    }

    #[test]
    fn a_kernel_that_says_something_else_is_not_believed() {
        for text in [
            "",
            "fabriclab-lost-frames-2 0\n",
            "fabriclab-lost-frames-1 0\n7 2 66\n",
        ] {
            assert_eq!(
                add_lost(text, &HashMap::new(), "end", &mut String::new()),
                None
            );
        }
    }

    #[test]
    fn a_device_without_a_queue_counts_none() {
        let mut noqueue = Vec::new();
        noqueue.extend(12u16.to_ne_bytes());
        noqueue.extend(libc::TCA_KIND.to_ne_bytes());
        noqueue.extend(b"noqueue\0");
        assert_eq!(queue_counters(&noqueue), Some(Vec::new()));
        assert_eq!(queue_counters(&[]), None);
    }
}
