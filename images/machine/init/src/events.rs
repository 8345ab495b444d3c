//! The machine's report to the host: one JSON object a line on standard output, each behind an `@`.

use std::io::Write;
use std::sync::atomic::{AtomicI64, Ordering};

use serde::Serialize;

use crate::clock;
use crate::failure::Failure;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Phase {
    Boot,
    Job,
    Modules,
    Nodes,
    Links,
    Configure,
    Daemons,
    Setup,
    Routing,
    Probes,
    Traffic,
    Collect,
    Shutdown,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    Complete,
    Limit,
    Stopped,
    Failed,
}

#[derive(Serialize)]
#[serde(tag = "event", rename_all = "lowercase")]
enum Event<'a> {
    Phase {
        phase: Phase,
    },
    Epoch,
    Progress,
    /// Routes are not there yet.
    Waiting,
    /// A kernel module, and where its code begins.
    Module {
        name: &'a str,
        address: &'a str,
    },
    Converged {
        convergence_ns: i64,
    },
    Change {
        name: &'a str,
    },
    Reconverged {
        name: &'a str,
        reconvergence_ns: i64,
        #[serde(flatten)]
        settled: Option<Settled>,
    },
    Process {
        name: &'a str,
        status: String,
    },
    Error {
        phase: Phase,
        #[serde(flatten)]
        failure: &'a Failure,
    },
    End {
        status: Status,
    },
}

/// What else is known where only the last change of any route is.
#[derive(Serialize)]
pub struct Settled {
    /// It may have been so much sooner.
    pub within_ns: i64,
    /// For so long no route has changed.
    pub still_ns: i64,
}

#[derive(Serialize)]
struct Line<'a> {
    #[serde(flatten)]
    event: Event<'a>,
    t_ns: i64,
}

/// CLOCK_MONOTONIC of the epoch in nanoseconds, zero before it is chosen. Global because the panic hook reports too.
static EPOCH_NS: AtomicI64 = AtomicI64::new(0);

pub fn phase(phase: Phase) {
    emit(Event::Phase { phase });
}

/// Reports the epoch itself on the machine's clock; all later events count from it.
pub fn epoch(epoch_ns: i64) {
    write_line(&Line {
        event: Event::Epoch,
        t_ns: epoch_ns,
    });
    EPOCH_NS.store(epoch_ns, Ordering::Relaxed);
}

pub fn progress() {
    emit(Event::Progress);
}

/// Tells the host that the machine lives while it waits for routes.
pub fn waiting() {
    emit(Event::Waiting);
}

/// A module is there; its code begins at `address`, in hexadecimal digits.
pub fn module(name: &str, address: &str) {
    emit(Event::Module { name, address });
}

/// Routing has converged; `convergence_ns` counts from the start of the daemons.
pub fn converged(convergence_ns: i64) {
    emit(Event::Converged { convergence_ns });
}

/// An event of the job happens now.
pub fn change(name: &str) {
    emit(Event::Change { name });
}

/// Routing has followed an event of the job; `reconvergence_ns` counts from that.
pub fn reconverged(name: &str, reconvergence_ns: i64, settled: Option<Settled>) {
    emit(Event::Reconverged {
        name,
        reconvergence_ns,
        settled,
    });
}

pub fn process(name: &str, status: String) {
    emit(Event::Process { name, status });
}

pub fn error(phase: Phase, failure: &Failure) {
    emit(Event::Error { phase, failure });
}

pub fn end(status: Status) {
    emit(Event::End { status });
}

fn emit(event: Event) {
    write_line(&Line {
        event,
        t_ns: clock::monotonic_ns() - EPOCH_NS.load(Ordering::Relaxed),
    });
}

fn write_line(line: &Line) {
    let mut text = vec![b'@'];
    // Neither can fail in a way that could be told to anyone: this is the way to tell.
    let _ = serde_json::to_writer(&mut text, line);
    text.push(b'\n');
    let mut output = std::io::stdout().lock();
    let _ = output.write_all(&text).and_then(|()| output.flush());
}
