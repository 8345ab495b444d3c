//! One port: a request for its qdisc and a dump of its classes, sent together and answered together.
//!
//! A dump of the classes costs two system calls a port, but one lock and one answer for all its queues and groups; to
//! ask for each class by itself takes fewer calls and more time (`probes/README.md` has both figures).

use std::io;
use std::path::Path;

use crate::config::InterfacePort;
use crate::links::{self, qdisc_header, INDEX_OFFSET, QDISC_HEADER_BYTES};
use crate::namespace::describe;
use crate::switch::rows::{write_all, Latest, Subject};
use crate::switch::tables::Tables;
use crate::switch::xstats::{
    Reading, GROUP_VALUES, KIND, PORT_VALUES, QUEUES, QUEUE_VALUES, TRIM_VALUES,
};
use netlink::uapi::TC_H_ROOT;
use netlink::{messages, u32_at, Inbox, Message, Reply, Request, Socket};

/// `tcm_parent` of `struct tcmsg`.
const PARENT_OFFSET: usize = 12;

/// Sequence numbers of the two requests.
const OF_QDISC: u32 = 0;
const OF_CLASSES: u32 = 1;

/// The answers to both: the qdisc, the classes, the end of the dump.
const ANSWERS: usize = 3;

pub struct Port {
    pub name: String,
    pub interface: String,
    /// Which of the sampler's switches it belongs to.
    pub switch: usize,
    /// `None` while the interface does not exist: then the kernel is asked for the interface instead.
    pub interface_index: Option<u32>,
    request: Vec<u8>,
    latest: Latest<PORT_VALUES>,
    queues: [Latest<QUEUE_VALUES>; QUEUES],
    groups: [Latest<GROUP_VALUES>; QUEUES],
    trims: [Latest<TRIM_VALUES>; QUEUES],
}

impl Port {
    /// Finds the interface, which must be a switch port. `key` is where it stands in the configuration.
    pub fn find(
        key: &str,
        port: &InterfacePort,
        socket: &Socket,
        switch: usize,
    ) -> Result<Self, String> {
        let interface = &port.interface.0;
        let netns = port.netns.as_deref();
        let index = links::find(socket, netns, interface, key)?;
        check_kind(socket, index, interface, netns)
            .map_err(|error| format!("{key}.interface: {error}"))?;
        let mut found = Self {
            name: port.name.0.clone(),
            interface: interface.clone(),
            switch,
            interface_index: Some(index),
            request: Vec::new(),
            latest: Latest::default(),
            queues: Default::default(),
            groups: Default::default(),
            trims: Default::default(),
        };
        found.build_request();
        Ok(found)
    }

    fn build_request(&mut self) {
        self.request.clear();
        let Some(index) = self.interface_index else {
            links::request_by_name(&self.interface, OF_QDISC, &mut self.request);
            return;
        };
        let root = root_header(index);
        let mut qdisc = Request::new(libc::RTM_GETQDISC, libc::NLM_F_ECHO, &root);
        self.request.extend_from_slice(qdisc.finish(OF_QDISC));
        let header = qdisc_header(index, 0);
        let mut classes = Request::new(libc::RTM_GETTCLASS, libc::NLM_F_DUMP, &header);
        self.request.extend_from_slice(classes.finish(OF_CLASSES));
    }

    /// Asks the kernel; the values are those of this moment.
    pub fn read(&mut self, socket: &Socket, inbox: &mut Inbox) -> Result<Reading, String> {
        self.ask(socket, inbox)
            .map_err(|error| format!("sampling {}: {error}", self.name))
    }

    fn ask(&mut self, socket: &Socket, inbox: &mut Inbox) -> io::Result<Reading> {
        socket.send(&self.request)?;
        let mut reading = Reading::default();
        let mut is_over = false;
        while !is_over {
            inbox.receive(socket, ANSWERS)?;
            if inbox.is_empty() {
                return Err(io::Error::other("the kernel did not end its answer"));
            }
            for message in inbox.datagrams().flat_map(messages) {
                is_over |= self.take(&message?, &mut reading)?;
            }
        }
        Ok(reading)
    }

    /// Takes one answer; true if it is the last one.
    fn take(&mut self, message: &Message<'_>, reading: &mut Reading) -> io::Result<bool> {
        match message.reply() {
            Reply::Data(payload) if message.kind == libc::RTM_NEWLINK => {
                self.set_index(u32_at(payload, INDEX_OFFSET));
                return Ok(true);
            }
            Reply::Data(payload) if message.kind == libc::RTM_NEWQDISC => {
                reading.take_qdisc(payload);
            }
            // Classes of another qdisc that has taken the port's place are not queues.
            Reply::Data(payload) if reading.port.is_some() => reading.take_class(payload),
            Reply::Data(_) => {}
            Reply::Refused(errno) if message.sequence == OF_CLASSES => {
                return Err(io::Error::from_raw_os_error(errno));
            }
            // No qdisc, or no interface: then there are no classes either, or nothing else was asked.
            Reply::Refused(errno) => {
                let was_asked_by_name = self.interface_index.is_none();
                if errno == libc::ENODEV {
                    self.set_index(None);
                }
                return Ok(was_asked_by_name);
            }
            Reply::Done => return Ok(true),
        }
        Ok(false)
    }

    fn set_index(&mut self, index: Option<u32>) {
        self.interface_index = index;
        self.build_request();
    }

    pub fn write_rows(
        &mut self,
        reading: &Reading,
        time_ns: u64,
        last: bool,
        tables: &mut Tables,
    ) -> Result<(), String> {
        let subject = Subject {
            time_ns,
            name: &self.name,
            last,
        };
        self.latest
            .write(reading.port, subject, None, &mut tables.ports)?;
        write_all(
            &mut self.queues,
            &reading.queues,
            subject,
            &mut tables.queues,
        )?;
        if let Some(trimming) = &mut tables.trimming {
            write_all(&mut self.trims, &reading.trims, subject, trimming)?;
        }
        write_all(
            &mut self.groups,
            &reading.groups,
            subject,
            &mut tables.groups,
        )
    }
}

/// Asks for the root qdisc of an interface, whatever its handle.
fn root_header(interface_index: u32) -> [u8; QDISC_HEADER_BYTES] {
    let mut header = qdisc_header(interface_index, 0);
    header[PARENT_OFFSET..][..4].copy_from_slice(&TC_H_ROOT.to_ne_bytes());
    header
}

fn check_kind(
    socket: &Socket,
    index: u32,
    interface: &str,
    netns: Option<&Path>,
) -> Result<(), String> {
    let qdiscs = links::list_qdiscs(socket, index)
        .map_err(|error| format!("listing qdiscs of `{interface}`: {error}"))?;
    if qdiscs.iter().any(|qdisc| qdisc.kind == KIND) {
        return Ok(());
    }
    Err(format!(
        "`{interface}` of {} does not have the qdisc {KIND}; its qdiscs are: {}",
        describe(netns),
        links::describe_qdiscs(&qdiscs)
    ))
}
