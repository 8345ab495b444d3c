//! What can be wrong with a job that is well-formed: names, numbers, nodes that do not exist.

use std::collections::HashSet;

use crate::wires::KNOWN_NS;

use super::{Endpoint, Expectation, ExpectedNode, Job, Program, WireEnd, FORMAT};

/// The kernel's limit without the final zero.
const INTERFACE_NAME_MAX: usize = libc::IF_NAMESIZE - 1;
/// RFC 1123: one label of a host name.
const NODE_NAME_MAX: usize = 63;
/// RFC 791: the smallest MTU of IPv4; the upper bound of Ethernet devices of the kernel (veth, cables).
const MTU_BYTES: std::ops::RangeInclusive<u32> = 68..=65535;

type Checked<T = ()> = Result<T, String>;

impl Job {
    pub(super) fn check(&self) -> Checked {
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
        self.check_wires(&nodes)?;
        check_programs(self.programs(), &nodes)?;
        self.check_routes(&nodes)?;
        self.check_setup(&nodes)?;
        self.check_drain(&nodes)?;
        self.check_events(&nodes)
    }

    fn check_nodes(&self) -> Checked<HashSet<&str>> {
        let mut names = HashSet::new();
        for node in &self.nodes {
            check_node_name(&node.name)?;
            for layer in &node.layers {
                check_file_name("layer", layer)?;
            }
            if !names.insert(node.name.as_str()) {
                return Err(format!("two nodes are called \"{}\"", node.name));
            }
        }
        Ok(names)
    }

    fn check_links(&self, nodes: &HashSet<&str>) -> Checked {
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

    fn check_wires(&self, nodes: &HashSet<&str>) -> Checked {
        let Some(wires) = &self.wires else {
            return Ok(());
        };
        if wires.begin_ns <= 0 || !self.links.is_empty() {
            return Err("a job with wires must begin after 0, and have no links".to_owned());
        }
        let mut numbers = HashSet::new();
        for end in &wires.ends {
            check_interface(&end.node, &end.interface, nodes)?;
            let lasts = end.part.is_none() || end.delay_ns > 0;
            if !lasts || !MTU_BYTES.contains(&end.mtu) || !numbers.insert(end.number) {
                return Err(format!(
                    "wire {} of {}:{} needs a delay if it leads to another machine, an mtu of 68 to 65535 bytes, and a \
                     number that no other wire has",
                    end.number, end.node, end.interface
                ));
            }
        }
        let lonely = |end: &&WireEnd| end.part.is_none() && !numbers.contains(&(end.number ^ 1));
        match wires.ends.iter().find(lonely) {
            Some(end) => Err(format!("wire {} has no other end in this job", end.number)),
            None => Ok(()),
        }
    }

    fn check_routes(&self, nodes: &HashSet<&str>) -> Checked {
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

    fn check_setup(&self, nodes: &HashSet<&str>) -> Checked {
        let bad_name = |name: &&String| name.is_empty() || name.contains(['=', '\0']);
        for node in &self.nodes {
            if let Some(name) = node.environment.keys().find(bad_name) {
                return Err(format!(
                    "\"{name}\" of {} is not the name of a variable",
                    node.name
                ));
            }
        }
        for step in &self.setup {
            if step.limit_ns <= 0 || step.interval_ns < 0 || step.tries == 0 {
                return Err(format!(
                    "limit_ns and tries of \"{}\" must be positive, interval_ns not negative",
                    step.program.name
                ));
            }
            if step.program.node.is_none() {
                return Err(format!("\"{}\" needs a node", step.program.name));
            }
        }
        let Some(still) = &self.still else {
            return Ok(());
        };
        if still.still_ns <= 0 || still.interval_ns <= 0 || still.limit_ns < still.still_ns {
            return Err(
                "still_ns and interval_ns of still must be positive, and limit_ns not below still_ns"
                    .to_owned(),
            );
        }
        let wanted = still.addresses.iter();
        let mut named = wanted.flat_map(|wanted| wanted.nodes.iter().chain(&wanted.others));
        match named.find(|node| !nodes.contains(node.as_str())) {
            Some(node) => Err(dangling("still", node, nodes)),
            None => Ok(()),
        }
    }

    fn check_drain(&self, nodes: &HashSet<&str>) -> Checked {
        let Some(drain) = &self.drain else {
            return Ok(());
        };
        if drain.still_ns <= 0 {
            return Err(format!(
                "still_ns {} of drain must be positive",
                drain.still_ns
            ));
        }
        let mut named = drain.nodes.iter();
        match named.find(|node| !nodes.contains(node.as_str())) {
            Some(node) => Err(dangling("drain", node, nodes)),
            None => Ok(()),
        }
    }

    fn check_events(&self, nodes: &HashSet<&str>) -> Checked {
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
        .chain(self.setup.iter().map(|step| &step.program))
    }
}

impl Endpoint {
    fn label(&self) -> String {
        format!("{}:{}", self.node, self.interface)
    }

    fn check(&self, nodes: &HashSet<&str>) -> Checked {
        check_interface(&self.node, &self.interface, nodes)
    }
}

fn check_interface(node: &str, name: &str, nodes: &HashSet<&str>) -> Checked {
    if !nodes.contains(node) {
        return Err(dangling(
            &format!("the link end {node}:{name}"),
            node,
            nodes,
        ));
    }
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
        return Err(format!(
            "interface \"{name}\" of node {node} is not an interface name; write 1 to 15 characters \
             without a space, / or :, and not lo"
        ));
    }
    Ok(())
}

/// Names must differ and be file names, nodes must be there.
pub(super) fn check_programs<'a>(
    programs: impl Iterator<Item = &'a Program>,
    nodes: &HashSet<&str>,
) -> Checked {
    let mut names = HashSet::new();
    for program in programs {
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
) -> Checked {
    if interval_ns < KNOWN_NS {
        return Err(format!(
            "interval_ns {interval_ns} of {what} must be at least {KNOWN_NS}"
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
fn check_node_name(name: &str) -> Checked {
    let valid = name
        .bytes()
        .all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte));
    if name.len() > NODE_NAME_MAX
        || !valid
        || !name.starts_with(|first: char| first.is_ascii_alphanumeric())
    {
        return Err(format!(
            "\"{name}\" is not a node name; write a letter or digit, then letters, digits, - _ . (at most \
             {NODE_NAME_MAX})"
        ));
    }
    Ok(())
}

/// A program's name becomes a file below logs/ or collect/.
fn check_file_name(key: &str, name: &str) -> Checked {
    if name.is_empty() || name.len() > 200 || name.starts_with('.') || name.contains(['/', '\0']) {
        return Err(format!(
            "{key} \"{name}\" is not a file name; write 1 to 200 characters without a / or a leading ."
        ));
    }
    Ok(())
}
