//! Samples what belongs to a port: asks all ports of a namespace in one system call and takes the answers in another.
//!
//! The kernel answers at once: the values are those of the moment in which the request was sent. Its answers wait in
//! the socket's queue, in order, so that they can be taken later, those of several samples together: a sample of one
//! port costs one system call and a thirty-second. If the kernel takes samples itself ([`recorded`]), they cost none.

pub mod recorded;

use std::io;
use std::path::{Path, PathBuf};

use crate::links;
use crate::namespace::{describe, open_socket};
use crate::probe::Probe;
use crate::recorder::Item;
use crate::series::Series;
use netlink::{messages, u32_at, Inbox, Message, Protocol, Reply, Request, Socket};

/// The kernel's answer to one request fits a page (`NLMSG_GOODSIZE`).
const ANSWER_BYTES: usize = 8192;

/// How many answers may wait in a socket's queue: at a page and its overhead each they stay below
/// `net.core.rmem_default` (208 KiB).
const QUEUED_ANSWERS: usize = Inbox::MAX_SLOTS;

/// Answers are taken at the latest after this time, so that a machine that is killed keeps what was measured.
const KEEP_NS: u64 = 250_000_000;

/// What is asked of a port. `N` is the number of values in a row.
pub trait Query<const N: usize> {
    /// Version line and column names of the CSV file.
    const FORMAT: (&'static str, &'static str);

    /// Appends the request for this port's counters.
    fn request(&self, interface_index: u32, sequence: u32, buffer: &mut Vec<u8>);

    /// Reads the answer; `None` if it is not one. A value that the kernel does not tell is `None`.
    fn read(&self, payload: &[u8]) -> Option<Values<N>>;

    /// What the kernel is to record.
    fn item(&self, interface_index: u32) -> Item;

    /// Makes a port's row of its own values and those of its parts.
    fn add_parts(_values: &mut Values<N>, _parts: &mut dyn Iterator<Item = Option<Values<N>>>) {}

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
    /// What else is asked of the same interface, for the same row; an empty list says that there is nothing else.
    pub parts: Option<Vec<Q>>,
}

struct Port<Q, const N: usize> {
    name: String,
    interface: String,
    /// `None` while the interface does not exist: then the kernel is asked for the interface instead.
    interface_index: Option<u32>,
    query: Q,
    /// How many of the ports that follow are its parts: they have no rows of their own. `None`: its values are all its
    /// own.
    parts: Option<usize>,
    /// The values of each pending sample; `None`: the port was not there.
    samples: Vec<Option<Values<N>>>,
    /// What the last row of this port says; the outer `None`: there is no row yet.
    written: Option<Option<Values<N>>>,
}

/// Ports of one namespace that are asked together.
struct Batch {
    netns: Option<PathBuf>,
    socket: Socket,
    ports: Vec<usize>,
    requests: Vec<u8>,
}

pub struct PortSampler<Q, const N: usize> {
    ports: Vec<Port<Q, N>>,
    batches: Vec<Batch>,
    /// When the samples were due whose answers have not been taken yet.
    pending_ns: Vec<u64>,
    max_pending: usize,
    taken_ns: u64,
    inbox: Inbox,
    series: Series,
}

impl<Q: Query<N>, const N: usize> PortSampler<Q, N> {
    /// Opens the sockets, finds every port, then creates the output file.
    pub fn open(specs: Vec<PortSpec<'_, Q>>, output: &Path) -> Result<Self, String> {
        let mut ports = Vec::with_capacity(specs.len());
        let mut batches = Vec::new();
        for spec in specs {
            let own = (spec.query, spec.parts.as_ref().map(Vec::len));
            let others = spec.parts.into_iter().flatten().map(|part| (part, None));
            for (query, parts) in std::iter::once(own).chain(others) {
                let batch = batch_with_room(&mut batches, spec.netns)
                    .map_err(|error| format!("{}.netns: {error}", spec.key))?;
                batch.ports.push(ports.len());
                let place = (spec.key.as_str(), spec.name, spec.netns, spec.interface);
                ports.push(Port::find(place, query, parts, &batch.socket)?);
            }
        }
        for batch in &mut batches {
            batch.build_requests(&ports);
        }
        let largest = batches
            .iter()
            .map(|batch| batch.ports.len())
            .max()
            .unwrap_or(1);
        Ok(Self {
            ports,
            batches,
            pending_ns: Vec::new(),
            max_pending: QUEUED_ANSWERS / largest,
            taken_ns: 0,
            inbox: Inbox::new(QUEUED_ANSWERS, ANSWER_BYTES),
            series: Series::create(output, Q::FORMAT.0, Q::FORMAT.1)?,
        })
    }

    /// The namespace of each port.
    fn namespaces(&self) -> Vec<Option<PathBuf>> {
        let mut namespaces = vec![None; self.ports.len()];
        for batch in &self.batches {
            for port in &batch.ports {
                namespaces[*port].clone_from(&batch.netns);
            }
        }
        namespaces
    }

    /// Takes the answers to all pending samples and writes their rows.
    fn take_pending(&mut self) -> Result<(), String> {
        for batch in &mut self.batches {
            let taken = batch.take(&mut self.ports, self.pending_ns.len(), &mut self.inbox);
            taken.map_err(|error| {
                format!("sampling {}: {error}", self.ports[batch.ports[0]].name)
            })?;
        }
        for (sample, time_ns) in self.pending_ns.drain(..).enumerate() {
            let mut rest = &mut self.ports[..];
            while let [port, others @ ..] = rest {
                let (parts, others) = others.split_at_mut(port.parts.unwrap_or(0));
                port.write_row(sample, time_ns, parts, &mut self.series)?;
                rest = others;
            }
        }
        self.ports.iter_mut().for_each(|port| port.samples.clear());
        Ok(())
    }
}

/// The batch of this namespace that can take another port, or a new one.
fn batch_with_room<'a>(
    batches: &'a mut Vec<Batch>,
    netns: Option<&Path>,
) -> Result<&'a mut Batch, String> {
    let room = batches
        .iter()
        .position(|batch| batch.netns.as_deref() == netns && batch.ports.len() < QUEUED_ANSWERS);
    let place = match room {
        Some(place) => place,
        None => {
            let socket = open_socket(netns, Protocol::Route)?;
            batches.push(Batch {
                netns: netns.map(Path::to_owned),
                socket,
                ports: Vec::new(),
                requests: Vec::new(),
            });
            batches.len() - 1
        }
    };
    Ok(&mut batches[place])
}

impl<Q: Query<N>, const N: usize> Probe for PortSampler<Q, N> {
    fn sample(&mut self, time_ns: u64, last: bool) -> Result<(), String> {
        if last {
            self.take_pending()?;
            self.ports.iter_mut().for_each(|port| port.written = None);
        }
        for batch in &self.batches {
            let sent = batch.socket.send(&batch.requests);
            sent.map_err(|error| format!("sampling {}: {error}", self.ports[batch.ports[0]].name))?;
        }
        self.pending_ns.push(time_ns);
        if last || self.pending_ns.len() >= self.max_pending || time_ns >= self.taken_ns + KEEP_NS {
            self.taken_ns = time_ns;
            self.take_pending()?;
        }
        self.series.flush_by_time(time_ns)
    }

    fn finish(&mut self) -> Result<(), String> {
        let taken = self.take_pending();
        self.series.flush().and(taken)
    }
}

impl<Q: Query<N>, const N: usize> Port<Q, N> {
    /// `place`: its key in the configuration, its name, namespace and interface.
    fn find(
        place: (&str, &str, Option<&Path>, &str),
        query: Q,
        parts: Option<usize>,
        socket: &Socket,
    ) -> Result<Self, String> {
        let (key, name, netns, interface) = place;
        let index = links::find(socket, netns, interface, key)?;
        query
            .check(socket, index)
            .map_err(|error| format!("{key}{error}; port {interface} of {}", describe(netns)))?;
        Ok(Self {
            name: name.to_owned(),
            interface: interface.to_owned(),
            interface_index: Some(index),
            query,
            parts,
            samples: Vec::new(),
            written: None,
        })
    }

    /// Takes the answer to one request; true if the next request must be another one.
    fn take(&mut self, message: &Message<'_>) -> bool {
        let mut values = None;
        let mut changed = false;
        match message.reply() {
            Reply::Data(payload) if message.kind == libc::RTM_NEWLINK => {
                self.interface_index = u32_at(payload, links::INDEX_OFFSET);
                changed = true;
            }
            Reply::Data(payload) => values = self.query.read(payload),
            Reply::Refused(libc::ENODEV) => changed = self.interface_index.take().is_some(),
            Reply::Refused(_) | Reply::Done => {}
        }
        self.samples.push(values);
        changed
    }

    /// Writes the row of a pending sample if it differs from the row before; a port that was not there has empty
    /// values.
    fn write_row(
        &mut self,
        sample: usize,
        time_ns: u64,
        parts: &[Self],
        series: &mut Series,
    ) -> Result<(), String> {
        let mut values = self.samples.get(sample).copied().flatten();
        if let (Some(values), Some(_)) = (&mut values, self.parts) {
            let of_parts = |part: &Self| part.samples.get(sample).copied().flatten();
            Q::add_parts(values, &mut parts.iter().map(of_parts));
        }
        if self.written == Some(values) {
            return Ok(());
        }
        self.written = Some(values);
        series.row(time_ns, &self.name);
        values
            .unwrap_or([None; N])
            .iter()
            .for_each(|value| series.optional(*value));
        series.end_row()
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

    /// Takes the answers to `samples` times the requests.
    fn take<Q: Query<N>, const N: usize>(
        &mut self,
        ports: &mut [Port<Q, N>],
        samples: usize,
        inbox: &mut Inbox,
    ) -> io::Result<()> {
        let mut missing = self.ports.len() * samples;
        let mut changed = false;
        while missing > 0 {
            inbox.receive(&self.socket, missing)?;
            if inbox.is_empty() {
                return Err(io::Error::other(format!(
                    "the kernel left {missing} requests unanswered"
                )));
            }
            for message in inbox.datagrams().flat_map(messages) {
                let message = message?;
                if let Some(port) = self.ports.get(message.sequence as usize) {
                    changed |= ports[*port].take(&message);
                }
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
    buffer.extend_from_slice(Request::new(kind, flags, body).finish(sequence));
}
