//! The part of `ip -batch` and `tc -batch` that our compilers write, done by rtnetlink without a process.
//!
//! A process costs milliseconds in the machine and a large lab has a hundred of these files. The requests are those that iproute2 6.15
//! (Debian trixie) makes of the same words. What is not known here exactly, be it an abbreviation, a unit or a mistake, belongs to the
//! real tool: a file with one such line is not interpreted at all.

mod ip;
mod red;
mod tc;
mod words;

use std::collections::HashMap;

use nix::net::if_::if_nametoindex;

use crate::failure::{Failure, Result};
use crate::netlink::{Message, Refusal, Socket};
use words::Words;

/// The interfaces of the current network namespace.
#[derive(Default)]
struct Interfaces(HashMap<String, u32>);

impl Interfaces {
    fn index(&mut self, name: &str) -> Option<u32> {
        if let Some(index) = self.0.get(name) {
            return Some(*index);
        }
        let index = if_nametoindex(name).ok()?;
        self.0.insert(name.to_owned(), index);
        Some(index)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
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

    fn compile(self, words: &mut Words, interfaces: &mut Interfaces) -> Option<Message> {
        match self {
            Self::Ip => ip::compile(words, interfaces),
            Self::Tc => tc::compile(words, interfaces),
        }
    }
}

/// Applies a batch file's text in the current network namespace; `false` when it is one for the real tool, and nothing was done.
pub fn apply(tool: Tool, text: &str) -> Result<bool> {
    let Some(requests) = compile(tool, text, &mut Interfaces::default()) else {
        return Ok(false);
    };
    let mut socket = Socket::open()?;
    for (number, line, mut message) in requests {
        socket
            .request(&mut message)
            .map_err(|refusal| Failure::new(words_of_tool(&refusal)).at_line(number, line))?;
    }
    Ok(true)
}

/// The requests of all lines with their numbers, or nothing if a single line is not of the part that is known here.
fn compile<'a>(
    tool: Tool,
    text: &'a str,
    interfaces: &mut Interfaces,
) -> Option<Vec<(usize, &'a str, Message)>> {
    let mut requests = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let line = line.trim();
        let Some(mut words) = Words::of_line(line)? else {
            continue;
        };
        requests.push((index + 1, line, tool.compile(&mut words, interfaces)?));
    }
    Some(requests)
}

/// What the real tools print about a refusal.
fn words_of_tool(refusal: &Refusal) -> String {
    match &refusal.message {
        Some(message) if message.ends_with('.') => format!("Error: {message}"),
        Some(message) => format!("Error: {message}."),
        None => format!("RTNETLINK answers: {}", refusal.errno.desc()),
    }
}

/// `NLM_F_` flags of a verb.
fn verb_flags(verb: &str) -> Option<libc::c_int> {
    match verb {
        "add" => Some(libc::NLM_F_CREATE | libc::NLM_F_EXCL),
        "replace" => Some(libc::NLM_F_CREATE | libc::NLM_F_REPLACE),
        _ => None,
    }
}

#[cfg(test)]
#[path = "iproute_tests.rs"]
mod tests;
