//! Samples what belongs to a port: asks all ports of a namespace in one system call and takes their answers in another.

use std::io;
use std::path::{Path, PathBuf};

use crate::links;
use crate::namespace::{describe, open_socket};
use crate::netlink::{messages, u32_at, Inbox, Message, Protocol, Reply, RequestBuilder, Socket};
use crate::series::Series;

/// The kernel's answer to one request fits a page.
const ANSWER_BYTES: usize = 8192;

/// What is asked of a port. `N` is the number of values in a row.
pub trait Query<const N: usize> {
    /// Version line and column names of the CSV file.
    const FORMAT: (&'static str, &'static str);

    /// Appends the request for this port's counters.
    fn request(&self, interface_index: u32, sequence: u32, buffer: &mut Vec<u8>);

    /// Reads the answer; `None` if it is not one. A value that the kernel does not tell is `None`.
    fn read(&self, payload: &[u8]) -> Option<Values<N>>;

    /// Fails if the interface exists but lacks what is to be sampled, naming what it has.
    fn check(&self, socket: &Socket, interface_index: u32) -> Result<(), String>;
}

pub type Values<const N: usize> = [Option<u64>; N];

/// A port as the configuration names it.
pub struct PortSpec<'a, Q> {
    /// Where it stands in the configuration, for errors: `queues.ports[3]`.
    pub key: String,
    pub name: &'a str,
    pub netns: Option<&'a Path>,
    pub interface: &'a str,
    pub query: Q,
}

struct Port<Q, const N: usize> {
    name: String,
    interface: String,
    /// `None` while the interface does not exist: then the kernel is asked for the interface instead.
    interface_index: Option<u32>,
    query: Q,
    current: Option<Values<N>>,
    /// What the last row of this port says; the outer `None`: there is no row yet.
    written: Option<Option<Values<N>>>,
}

/// Ports of one namespace that are asked together.
struct Batch {
    socket: Socket,
    ports: Vec<usize>,
    requests: Vec<u8>,
}

pub struct PortSampler<Q, const N: usize> {
    ports: Vec<Port<Q, N>>,
    batches: Vec<Batch>,
    inbox: Inbox,
    series: Series,
}

impl<Q: Query<N>, const N: usize> PortSampler<Q, N> {
    /// Opens the sockets, finds every port, then creates the output file.
    pub fn open(specs: Vec<PortSpec<'_, Q>>, output: &Path) -> Result<Self, String> {
        let mut ports = Vec::with_capacity(specs.len());
        let mut batches: Vec<(Option<PathBuf>, Batch)> = Vec::new();
        for spec in specs {
            let found = batches.iter().position(|(netns, batch)| {
                netns.as_deref() == spec.netns && batch.ports.len() < Inbox::MAX_SLOTS
            });
            let batch = match found {
                Some(found) => &mut batches[found].1,
                None => {
                    let socket = open_socket(spec.netns, Protocol::Route)
                        .map_err(|error| format!("{}.netns: {error}", spec.key))?;
                    batches.push((
                        spec.netns.map(Path::to_owned),
                        Batch {
                            socket,
                            ports: Vec::new(),
                            requests: Vec::new(),
                        },
                    ));
                    &mut batches.last_mut().expect("one was just pushed").1
                }
            };
            batch.ports.push(ports.len());
            ports.push(Port::find(spec, &batch.socket)?);
        }
        let mut batches: Vec<Batch> = batches.into_iter().map(|(_, batch)| batch).collect();
        for batch in &mut batches {
            batch.build_requests(&ports);
        }
        let slots = batches
            .iter()
            .map(|batch| batch.ports.len())
            .max()
            .unwrap_or(1);
        let series = Series::create(output, Q::FORMAT.0, Q::FORMAT.1)?;
        Ok(Self {
            ports,
            batches,
            inbox: Inbox::new(slots, ANSWER_BYTES),
            series,
        })
    }

    fn write_rows(&mut self, time_ns: u64, all: bool) -> Result<(), String> {
        for port in &mut self.ports {
            if !all && port.written == Some(port.current) {
                continue;
            }
            port.written = Some(port.current);
            self.series.row(time_ns, &port.name);
            port.current
                .unwrap_or([None; N])
                .iter()
                .for_each(|value| self.series.optional(*value));
            self.series.end_row()?;
        }
        Ok(())
    }
}

impl<Q: Query<N>, const N: usize> crate::Probe for PortSampler<Q, N> {
    fn sample(&mut self, time_ns: u64, all: bool) -> Result<(), String> {
        for batch in &mut self.batches {
            batch
                .ask(&mut self.ports, &mut self.inbox)
                .map_err(|error| {
                    format!("sampling {}: {error}", self.ports[batch.ports[0]].name)
                })?;
        }
        self.write_rows(time_ns, all)?;
        self.series.flush_by_time(time_ns)
    }

    fn finish(&mut self) -> Result<(), String> {
        self.series.flush()
    }
}

impl<Q: Query<N>, const N: usize> Port<Q, N> {
    fn find(spec: PortSpec<'_, Q>, socket: &Socket) -> Result<Self, String> {
        let PortSpec {
            key,
            name,
            netns,
            interface,
            query,
        } = spec;
        let existing = links::list(socket)
            .map_err(|error| format!("{key}: interfaces of {}: {error}", describe(netns)))?;
        let Some(link) = existing.iter().find(|link| link.name == interface) else {
            let names: Vec<&str> = existing.iter().map(|link| link.name.as_str()).collect();
            return Err(format!(
                "{key}.interface: `{interface}` does not exist in {}; there are: {}",
                describe(netns),
                names.join(", ")
            ));
        };
        query
            .check(socket, link.index)
            .map_err(|error| format!("{key}{error}; port {interface} of {}", describe(netns)))?;
        Ok(Self {
            name: name.to_owned(),
            interface: interface.to_owned(),
            interface_index: Some(link.index),
            query,
            current: None,
            written: None,
        })
    }

    /// Takes the answer to this port's request; true if the next request must be another one.
    fn take(&mut self, message: &Message<'_>) -> bool {
        self.current = None;
        match message.reply() {
            Reply::Data(payload) if message.kind == libc::RTM_NEWLINK => {
                self.interface_index = u32_at(payload, links::INDEX_OFFSET);
                true
            }
            Reply::Data(payload) => {
                self.current = self.query.read(payload);
                false
            }
            Reply::Refused(libc::ENODEV) => self.interface_index.take().is_some(),
            Reply::Refused(_) | Reply::Done => false,
        }
    }
}

impl Batch {
    /// The sequence number of a request is the port's place in the batch.
    fn build_requests<Q: Query<N>, const N: usize>(&mut self, ports: &[Port<Q, N>]) {
        self.requests.clear();
        for (sequence, port) in self.ports.iter().enumerate() {
            let port = &ports[*port];
            match port.interface_index {
                Some(index) => port
                    .query
                    .request(index, sequence as u32, &mut self.requests),
                None => {
                    links::request_by_name(&port.interface, sequence as u32, &mut self.requests)
                }
            }
        }
    }

    fn ask<Q: Query<N>, const N: usize>(
        &mut self,
        ports: &mut [Port<Q, N>],
        inbox: &mut Inbox,
    ) -> io::Result<()> {
        self.socket.send(&self.requests)?;
        let mut missing = self.ports.len();
        let mut changed = false;
        while missing > 0 {
            inbox.receive(&self.socket, missing)?;
            if inbox.is_empty() {
                return Err(io::Error::other(format!(
                    "the kernel left {missing} of {} requests unanswered",
                    self.ports.len()
                )));
            }
            for message in inbox.datagrams().flat_map(messages) {
                let message = message?;
                let Some(port) = self.ports.get(message.sequence as usize) else {
                    continue;
                };
                changed |= ports[*port].take(&message);
            }
            missing = missing.saturating_sub(inbox.len());
        }
        if changed {
            self.build_requests(ports);
        }
        Ok(())
    }
}

/// A request of `kind` with a body, for which the kernel sends one answer.
pub fn append_request(buffer: &mut Vec<u8>, kind: u16, flags: i32, sequence: u32, body: &[u8]) {
    RequestBuilder::new(buffer, kind, flags, sequence)
        .bytes(body)
        .finish();
}
