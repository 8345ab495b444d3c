//! A session: what the host has opened and what has not ended yet.

use nix::poll::PollFd;
use nix::sys::signal::Signal;

use super::channel::Channel;
use super::connection::Connection;
use super::exec::Execution;
use super::flows::Flows;
use super::frame::Request;
use super::programs::Programs;
use crate::failure::{Failure, Result};
use crate::lab::Lab;
use crate::supervisor::{Ended, Supervisor};

pub enum Session {
    Execution(Execution),
    Connection(Connection),
    Programs(Programs),
}

impl Session {
    /// What would let it go on, beside the end of a process.
    pub fn add_to<'a>(&'a self, watched: &mut Vec<PollFd<'a>>) {
        match self {
            Self::Execution(execution) => execution.flows.add_to(watched),
            Self::Connection(connection) => connection.add_to(watched),
            Self::Programs(_) => {}
        }
    }

    /// When `advance` wants to be called, on the machine's clock.
    pub fn next_ns(&self) -> Option<i64> {
        match self {
            Self::Programs(programs) => programs.next_ns(),
            _ => None,
        }
    }

    pub fn advance(&mut self, supervisor: &mut Supervisor) {
        if let Self::Programs(programs) = self {
            programs.advance(supervisor);
        }
    }

    /// A process has ended; one of this session, or another.
    pub fn note(&mut self, ended: &Ended) {
        match self {
            Self::Execution(execution) if execution.is_of(ended.pid) => {
                execution.flows.finish(&ended.status);
            }
            Self::Programs(programs) => programs.note(ended),
            _ => {}
        }
    }

    /// Does what the host asks of it. A failure: it can't be asked for that.
    pub fn obey(&mut self, supervisor: &mut Supervisor, request: Request) -> Result<()> {
        match request {
            Request::Open(_) => return Err(Failure::new("the session is open already")),
            Request::Data(bytes) => match self.flows_mut() {
                Some(flows) => flows.input.push(bytes)?,
                None => {
                    return Err(Failure::new(
                        "the session does not take input, or does not take it yet",
                    ))
                }
            },
            Request::Eof => {
                if let Some(flows) = self.flows_mut() {
                    flows.input.end();
                }
            }
            Request::Credit(bytes) => {
                if let Some(flows) = self.flows_mut() {
                    flows.add_credit(bytes);
                }
            }
            Request::Resize(size) => {
                if let Self::Execution(execution) = self {
                    execution.resize(size);
                }
            }
            Request::Signal(signal) => self.signal(supervisor, signal)?,
        }
        Ok(())
    }

    pub fn signal(&mut self, supervisor: &mut Supervisor, signal: Signal) -> Result<()> {
        match self {
            Self::Execution(execution) => execution.signal(signal),
            Self::Connection(connection) => connection.signal(signal)?,
            Self::Programs(programs) => programs.signal(supervisor, signal),
        }
        Ok(())
    }

    /// Moves bytes, as many as can be without waiting.
    pub fn serve(&mut self, lab: &Lab, channel: &Channel) -> Result<()> {
        match self {
            Self::Execution(execution) => execution.flows.serve(channel),
            Self::Connection(connection) => connection.serve(lab, channel),
            Self::Programs(_) => Ok(()),
        }
    }

    /// Nothing more is written, but what was may not have been sent.
    pub fn is_finished(&self) -> bool {
        match self {
            Self::Execution(execution) => execution.flows.is_finished(),
            Self::Connection(connection) => connection.flows().is_some_and(Flows::is_finished),
            Self::Programs(_) => false,
        }
    }

    /// How it ended, when it has.
    pub fn status(&self) -> Option<&str> {
        match self {
            Self::Execution(execution) => execution.flows.status(),
            Self::Connection(connection) => connection.flows()?.status(),
            Self::Programs(programs) => programs.status(),
        }
    }

    fn flows_mut(&mut self) -> Option<&mut Flows> {
        match self {
            Self::Execution(execution) => Some(&mut execution.flows),
            Self::Connection(connection) => connection.flows_mut(),
            Self::Programs(_) => None,
        }
    }
}
