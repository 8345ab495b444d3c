//! The job, `machine/job.json`: what it may say and what it means. Format: images/machine/README.md.

mod check;
mod read;

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::fib::Prefix;
pub use read::{check_programs, parse};

/// The run directory, as the machine and every node see it.
pub const JOB: &str = "/job";
/// The job's place in the run directory.
pub const JOB_FILE: &str = "machine/job.json";

/// The job of one of the machines of a lab that is cut into parts.
pub fn file_of_part(part: u32) -> String {
    format!("machine/job-{part}.json")
}

const FORMAT: &str = "fabriclab-job-1";

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Job {
    format: String,
    /// Virtual nanoseconds after the epoch.
    pub limit_ns: i64,
    /// Kernel modules, files relative to the run directory, which are loaded before all else.
    #[serde(default)]
    pub modules: Vec<String>,
    pub sysctl: Option<String>,
    pub nodes: Vec<Node>,
    pub links: Vec<Link>,
    #[serde(default)]
    pub daemons: Vec<Program>,
    /// What is done in the nodes once the daemons have started, one after another.
    #[serde(default)]
    pub setup: Vec<SetupStep>,
    /// What must be before the probes and the traffic start.
    pub ready: Option<Ready>,
    /// Routes that nobody knows beforehand must have come to rest.
    pub still: Option<Still>,
    #[serde(default)]
    pub events: Vec<Change>,
    #[serde(default)]
    pub probes: Vec<Program>,
    #[serde(default)]
    pub traffic: Vec<Program>,
    /// What runs beside the traffic; nobody waits for it.
    #[serde(default)]
    pub disturbances: Vec<Program>,
    #[serde(default)]
    pub collect: Vec<Program>,
    /// After the traffic: until what was sent as datagrams has left the queues.
    pub drain: Option<Drain>,
    /// The lab stays, and listens to the host.
    pub live: Option<Live>,
    /// The links are cables with a delay of their own, between machines too.
    pub wires: Option<Wires>,
}

/// Cables, and when the lab begins.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Wires {
    /// Virtual nanoseconds after the machine's start: in all machines cables carry from then on, and daemons start;
    /// probes and traffic, too, where nothing has to be ready before.
    pub begin_ns: i64,
    /// Those ends that are in this machine.
    pub ends: Vec<WireEnd>,
}

/// One end of a cable.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WireEnd {
    pub node: String,
    pub interface: String,
    pub mac: Mac,
    pub mtu: u32,
    /// Those of a cable's two ends differ in the last bit.
    pub number: u32,
    /// Of what this end sends, and of what comes from the other one.
    pub delay_ns: u64,
    pub delay_in_ns: u64,
    /// The machine that the other end is in; `None`: this one.
    pub part: Option<u32>,
}

/// A lab that stays until the host takes it down.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Live {
    /// The job's traffic and disturbances do not start by themselves.
    pub idle: bool,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Node {
    pub name: String,
    pub files: Option<String>,
    /// What every program of the node finds in its environment.
    #[serde(default)]
    pub environment: BTreeMap<String, String>,
    /// Layers over its root file system, by their names on the kernel's command line, the first on top.
    #[serde(default)]
    pub layers: Vec<String>,
    /// Interfaces that are NICs with offloads; all others have none.
    #[serde(default)]
    pub nics: Vec<Nic>,
    /// In a lab of wires: what all that it draws is made of.
    pub stream: Option<u64>,
}

/// What a NIC does for its host beside sending frames.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Nic {
    pub interface: String,
    /// The largest burst that TCP hands over at once, in bytes of payload; `None`: full frames, one by one.
    pub tso_bytes: Option<u32>,
    /// Received segments are merged before TCP sees them.
    pub gro: bool,
    /// Each has interrupts of its own.
    pub receive_queues: u32,
    pub interrupt_delay_us: InterruptDelay,
}

/// From the first frame received to the interrupt that tells of it and of those behind it.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(untagged)]
pub enum InterruptDelay {
    Us(u32),
    Chosen(Chooser),
}

/// Who chooses the delay anew all the time.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Chooser {
    /// Linux's DIM.
    Adaptive,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Link {
    pub a: Endpoint,
    pub b: Endpoint,
    pub mtu: u32,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Endpoint {
    pub node: String,
    pub interface: String,
    pub mac: Mac,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub struct Mac(pub [u8; 6]);

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Program {
    pub name: String,
    /// `None` is the machine itself.
    pub node: Option<String>,
    pub argv: Vec<String>,
}

/// A step that gives a node what its own files say.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SetupStep {
    pub kind: SetupKind,
    pub program: Program,
    /// A node that boots does it again.
    #[serde(default)]
    pub again: bool,
    /// Virtual nanoseconds that a command or a health check may take.
    #[serde(default = "default_limit_ns")]
    pub limit_ns: i64,
    /// Of a health check: how often it is tried, and virtual nanoseconds between two tries.
    #[serde(default = "default_tries")]
    pub tries: u32,
    #[serde(default)]
    pub interval_ns: i64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SetupKind {
    /// A daemon that waits for other nodes; the others are among the job's `daemons`.
    Daemon,
    /// A node's main process: it may end, and nobody waits for it.
    Main,
    /// Waited for; how it ends is told and fails nothing.
    Command,
    /// Tried until it succeeds; that it does not is a failure.
    Health,
}

/// Routes at rest.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Still {
    /// For so long no route of any node has changed, virtual nanoseconds.
    pub still_ns: i64,
    /// From one look to the next.
    pub interval_ns: i64,
    /// After so long the run fails.
    pub limit_ns: i64,
    /// Where the addresses of hosts are written then.
    pub addresses: Option<Addresses>,
}

/// Who may send datagrams, and how long no packet must have been in any queue.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Drain {
    pub nodes: Vec<String>,
    /// Virtual nanoseconds.
    pub still_ns: i64,
}

/// Rows `node,address,ipv6` are added to a file of the run directory.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Addresses {
    pub file: String,
    /// Nodes that must have one.
    pub nodes: Vec<String>,
    /// Nodes that may have one: theirs is the loopback interface's, if that has any.
    #[serde(default)]
    pub others: Vec<String>,
}

fn default_limit_ns() -> i64 {
    60_000_000_000
}

fn default_tries() -> u32 {
    1
}

/// Routes that daemons must have found.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ready {
    /// Virtual nanoseconds from one look to the next.
    pub interval_ns: i64,
    /// Virtual nanoseconds after which the run fails.
    pub limit_ns: i64,
    pub nodes: Vec<ExpectedNode>,
}

/// A change of links at a set time.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Change {
    pub name: String,
    /// Virtual nanoseconds after the epoch.
    pub at_ns: i64,
    pub steps: Vec<Step>,
    /// Nodes that lose their power: all their processes are gone, after the steps.
    #[serde(default)]
    pub down: Vec<String>,
    /// Nodes that boot: their daemons start, after the steps.
    #[serde(default)]
    pub up: Vec<String>,
    pub reconvergence: Option<Expectation>,
    pub settling: Option<Settling>,
}

/// How long routes change after a change of links that nobody knows the outcome of.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settling {
    /// From one look to the next, at least.
    pub interval_ns: i64,
    /// For so long no route of any node has changed: then nobody looks any more.
    pub still_ns: i64,
}

/// Lines for one of the tools in a node.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Step {
    pub node: String,
    pub tool: StepTool,
    pub lines: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum StepTool {
    /// `ip -batch`.
    Ip,
    /// `tc -batch`.
    Tc,
    /// sysctl.conf(5).
    Sysctl,
    /// FRR's shell, in its configuration.
    Vtysh,
    /// Ends of cables: `INTERFACE OUT IN LOSS`, the delays of what it sends and of what comes, in nanoseconds, and how
    /// many frames of a million it loses of what it sends.
    Wire,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Expectation {
    pub interval_ns: i64,
    pub nodes: Vec<ExpectedNode>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExpectedNode {
    pub node: String,
    pub routes: Vec<ExpectedRoute>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExpectedRoute {
    pub prefix: PrefixText,
    /// Through which the next hops may be reached.
    pub interfaces: Vec<String>,
    /// How many next hops there are; 0: no such route.
    pub paths: usize,
}

/// A prefix as it is written.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(try_from = "String")]
pub struct PrefixText(pub Prefix);

impl TryFrom<String> for PrefixText {
    type Error = String;

    fn try_from(text: String) -> std::result::Result<Self, String> {
        text.parse().map(Self)
    }
}

impl std::fmt::Display for PrefixText {
    fn fmt(&self, formatter: &mut std::fmt::Formatter) -> std::fmt::Result {
        write!(formatter, "{}/{}", self.0.address, self.0.length)
    }
}

impl TryFrom<String> for Mac {
    type Error = String;

    fn try_from(text: String) -> std::result::Result<Self, String> {
        let wrong = || {
            format!("\"{text}\" is not a MAC address; write six bytes such as 02:fa:00:00:00:01")
        };
        let bytes = text
            .split(':')
            .map(|byte| match byte.len() {
                2 if byte.bytes().all(|digit| digit.is_ascii_hexdigit()) => {
                    u8::from_str_radix(byte, 16).map_err(|_| wrong())
                }
                _ => Err(wrong()),
            })
            .collect::<std::result::Result<Vec<u8>, String>>()?;
        bytes.try_into().map(Mac).map_err(|_| wrong())
    }
}

impl Job {
    /// The names of a node's interfaces, in the order of the links.
    pub fn interfaces(&self, node: &str) -> Vec<&str> {
        let links = self.links.iter().flat_map(|link| [&link.a, &link.b]);
        let links = links.map(|end| (&end.node, &end.interface));
        let wires = self.wires.iter().flat_map(|wires| &wires.ends);
        links
            .chain(wires.map(|end| (&end.node, &end.interface)))
            .filter(|(of, _)| *of == node)
            .map(|(_, interface)| interface.as_str())
            .collect()
    }
}

#[cfg(test)]
#[path = "job_tests.rs"]
mod tests;
