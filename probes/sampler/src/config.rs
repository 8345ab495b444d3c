//! The sampler's configuration: `fabriclab-sampler-1`, a JSON file, described in `probes/README.md`.
//!
//! Every rule that concerns a single value is checked where the value is read, so that its error names the line and the
//! column too.

mod read;
mod whole;

use std::collections::HashMap;
use std::fmt;
use std::path::PathBuf;

pub use read::read_config;
use serde::Deserialize;

/// The shortest and the longest interval between two samples, in nanoseconds.
const INTERVAL_NS: std::ops::RangeInclusive<u64> = 10_000..=1_000_000_000;

/// `IFNAMSIZ` of `include/uapi/linux/if.h`, without the terminating zero.
const INTERFACE_NAME_BYTES: usize = libc::IF_NAMESIZE - 1;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
    #[serde(rename = "format")]
    _format: Format,
    pub queues: Option<Queues>,
    pub tcp: Option<Tcp>,
    pub interfaces: Option<Interfaces>,
    pub switches: Option<Switches>,
    pub connections: Option<Connections>,
}

#[derive(Debug, Deserialize)]
enum Format {
    #[serde(rename = "fabriclab-sampler-1")]
    Version1,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Queues {
    pub interval_ns: QueueInterval,
    pub output: PathBuf,
    pub ports: Vec<QueuePort>,
    /// Where each kind of qdisc counts its marks; those of a kind that is not here are unknown.
    #[serde(default)]
    pub marks: HashMap<String, Vec<Counter>>,
}

/// A counter in a qdisc's own statistics (`TCA_STATS_APP`).
#[derive(Clone, Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct Counter {
    /// Offset in bytes.
    pub at: usize,
    pub bytes: CounterBytes,
    /// The nested attributes that lead to it, by number; `None`: all of that level, whose counters are added.
    #[serde(default)]
    pub within: Vec<Option<u16>>,
}

/// How wide a counter is.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq)]
#[serde(try_from = "u8")]
pub enum CounterBytes {
    Four,
    Eight,
}

impl TryFrom<u8> for CounterBytes {
    type Error = String;

    fn try_from(bytes: u8) -> Result<Self, String> {
        match bytes {
            4 => Ok(Self::Four),
            8 => Ok(Self::Eight),
            _ => Err(format!("a counter cannot have {bytes} bytes; write 4 or 8")),
        }
    }
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct QueuePort {
    pub name: Label,
    pub netns: Option<PathBuf>,
    pub interface: InterfaceName,
    pub handle: Handle,
    /// The qdiscs below it that mark, maybe none: what holds others does not count what they mark.
    pub leaves: Option<Vec<Handle>>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Interfaces {
    pub interval_ns: Interval,
    pub output: PathBuf,
    pub ports: Vec<InterfacePort>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct InterfacePort {
    pub name: Label,
    pub netns: Option<PathBuf>,
    pub interface: InterfaceName,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Switches {
    pub interval_ns: Interval,
    pub outputs: SwitchOutputs,
    pub ports: Vec<InterfacePort>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SwitchOutputs {
    pub ports: PathBuf,
    pub queues: PathBuf,
    pub groups: PathBuf,
    pub pools: PathBuf,
    pub events: PathBuf,
    /// Of switches that trim packets.
    pub trimming: Option<PathBuf>,
}

impl SwitchOutputs {
    fn all(&self) -> impl Iterator<Item = (&'static str, &PathBuf)> {
        let trimming = self.trimming.as_ref();
        [
            ("switches.outputs.ports", &self.ports),
            ("switches.outputs.queues", &self.queues),
            ("switches.outputs.groups", &self.groups),
            ("switches.outputs.pools", &self.pools),
            ("switches.outputs.events", &self.events),
        ]
        .into_iter()
        .chain(trimming.map(|path| ("switches.outputs.trimming", path)))
    }
}

impl InterfacePort {
    /// The name of the switch in `SWITCH:INTERFACE`; the whole name if it is not of that form.
    pub fn switch(&self) -> &str {
        let Label(name) = &self.name;
        name.rsplit_once(':').map_or(name, |(switch, _)| switch)
    }
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tcp {
    pub interval_ns: Interval,
    pub output: PathBuf,
    pub nodes: Vec<Node>,
    /// Numbers of the flows to sample; `None`: every socket that carries a mark.
    pub flows: Option<Vec<Flow>>,
}

/// Whose connections are told when they end: nothing is sampled, so there is no interval.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Connections {
    pub output: PathBuf,
    pub nodes: Vec<Node>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Node {
    pub name: Label,
    pub netns: Option<PathBuf>,
}

/// Nanoseconds between two samples.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq)]
#[serde(try_from = "u64")]
pub struct Interval(pub u64);

impl TryFrom<u64> for Interval {
    type Error = String;

    fn try_from(ns: u64) -> Result<Self, String> {
        if INTERVAL_NS.contains(&ns) {
            return Ok(Self(ns));
        }
        Err(format!(
            "{ns} is not a sampling interval; write 10000 (10 us) to 1000000000 (1 s) nanoseconds"
        ))
    }
}

/// Nanoseconds between two samples of queues; 0: each change is recorded.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq)]
#[serde(try_from = "u64")]
pub struct QueueInterval(pub u64);

impl TryFrom<u64> for QueueInterval {
    type Error = String;

    fn try_from(ns: u64) -> Result<Self, String> {
        match ns {
            0 => Ok(Self(0)),
            _ => match Interval::try_from(ns) {
                Ok(Interval(ns)) => Ok(Self(ns)),
                Err(error) => Err(format!("{error}, or 0 for each change")),
            },
        }
    }
}

/// The number of a flow in the trace. Its sockets carry this number plus one as mark, which leaves no room for 2^32-1.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq)]
#[serde(try_from = "u64")]
pub struct Flow(u32);

impl Flow {
    pub fn mark(self) -> u32 {
        self.0 + 1
    }
}

impl TryFrom<u64> for Flow {
    type Error = String;

    fn try_from(number: u64) -> Result<Self, String> {
        match u32::try_from(number) {
            Ok(number) if number < u32::MAX => Ok(Self(number)),
            _ => Err(format!(
                "{number} is not a flow number that a socket mark can hold; write 0 to 4294967294"
            )),
        }
    }
}

/// A qdisc's handle; only the major number counts, the minor number of a qdisc is 0.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq)]
#[serde(try_from = "String")]
pub struct Handle(pub u32);

impl TryFrom<String> for Handle {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let major = text
            .strip_suffix(':')
            .filter(|digits| digits.bytes().all(|byte| byte.is_ascii_hexdigit()));
        match major.and_then(|digits| u16::from_str_radix(digits, 16).ok()) {
            Some(major) if major != 0 => Ok(Self(u32::from(major) << 16)),
            _ => Err(format!(
                "`{text}` is not a qdisc handle; write 1: to ffff: (hexadecimal, with the colon), as `tc qdisc show` \
                 prints it"
            )),
        }
    }
}

impl fmt::Display for Handle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:x}:", self.0 >> 16)
    }
}

/// The name of an interface, as the kernel takes it.
#[derive(Clone, Debug, Deserialize, PartialEq)]
#[serde(try_from = "String")]
pub struct InterfaceName(pub String);

impl TryFrom<String> for InterfaceName {
    type Error = String;

    fn try_from(name: String) -> Result<Self, String> {
        let valid = (1..=INTERFACE_NAME_BYTES).contains(&name.len())
            && !name
                .bytes()
                .any(|byte| byte == b'/' || byte.is_ascii_whitespace() || byte == 0);
        if valid {
            return Ok(Self(name));
        }
        Err(format!(
            "`{name}` is not an interface name; write 1 to {INTERFACE_NAME_BYTES} bytes without a slash or a space"
        ))
    }
}

/// The name of a port or node as it stands in the CSV files.
#[derive(Clone, Debug, Deserialize, PartialEq)]
#[serde(try_from = "String")]
pub struct Label(pub String);

impl TryFrom<String> for Label {
    type Error = String;

    fn try_from(label: String) -> Result<Self, String> {
        if !label.is_empty()
            && !label
                .chars()
                .any(|c| c.is_control() || c == ',' || c == '"')
        {
            return Ok(Self(label));
        }
        Err(format!(
            "{label:?} is not a name for a CSV column; write at least one character, without a comma, quote or \
             control character"
        ))
    }
}

#[cfg(test)]
#[path = "config_tests.rs"]
mod tests;
