//! The two ways of a session: bytes to its process or connection, bytes from it, each as far as there is credit.

use nix::poll::{PollFd, PollFlags};

use super::channel::Channel;
use super::frame::{Answer, OUTPUT_CREDIT};
use super::stream::{Inflow, Outflow};
use crate::failure::Result;

/// How much output is sent after the end. What a pipe or a terminal holds then is less; orphans may write for ever.
const LEFT_BYTES: u64 = 1 << 20;

pub struct Flows {
    session: u32,
    pub input: Inflow,
    outputs: Vec<Outflow>,
    /// How many bytes of output the host takes.
    credit: u64,
    end: Option<End>,
}

/// What wrote has ended; its output may not have been sent yet.
struct End {
    status: String,
    left_bytes: u64,
}

impl Flows {
    pub fn new(session: u32, input: Inflow, outputs: Vec<Outflow>) -> Self {
        Self {
            session,
            input,
            outputs,
            credit: OUTPUT_CREDIT,
            end: None,
        }
    }

    /// What would let something flow. Without credit no output is watched, and its writer waits.
    pub fn add_to<'a>(&'a self, watched: &mut Vec<PollFd<'a>>) {
        if let Some(descriptor) = self.input.wants() {
            watched.push(PollFd::new(descriptor, PollFlags::POLLOUT));
        }
        if self.credit > 0 {
            let open = self.outputs.iter().filter_map(Outflow::descriptor);
            watched.extend(open.map(|descriptor| PollFd::new(descriptor, PollFlags::POLLIN)));
        }
    }

    pub fn add_credit(&mut self, bytes: u32) {
        self.credit = self.credit.saturating_add(bytes.into());
    }

    /// The process has ended, or the connection: what it wrote is all that is still sent.
    pub fn finish(&mut self, status: &str) {
        self.end.get_or_insert(End {
            status: status.to_owned(),
            left_bytes: LEFT_BYTES,
        });
    }

    pub fn is_finished(&self) -> bool {
        self.end.is_some()
    }

    /// No output is left.
    pub fn has_ended(&self) -> bool {
        self.outputs.iter().all(Outflow::has_ended)
    }

    /// Nobody wants the rest of the output.
    pub fn cut(&mut self) {
        self.outputs.iter_mut().for_each(Outflow::close);
    }

    /// How it ended, when all that it wrote has been sent.
    pub fn status(&self) -> Option<&str> {
        let end = self.end.as_ref().filter(|_| self.has_ended())?;
        Some(&end.status)
    }

    /// Moves what can be moved without waiting; of an output that has not ended not more than one message at a time.
    pub fn serve(&mut self, channel: &Channel) -> Result<()> {
        let freed = self.input.write();
        if freed > 0 {
            let credit = u32::try_from(freed).unwrap_or(u32::MAX).to_le_bytes();
            channel.send(self.session, Answer::Credit, &credit)?;
        }
        for output in &mut self.outputs {
            while self.credit > 0 && !output.has_ended() {
                let left = self.end.as_ref().map_or(u64::MAX, |end| end.left_bytes);
                let bytes = output.read(self.credit.min(left));
                let length = bytes.len() as u64;
                if length > 0 {
                    channel.send(self.session, output.kind, &bytes)?;
                    self.credit -= length;
                }
                match &mut self.end {
                    Some(_) if length == 0 => output.close(),
                    Some(end) => end.left_bytes -= length,
                    None => break,
                }
            }
        }
        Ok(())
    }
}
