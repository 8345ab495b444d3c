//! Waits for routes: what the kernel of each node must have, as the job says, looked at every so many virtual
//! milliseconds.

use nix::net::if_::if_nametoindex;
use nix::sched::CloneFlags;

use crate::failure::{Failure, Result};
use crate::fib::{Fib, Prefix, Routes};
use crate::job::{ExpectedNode, ExpectedRoute};
use crate::lab::Lab;

/// Expectations that are not met yet.
pub struct Convergence {
    nodes: Vec<NodeRoutes>,
    /// The one at which the last look ended: while it is not ready, the others need not be asked.
    next: usize,
}

struct NodeRoutes {
    name: String,
    fib: Fib,
    routes: Vec<Expected>,
}

struct Expected {
    prefix: Prefix,
    /// Index and name of every interface that may lead there.
    interfaces: Vec<(u32, String)>,
    paths: usize,
}

impl Convergence {
    pub fn new(lab: &Lab, nodes: &[ExpectedNode]) -> Result<Self> {
        let nodes = nodes
            .iter()
            .map(|expected| {
                let node = lab.node(&expected.node)?;
                lab.machine
                    .inside(node, CloneFlags::CLONE_NEWNET, || NodeRoutes::new(expected))
                    .map_err(|failure| failure.in_node(&expected.node))
            })
            .collect::<Result<Vec<_>>>()?;
        Ok(Self { nodes, next: 0 })
    }

    /// Whether all nodes have all their routes at this moment.
    pub fn is_reached(&mut self) -> Result<bool> {
        for _ in 0..self.nodes.len() {
            let node = &self.nodes[self.next];
            if node.first_difference()?.is_some() {
                return Ok(false);
            }
            self.next = (self.next + 1) % self.nodes.len();
        }
        Ok(true)
    }

    /// What is missing, as failures of the nodes concerned, at most `most`.
    pub fn differences(&self, most: usize) -> Result<Vec<Failure>> {
        let mut found = Vec::new();
        for node in &self.nodes {
            if found.len() == most {
                break;
            }
            if let Some(difference) = node.first_difference()? {
                found.push(Failure::new(difference).in_node(&node.name));
            }
        }
        Ok(found)
    }
}

impl NodeRoutes {
    /// In the node's network namespace.
    fn new(expected: &ExpectedNode) -> Result<Self> {
        let routes = expected
            .routes
            .iter()
            .map(Expected::new)
            .collect::<Result<Vec<_>>>()?;
        Ok(Self {
            name: expected.node.clone(),
            fib: Fib::open(routes.iter().map(|route| &route.prefix))?,
            routes,
        })
    }

    fn first_difference(&self) -> Result<Option<String>> {
        let found = self
            .fib
            .read()
            .map_err(|failure| failure.in_node(&self.name))?;
        Ok(self
            .routes
            .iter()
            .find_map(|expected| expected.difference(&found)))
    }
}

impl Expected {
    fn new(route: &ExpectedRoute) -> Result<Self> {
        let interfaces = route
            .interfaces
            .iter()
            .map(|name| {
                let index = if_nametoindex(name.as_str()).map_err(|_| {
                    Failure::new(format!(
                        "the route to {} names {name}, which does not exist",
                        route.prefix
                    ))
                })?;
                Ok((index, name.clone()))
            })
            .collect::<Result<Vec<_>>>()?;
        Ok(Self {
            prefix: route.prefix.0,
            interfaces,
            paths: route.paths,
        })
    }

    fn difference(&self, routes: &Routes) -> Option<String> {
        let found = routes.get(&self.prefix).map_or(&[][..], Vec::as_slice);
        let strangers = found
            .iter()
            .any(|index| !self.interfaces.iter().any(|(known, _)| known == index));
        if found.len() == self.paths && !strangers {
            return None;
        }
        let wanted: Vec<&str> = self
            .interfaces
            .iter()
            .map(|(_, name)| name.as_str())
            .collect();
        let found: Vec<String> = found.iter().map(|index| self.interface(*index)).collect();
        Some(format!(
            "the route to {}/{} has {} next hops ({}), expected {} of {}",
            self.prefix.address,
            self.prefix.length,
            found.len(),
            listed(&found),
            self.paths,
            listed(&wanted),
        ))
    }

    fn interface(&self, index: u32) -> String {
        self.interfaces
            .iter()
            .find(|(known, _)| *known == index)
            .map_or_else(|| format!("interface {index}"), |(_, name)| name.clone())
    }
}

fn listed(words: &[impl AsRef<str>]) -> String {
    if words.is_empty() {
        return "none".to_owned();
    }
    words
        .iter()
        .map(AsRef::as_ref)
        .collect::<Vec<_>>()
        .join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn expected(paths: usize) -> Expected {
        Expected {
            prefix: "10.64.0.0/31".parse().expect("a prefix"),
            interfaces: vec![(3, "eth1".to_owned()), (4, "eth2".to_owned())],
            paths,
        }
    }

    fn routes(interfaces: &[u32]) -> Routes {
        Routes::from([(expected(0).prefix, interfaces.to_vec())])
    }

    #[test]
    fn all_next_hops_must_be_there_and_no_other() {
        assert_eq!(expected(2).difference(&routes(&[4, 3])), None);
        assert_eq!(expected(1).difference(&routes(&[4])), None);
        let missing = expected(2).difference(&routes(&[4]));
        assert_eq!(
            missing.as_deref(),
            Some("the route to 10.64.0.0/31 has 1 next hops (eth2), expected 2 of eth1, eth2")
        );
        let stranger = expected(2)
            .difference(&routes(&[4, 9]))
            .expect("a difference");
        assert!(stranger.contains("(eth2, interface 9)"), "{stranger}");
    }

    #[test]
    fn a_route_may_have_to_be_absent() {
        let gone = Expected {
            interfaces: Vec::new(),
            paths: 0,
            ..expected(0)
        };
        assert_eq!(gone.difference(&Routes::new()), None);
        let left = gone.difference(&routes(&[3])).expect("a difference");
        assert!(left.ends_with("expected 0 of none"), "{left}");
    }
}
