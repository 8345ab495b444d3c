//! What hosts listen for: each transport, congestion control and version of IP that flows have together has a port of
//! its own, as the listener's congestion control decides what a handshake negotiates (ECN for DCTCP).

use std::fmt;

use crate::hosts::Family;

/// Place of a service among all of the trace, by first appearance: its port is `--port` plus this.
pub type ServiceId = u16;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Transport {
    #[default]
    Tcp,
    Mptcp,
    /// No service: nobody listens for it, and its rank has no port.
    Roce,
    /// Messages, whose socket has the service's port.
    Homa,
}

impl Transport {
    /// The version of IP of flows that name none; `None`: that of the hosts' first addresses.
    pub fn only_family(self) -> Option<Family> {
        matches!(self, Self::Roce | Self::Homa).then_some(Family::V4)
    }
}

impl fmt::Display for Transport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Tcp => "tcp",
            Self::Mptcp => "mptcp",
            Self::Roce => "roce",
            Self::Homa => "homa",
        })
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Service {
    pub transport: Transport,
    /// Empty: the host's.
    pub congestion_control: String,
    /// `None`: that of the hosts' first addresses.
    pub family: Option<Family>,
    /// The first row that has it.
    pub line: u64,
}

/// The services of a trace as its rows are read. They are few.
#[derive(Default)]
pub struct Services(Vec<Service>);

impl Services {
    /// A service's number; `None` when there are more than ports could be.
    pub fn id(
        &mut self,
        transport: Transport,
        congestion_control: &str,
        family: Option<Family>,
        line: u64,
    ) -> Option<ServiceId> {
        let known = self.0.iter().position(|service| {
            (service.transport, service.family) == (transport, family)
                && service.congestion_control == congestion_control
        });
        let place = known.unwrap_or_else(|| {
            self.0.push(Service {
                transport,
                congestion_control: congestion_control.to_owned(),
                family,
                line,
            });
            self.0.len() - 1
        });
        ServiceId::try_from(place).ok()
    }

    pub fn into_list(self) -> Vec<Service> {
        self.0
    }
}
