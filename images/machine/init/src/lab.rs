//! The lab of a job: its nodes and links, made and configured.

use std::collections::{HashMap, HashSet};
use std::fs::File;

use netlink::{Protocol, Socket};
use nix::sched::CloneFlags;

use crate::configure;
use crate::events::{self, Phase};
use crate::failure::{Failure, Result};
use crate::job::{Endpoint, Job, Nic, Step};
use crate::link::{self, Offloads};
use crate::machine;
use crate::modules;
use crate::namespace::{Machine, Node};
use crate::rights;
use crate::wires;

pub struct Lab {
    pub machine: Machine,
    nodes: Vec<Node>,
    indices: HashMap<String, usize>,
}

impl Lab {
    pub fn node(&self, name: &str) -> Result<&Node> {
        self.indices
            .get(name)
            .map(|index| &self.nodes[*index])
            .ok_or_else(|| Failure::new(format!("there is no node \"{name}\"")))
    }

    pub fn names(&self) -> HashSet<&str> {
        self.nodes.iter().map(|node| node.name.as_str()).collect()
    }

    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    pub fn create_nodes(job: &Job) -> Result<Self> {
        let machine = Machine::open(machine::batch_by_tools(), job.wires.is_some())?;
        let nodes = job
            .nodes
            .iter()
            .map(|node| {
                let variables = node.environment.iter();
                let variables = variables.map(|(name, value)| format!("{name}={value}"));
                Node::create(&node.name, &node.layers, variables.collect())
            })
            .collect::<Result<Vec<_>>>()?;
        let indices = job
            .nodes
            .iter()
            .enumerate()
            .map(|(index, node)| (node.name.clone(), index))
            .collect();
        Ok(Self {
            machine,
            nodes,
            indices,
        })
    }

    pub fn create_links(&self, job: &Job) -> Result<()> {
        let namespaces = self
            .nodes
            .iter()
            .map(Node::open_network_namespace)
            .collect::<Result<Vec<File>>>()?;
        let namespace =
            |end: &Endpoint| self.indices.get(&end.node).map(|index| &namespaces[*index]);
        let mut socket = link::open_socket(Protocol::Route)?;
        for link in &job.links {
            let (Some(a), Some(b)) = (namespace(&link.a), namespace(&link.b)) else {
                continue;
            };
            link::create(&mut socket, link, a, b)?;
        }
        self.create_wires(job, &namespaces, &mut socket)?;
        for node in &self.nodes {
            let interfaces = job.interfaces(&node.name);
            let described = job.nodes.iter().find(|each| each.name == node.name);
            let nics = described.map_or(&[][..], |each| &each.nics);
            self.machine
                .inside(node, CloneFlags::CLONE_NEWNET, || {
                    set_interfaces_up(&interfaces, nics)
                })
                .map_err(|failure| failure.in_node(&node.name))?;
        }
        Ok(())
    }

    /// Ends of cables; before them each node gets what it draws from.
    fn create_wires(&self, job: &Job, namespaces: &[File], socket: &mut Socket) -> Result<()> {
        let Some(wires) = &job.wires else {
            return Ok(());
        };
        for (node, described) in self.nodes.iter().zip(&job.nodes) {
            if let Some(stream) = described.stream {
                self.machine
                    .inside(node, CloneFlags::CLONE_NEWNET, || wires::begin_node(stream))
                    .map_err(|failure| failure.in_node(&node.name))?;
            }
        }
        for end in &wires.ends {
            if let Some(index) = self.indices.get(&end.node) {
                link::create_wire(socket, end, &namespaces[*index])?;
            }
        }
        Ok(())
    }

    pub fn configure(&self, job: &Job) -> Result<()> {
        for (node, described) in self.nodes.iter().zip(&job.nodes) {
            if let Some(files) = &described.files {
                configure::node(&self.machine, node, files)?;
            }
        }
        Ok(())
    }

    /// Applies a step of a change in its node.
    pub fn apply(&self, step: &Step) -> Result<()> {
        configure::lines(
            &self.machine,
            self.node(&step.node)?,
            step.tool,
            &step.lines,
        )
    }
}

fn set_interfaces_up(interfaces: &[&str], nics: &[Nic]) -> Result<()> {
    let mut socket = link::open_socket(Protocol::Route)?;
    let offloads = Offloads::open()?;
    link::set_up(&mut socket, "lo")?;
    for interface in interfaces {
        offloads.switch_off(interface)?;
        for nic in nics.iter().filter(|nic| nic.interface == *interface) {
            offloads.switch_on(&mut socket, nic)?;
        }
        link::set_up(&mut socket, interface)?;
    }
    Ok(())
}

/// Makes the lab that the job describes; on a failure the phase says where it happened.
pub fn create(job: &Job) -> std::result::Result<Lab, (Phase, Failure)> {
    // A sysctl may name what a module brings along.
    for file in &job.modules {
        modules::load(file).map_err(|failure| (Phase::Modules, failure))?;
    }
    rights::no_more_modules().map_err(|failure| (Phase::Modules, failure))?;
    if let Some(file) = &job.sysctl {
        configure::machine(file).map_err(|failure| (Phase::Nodes, failure))?;
    }
    events::phase(Phase::Nodes);
    let lab = Lab::create_nodes(job).map_err(|failure| (Phase::Nodes, failure))?;
    events::phase(Phase::Links);
    lab.create_links(job)
        .map_err(|failure| (Phase::Links, failure))?;
    events::phase(Phase::Configure);
    lab.configure(job)
        .map_err(|failure| (Phase::Configure, failure))?;
    Ok(lab)
}
