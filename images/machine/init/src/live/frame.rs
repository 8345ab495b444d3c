//! What the host and PID 1 say to each other: the payload of the machine's inputs and outputs.
//! Format: images/machine/README.md.

use std::collections::BTreeMap;

use nix::sys::signal::Signal;
use serde::{Deserialize, Serialize};

use crate::failure::{Failure, Result};
use crate::job::{Program, Step};

/// A session's number and a kind stand before the bytes.
const HEAD_BYTES: usize = 5;
/// The kernel's: the longest input, and the longest output (include/uapi/linux/fabriclab_live.h, LIVE_PAYLOAD_MAX).
pub const PAYLOAD_MAX: usize = 65_536;
/// The most bytes that one output can carry.
pub const BYTES_MAX: usize = PAYLOAD_MAX - HEAD_BYTES;

/// How many bytes of its output a session may send before the host has given it more credit.
pub const OUTPUT_CREDIT: u64 = 262_144;
/// How many bytes for its input the host may send before it has got more credit.
pub const INPUT_CREDIT: usize = 65_536;

const OPEN: u8 = 1;
const DATA: u8 = 2;
const EOF: u8 = 3;
const RESIZE: u8 = 4;
const SIGNAL: u8 = 5;
const CREDIT: u8 = 6;

/// What the host asks of a session.
#[derive(Debug)]
pub enum Request<'a> {
    Open(Box<Open>),
    Data(&'a [u8]),
    Eof,
    Resize(Size),
    Signal(Signal),
    Credit(u32),
}

/// What PID 1 tells of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answer {
    Started = 1,
    Stdout = 2,
    Stderr = 3,
    Ended = 4,
    Error = 5,
    Credit = 6,
}

/// What a session is.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Open {
    Exec(Exec),
    Connect(Connect),
    Change(Change),
    /// Texts by their paths in the run directory; what was there is replaced.
    Files(BTreeMap<String, String>),
    /// The same; the texts are added to what is there.
    Append(BTreeMap<String, String>),
    Start(Start),
    Stop(Stop),
    Down {},
}

/// A program of somebody's.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Exec {
    /// `None` is the machine itself.
    pub node: Option<String>,
    pub argv: Vec<String>,
    #[serde(default)]
    pub environment: BTreeMap<String, String>,
    /// It only looks: what it draws is of a stream of its own.
    #[serde(default)]
    pub watches: bool,
    pub terminal: Option<Size>,
}

/// How large a terminal is, in characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Size {
    pub rows: u16,
    pub columns: u16,
}

/// A TCP connection, from inside a node to itself.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Connect {
    pub node: String,
    pub port: u16,
}

/// A change of the lab, at once; as an event of the job.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Change {
    pub name: String,
    #[serde(default)]
    pub steps: Vec<Step>,
    #[serde(default)]
    pub down: Vec<String>,
    #[serde(default)]
    pub up: Vec<String>,
    /// What is done instead where a step fails: it makes all as it was.
    #[serde(default)]
    pub undo: Vec<Step>,
}

/// Programs as the job's.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Start {
    pub programs: Vec<Program>,
    pub role: Part,
}

/// What programs are to the run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Part {
    Traffic,
    Disturbance,
    Probe,
}

/// Ends programs of the job, or such that were started later.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Stop {
    pub names: Vec<String>,
}

/// The JSON of `started`.
#[derive(Debug, Default, Serialize)]
pub struct Started {
    /// When programs that find it in their environment begin, counted from the lab's epoch.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub epoch_ns: Option<i64>,
}

/// The JSON of `ended`.
#[derive(Debug, Serialize)]
pub struct Ended<'a> {
    pub status: &'a str,
}

/// Takes an input apart: whose it is, and what it asks for. One too short to say whose it is counts as session 0's.
pub fn parse(payload: &[u8]) -> (u32, Result<Request<'_>>) {
    let Some((head, bytes)) = payload.split_first_chunk::<HEAD_BYTES>() else {
        let length = payload.len();
        return (
            0,
            Err(Failure::new(format!(
                "an input has {length} bytes; at least {HEAD_BYTES} were expected"
            ))),
        );
    };
    let [a, b, c, d, kind] = *head;
    (u32::from_le_bytes([a, b, c, d]), request(kind, bytes))
}

fn request(kind: u8, bytes: &[u8]) -> Result<Request<'_>> {
    Ok(match kind {
        OPEN => Request::Open(Box::new(
            serde_json::from_slice(bytes)
                .map_err(|error| Failure::new(format!("the JSON of open: {error}")))?,
        )),
        DATA => Request::Data(bytes),
        EOF => Request::Eof,
        RESIZE => {
            let [a, b, c, d] = exactly("resize", bytes)?;
            Request::Resize(Size {
                rows: u16::from_le_bytes([a, b]),
                columns: u16::from_le_bytes([c, d]),
            })
        }
        SIGNAL => {
            let [number] = exactly("signal", bytes)?;
            let unknown = |_| {
                Failure::new(format!(
                    "there is no signal {number}; 1 to 31 were expected"
                ))
            };
            Request::Signal(Signal::try_from(i32::from(number)).map_err(unknown)?)
        }
        CREDIT => Request::Credit(u32::from_le_bytes(exactly("credit", bytes)?)),
        _ => {
            return Err(Failure::new(format!(
                "an input has the kind {kind}; {OPEN} to {CREDIT} were expected"
            )))
        }
    })
}

fn exactly<const N: usize>(kind: &str, bytes: &[u8]) -> Result<[u8; N]> {
    bytes.try_into().map_err(|_| {
        let length = bytes.len();
        Failure::new(format!("{kind} has {length} bytes; {N} were expected"))
    })
}

/// Puts an output together. There must be at most [`BYTES_MAX`] bytes.
pub fn compose(session: u32, kind: Answer, bytes: &[u8]) -> Vec<u8> {
    let mut payload = Vec::with_capacity(HEAD_BYTES + bytes.len());
    payload.extend(session.to_le_bytes());
    payload.push(kind as u8);
    payload.extend(bytes);
    payload
}

#[cfg(test)]
#[path = "frame_tests.rs"]
mod tests;
