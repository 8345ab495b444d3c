//! The part of `ip -batch` and `tc -batch` that our compilers write, done by netlink without a process.
//!
//! A process costs milliseconds in the machine and a large lab has a hundred of these files. The requests are those
//! that iproute2 6.15 (Debian trixie) makes of the same words. What is not known here exactly, be it an abbreviation, a
//! unit or a mistake, belongs to the real tool: a file with one such line is not interpreted at all. The exception are
//! lines that name our own qdisc, or one that is newer than the real tool, which knows neither: there a mistake is told
//! here, and the lines beside them are a file of their own.

mod aqm;
mod command;
mod dualpi2;
mod ip;
mod mptcp;
mod red;
mod route;
mod rule;
mod switch_port;
mod tc;
mod words;

use netlink::{Protocol, Refusal, Socket};

use crate::failure::{Failure, Result};
use crate::link::open_socket;
use command::{Command, Interfaces};
use words::Words;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tool {
    Ip,
    Tc,
}

impl Tool {
    pub fn name(self) -> &'static str {
        match self {
            Self::Ip => "ip",
            Self::Tc => "tc",
        }
    }

    fn compile(self, words: &mut Words, interfaces: &mut Interfaces) -> Option<Command> {
        match self {
            Self::Ip => ip::compile(words, interfaces),
            Self::Tc => tc::compile(words, interfaces).map(Command::Route),
        }
    }

    /// Must this batch file be interpreted, because the real tool does not know a kind of qdisc in it?
    pub fn lacks_words_of(self, text: &str) -> bool {
        self == Self::Tc && text.lines().any(is_ours)
    }

    /// The parts of a batch file, in their order: lines that must be interpreted, and lines that the real tool knows.
    /// Each part has an empty line for each line before it, so that a line's number is the file's.
    pub fn parts(self, text: &str) -> Vec<String> {
        if !self.lacks_words_of(text) {
            return vec![text.to_owned()];
        }
        let lines: Vec<&str> = text.lines().collect();
        let mut before = 0;
        let parts = lines.chunk_by(|a, b| is_ours(a) == is_ours(b));
        parts
            .map(|part| {
                let text = format!("{}{}\n", "\n".repeat(before), part.join("\n"));
                before += part.len();
                text
            })
            .collect()
    }
}

/// Applies a batch file's text in the current network namespace; `false` when it is one for the real tool, and nothing
/// was done. A failure has the line; no line has an effect when one can't be understood.
pub fn apply(tool: Tool, text: &str) -> Result<bool> {
    let Some(requests) = compile(tool, text, &mut Interfaces::default())? else {
        return Ok(false);
    };
    let mut sockets = Sockets {
        route: open_socket(Protocol::Route)?,
        mptcp: None,
    };
    for (number, line, request) in requests {
        sockets
            .send(request)?
            .map_err(|refusal| Failure::new(words_of_tool(&refusal)).at_line(number, line))?;
    }
    Ok(true)
}

/// Sockets of the current network namespace; the second is opened when it is needed.
struct Sockets {
    route: Socket,
    mptcp: Option<(Socket, u16)>,
}

impl Sockets {
    fn send(&mut self, command: Command) -> Result<std::result::Result<(), Refusal>> {
        match command {
            Command::Route(mut message) => Ok(self.route.request(&mut message)),
            Command::Mptcp(mut message) => {
                let (socket, family) = match &mut self.mptcp {
                    Some(known) => known,
                    empty => {
                        let mut socket = open_socket(Protocol::Generic)?;
                        let family = family(&mut socket, mptcp::FAMILY)?;
                        empty.insert((socket, family))
                    }
                };
                message.set_kind(*family);
                Ok(socket.request(&mut message))
            }
        }
    }
}

/// The number of a family of generic netlink.
fn family(socket: &mut Socket, name: &str) -> Result<u16> {
    let found = socket.family(name).map_err(|refusal| {
        Failure::new(format!(
            "the kernel has no netlink family {name}: {refusal}"
        ))
    })?;
    found
        .map(|family| family.id)
        .ok_or_else(|| Failure::new(format!("the kernel gave netlink family {name} no number")))
}

/// A request with the number of its line, from 1, and the line.
type Numbered<'a> = (usize, &'a str, Command);

/// The requests of all lines, or nothing if a single line is not of the part that is known here.
fn compile<'a>(
    tool: Tool,
    text: &'a str,
    interfaces: &mut Interfaces,
) -> Result<Option<Vec<Numbered<'a>>>> {
    let mut requests = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let line = line.trim();
        match compile_line(tool, line, interfaces) {
            Ok(Some(request)) => requests.push((index + 1, line, request)),
            Ok(None) => {}
            Err(Strange::Wrong(message)) => {
                return Err(Failure::new(message).at_line(index + 1, line))
            }
            Err(Strange::Unknown) => return Ok(None),
        }
    }
    Ok(Some(requests))
}

/// Why there is no request for a line.
enum Strange {
    /// It is a matter for the real tool.
    Unknown,
    /// Nobody could understand it, for the reason told.
    Wrong(String),
}

/// The request of one line; nothing for an empty one and a comment.
fn compile_line(
    tool: Tool,
    line: &str,
    interfaces: &mut Interfaces,
) -> std::result::Result<Option<Command>, Strange> {
    let Some(mut words) = Words::of_line(line).ok_or(Strange::Unknown)? else {
        return Ok(None);
    };
    if tool == Tool::Tc && switch_port::is_named(line) {
        let request = switch_port::compile(&mut words, interfaces).map_err(Strange::Wrong)?;
        return Ok(Some(Command::Route(request)));
    }
    let request = tool.compile(&mut words, interfaces).ok_or_else(|| {
        if tool == Tool::Tc && tc::is_own(line) {
            Strange::Wrong("must be qdisc add, change or replace ... own ID WORDS...".to_owned())
        } else if tool == Tool::Tc && dualpi2::is_named(line) {
            Strange::Wrong(dualpi2::RIGHT.to_owned())
        } else {
            Strange::Unknown
        }
    })?;
    Ok(Some(request))
}

/// Does a line name a qdisc that the real `tc` does not know: the machine's own, a user's, or one that is newer?
fn is_ours(line: &str) -> bool {
    switch_port::is_named(line) || tc::is_own(line) || dualpi2::is_named(line)
}

/// What the real tools print about a refusal.
fn words_of_tool(refusal: &Refusal) -> String {
    match &refusal.message {
        Some(message) if message.ends_with('.') => format!("Error: {message}"),
        Some(message) => format!("Error: {message}."),
        None => format!("RTNETLINK answers: {}", refusal.errno.desc()),
    }
}

#[cfg(test)]
#[path = "iproute_tests.rs"]
mod tests;
