//! The job, `machine/job.json`: what it may say and what it means. Format: images/machine/README.md.

use std::collections::HashSet;

use serde::Deserialize;

use crate::failure::{Failure, Result};
use crate::fib::Prefix;
use crate::iproute::Tool;

/// The job's place in the run directory.
pub const JOB_FILE: &str = "machine/job.json";
const FORMAT: &str = "fabriclab-job-1";
/// Linux: `IFNAMSIZ` less the final zero.
const INTERFACE_NAME_MAX: usize = 15;
/// RFC 1123: one label of a host name.
const NODE_NAME_MAX: usize = 63;
/// RFC 791: the smallest MTU of IPv4; veth's own upper bound.
const MTU_BYTES: std::ops::RangeInclusive<u32> = 68..=65535;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Job {
    format: String,
    /// Virtual nanoseconds after the epoch.
    pub limit_ns: i64,
    pub sysctl: Option<String>,
    pub nodes: Vec<Node>,
    pub links: Vec<Link>,
    #[serde(default)]
    pub daemons: Vec<Program>,
    /// What must be before the probes and the traffic start.
    pub ready: Option<Ready>,
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
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Node {
    pub name: String,
    pub files: Option<String>,
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
}

/// Lines for `ip -batch` or `tc -batch` in a node.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Step {
    pub node: String,
    pub tool: Tool,
    pub lines: Vec<String>,
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
        let wrong =
            || format!("\"{text}\" is no MAC address; six bytes such as 02:fa:00:00:00:01 are");
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

/// Reads a job's text and checks all that can be checked without the machine.
pub fn parse(text: &str) -> Result<Job> {
    let job: Job = serde_json::from_str(text).map_err(|error| locate(text, &error))?;
    job.check()
        .map_err(|message| Failure::new(message).in_file(JOB_FILE))?;
    Ok(job)
}

fn locate(text: &str, error: &serde_json::Error) -> Failure {
    let failure = Failure::new(error.to_string()).in_file(JOB_FILE);
    match text.lines().nth(error.line().saturating_sub(1)) {
        Some(line) if error.line() > 0 => failure.at_line(error.line(), line.trim()),
        _ => failure,
    }
}

impl Job {
    fn check(&self) -> std::result::Result<(), String> {
        if self.format != FORMAT {
            return Err(format!(
                "format \"{}\" is not known; this machine reads \"{FORMAT}\"",
                self.format
            ));
        }
        if self.limit_ns <= 0 {
            return Err(format!("limit_ns {} must be positive", self.limit_ns));
        }
        let nodes = self.check_nodes()?;
        self.check_links(&nodes)?;
        self.check_programs(&nodes)?;
        self.check_routes(&nodes)?;
        self.check_events(&nodes)
    }

    fn check_nodes(&self) -> std::result::Result<HashSet<&str>, String> {
        let mut names = HashSet::new();
        for node in &self.nodes {
            check_node_name(&node.name)?;
            if !names.insert(node.name.as_str()) {
                return Err(format!("two nodes are called \"{}\"", node.name));
            }
        }
        Ok(names)
    }

    fn check_links(&self, nodes: &HashSet<&str>) -> std::result::Result<(), String> {
        let mut interfaces = HashSet::new();
        for link in &self.links {
            if !MTU_BYTES.contains(&link.mtu) {
                return Err(format!(
                    "mtu {} of {} is not within 68 to 65535 bytes",
                    link.mtu,
                    link.a.label()
                ));
            }
            for end in [&link.a, &link.b] {
                end.check(nodes)?;
                if !interfaces.insert((end.node.as_str(), end.interface.as_str())) {
                    return Err(format!("{} is in two links", end.label()));
                }
            }
        }
        Ok(())
    }

    fn check_routes(&self, nodes: &HashSet<&str>) -> std::result::Result<(), String> {
        let Some(ready) = &self.ready else {
            return Ok(());
        };
        if ready.limit_ns <= 0 {
            return Err(format!(
                "limit_ns {} of ready must be positive",
                ready.limit_ns
            ));
        }
        check_expectation("ready", ready.interval_ns, &ready.nodes, nodes)
    }

    fn check_events(&self, nodes: &HashSet<&str>) -> std::result::Result<(), String> {
        for change in &self.events {
            let what = format!("the event \"{}\"", change.name);
            if change.at_ns < 0 {
                return Err(format!(
                    "at_ns {} of {what} must not be negative",
                    change.at_ns
                ));
            }
            let mut named = change
                .steps
                .iter()
                .map(|step| &step.node)
                .chain(&change.down)
                .chain(&change.up);
            if let Some(node) = named.find(|node| !nodes.contains(node.as_str())) {
                return Err(dangling(&what, node, nodes));
            }
            if let Some(Expectation {
                interval_ns,
                nodes: expected,
            }) = &change.reconvergence
            {
                check_expectation(&what, *interval_ns, expected, nodes)?;
            }
        }
        Ok(())
    }

    fn programs(&self) -> impl Iterator<Item = &Program> {
        [
            &self.daemons,
            &self.probes,
            &self.traffic,
            &self.disturbances,
            &self.collect,
        ]
        .into_iter()
        .flatten()
    }

    fn check_programs(&self, nodes: &HashSet<&str>) -> std::result::Result<(), String> {
        let mut names = HashSet::new();
        for program in self.programs() {
            check_file_name("name", &program.name)?;
            if !names.insert(program.name.as_str()) {
                return Err(format!("two programs are called \"{}\"", program.name));
            }
            if let Some(node) = program.node.as_deref().filter(|node| !nodes.contains(node)) {
                return Err(dangling(
                    &format!("program \"{}\"", program.name),
                    node,
                    nodes,
                ));
            }
            if program.argv.first().is_none_or(String::is_empty)
                || program.argv.iter().any(|argument| argument.contains('\0'))
            {
                return Err(format!(
                    "argv of \"{}\" must name a program and hold no NUL",
                    program.name
                ));
            }
        }
        Ok(())
    }
}

impl Endpoint {
    fn label(&self) -> String {
        format!("{}:{}", self.node, self.interface)
    }

    fn check(&self, nodes: &HashSet<&str>) -> std::result::Result<(), String> {
        if !nodes.contains(self.node.as_str()) {
            return Err(dangling(
                &format!("the link end {}", self.label()),
                &self.node,
                nodes,
            ));
        }
        let name = &self.interface;
        let valid = name
            .bytes()
            .all(|byte| byte.is_ascii_graphic() && byte != b'/' && byte != b':');
        if name.is_empty()
            || name.len() > INTERFACE_NAME_MAX
            || !valid
            || name == "."
            || name == ".."
            || name == "lo"
        {
            return Err(format!("interface \"{name}\" of node {} is no interface name: 1 to 15 characters, no space, / or :, not lo", self.node));
        }
        Ok(())
    }
}

fn dangling(what: &str, node: &str, nodes: &HashSet<&str>) -> String {
    let mut known: Vec<&str> = nodes.iter().copied().collect();
    known.sort_unstable();
    known.truncate(8);
    format!(
        "{what} names the node \"{node}\", which does not exist; there are {}",
        known.join(", ")
    )
}

fn check_expectation(
    what: &str,
    interval_ns: i64,
    expected: &[ExpectedNode],
    nodes: &HashSet<&str>,
) -> std::result::Result<(), String> {
    if interval_ns <= 0 {
        return Err(format!(
            "interval_ns {interval_ns} of {what} must be positive"
        ));
    }
    match expected
        .iter()
        .find(|one| !nodes.contains(one.node.as_str()))
    {
        Some(one) => Err(dangling(what, &one.node, nodes)),
        None => Ok(()),
    }
}

/// A node's name becomes its host name and a file below /run/netns.
fn check_node_name(name: &str) -> std::result::Result<(), String> {
    let valid = name
        .bytes()
        .all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte));
    if name.len() > NODE_NAME_MAX
        || !valid
        || !name.starts_with(|first: char| first.is_ascii_alphanumeric())
    {
        return Err(format!("\"{name}\" is no node name: a letter or digit, then letters, digits, - _ . ; at most {NODE_NAME_MAX}"));
    }
    Ok(())
}

/// A program's name becomes a file below logs/ or collect/.
fn check_file_name(key: &str, name: &str) -> std::result::Result<(), String> {
    if name.is_empty() || name.len() > 200 || name.starts_with('.') || name.contains(['/', '\0']) {
        return Err(format!(
            "{key} \"{name}\" is no file name: 1 to 200 characters, no /, no . first"
        ));
    }
    Ok(())
}

#[cfg(test)]
#[path = "job_tests.rs"]
mod tests;
