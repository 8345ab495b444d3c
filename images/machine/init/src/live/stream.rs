//! What flows into a session's process or connection, and out of it.

use std::collections::VecDeque;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::rc::Rc;

use nix::errno::Errno;
use nix::sys::socket::{shutdown, Shutdown};
use nix::unistd::{read, write};

use super::frame::{Answer, BYTES_MAX, INPUT_CREDIT};
use crate::descriptor::set_nonblocking;
use crate::failure::{Failure, Result};

/// How the end of an input is told.
pub enum Ending {
    /// The pipe is closed.
    Close,
    /// The connection is closed in this direction.
    Shutdown,
    /// The terminal gets this character, Ctrl-D.
    Character(u8),
}

/// Bytes on their way in.
pub struct Inflow {
    /// `None`: nobody reads it any more; what comes is thrown away.
    to: Option<Rc<OwnedFd>>,
    waiting: VecDeque<u8>,
    /// How many more bytes the host may send.
    credit: usize,
    ending: Ending,
    is_ending: bool,
}

impl Inflow {
    pub fn new(to: impl Into<Rc<OwnedFd>>, ending: Ending) -> Result<Self> {
        let to = to.into();
        set_nonblocking(&to)?;
        Ok(Self {
            to: Some(to),
            waiting: VecDeque::new(),
            credit: INPUT_CREDIT,
            ending,
            is_ending: false,
        })
    }

    /// Where it goes, if something waits to go there.
    pub fn wants(&self) -> Option<BorrowedFd<'_>> {
        self.to
            .as_ref()
            .filter(|_| !self.waiting.is_empty())
            .map(AsFd::as_fd)
    }

    /// Bytes of the host's. An error: they are more than it may send.
    pub fn push(&mut self, bytes: &[u8]) -> Result<()> {
        let excess = || {
            let (sent, credit) = (bytes.len(), self.credit);
            Failure::new(format!(
                "the input got {sent} bytes, but had credit for {credit}"
            ))
        };
        self.credit = self.credit.checked_sub(bytes.len()).ok_or_else(excess)?;
        if !self.is_ending {
            self.waiting.extend(bytes);
        }
        Ok(())
    }

    /// No more bytes will come.
    pub fn end(&mut self) {
        if !self.is_ending {
            self.is_ending = true;
            if let Ending::Character(character) = self.ending {
                self.waiting.push_back(character);
            }
        }
    }

    /// Writes what can be written now. Returns how many bytes the host may send in their place.
    pub fn write(&mut self) -> usize {
        while let Some(to) = self.to.as_ref().filter(|_| !self.waiting.is_empty()) {
            match write(to, self.waiting.as_slices().0) {
                Ok(written) => drop(self.waiting.drain(..written)),
                Err(Errno::EINTR) => {}
                Err(Errno::EAGAIN) => break,
                Err(_) => self.to = None,
            }
        }
        if self.to.is_none() {
            self.waiting.clear();
        }
        if self.is_ending && self.waiting.is_empty() {
            self.close();
        }
        let freed = INPUT_CREDIT.saturating_sub(self.credit + self.waiting.len());
        self.credit += freed;
        freed
    }

    fn close(&mut self) {
        match self.ending {
            Ending::Close => self.to = None,
            Ending::Shutdown => {
                if let Some(to) = self.to.take() {
                    // Fails when the other side has gone.
                    let _ = shutdown(to.as_raw_fd(), Shutdown::Write);
                }
            }
            Ending::Character(_) => {}
        }
    }
}

/// Bytes on their way out.
pub struct Outflow {
    /// `None`: it has ended.
    from: Option<Rc<OwnedFd>>,
    pub kind: Answer,
}

impl Outflow {
    pub fn new(from: impl Into<Rc<OwnedFd>>, kind: Answer) -> Result<Self> {
        let from = from.into();
        set_nonblocking(&from)?;
        Ok(Self {
            from: Some(from),
            kind,
        })
    }

    pub fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        self.from.as_ref().map(AsFd::as_fd)
    }

    pub fn has_ended(&self) -> bool {
        self.from.is_none()
    }

    pub fn close(&mut self) {
        self.from = None;
    }

    /// At most so many bytes of those that are there; none: there are none now, or it has ended.
    pub fn read(&mut self, most: u64) -> Vec<u8> {
        let most = usize::try_from(most).unwrap_or(BYTES_MAX).min(BYTES_MAX);
        let Some(from) = &self.from else {
            return Vec::new();
        };
        let mut bytes = vec![0; most];
        match read(from, &mut bytes) {
            Ok(0) if most > 0 => self.close(),
            Ok(length) => {
                bytes.truncate(length);
                return bytes;
            }
            Err(Errno::EAGAIN | Errno::EINTR) => {}
            // A terminal whose other side is closed, a connection that was reset.
            Err(_) => self.close(),
        }
        Vec::new()
    }
}

#[cfg(test)]
mod tests {
    use nix::unistd::pipe;

    use super::*;

    #[test]
    fn the_host_gets_back_the_credit_of_what_was_written() {
        let (from, to) = pipe().expect("a pipe");
        let mut inflow = Inflow::new(to, Ending::Close).expect("a flow");
        inflow.push(&[1; 1000]).expect("within the credit");
        assert_eq!(inflow.write(), 1000);
        inflow.push(&[2; INPUT_CREDIT]).expect("all of the credit");
        assert!(inflow.push(&[3]).is_err());
        // A pipe of 65,536 bytes holds the first thousand already.
        assert!(inflow.write() < INPUT_CREDIT && inflow.wants().is_some());
        inflow.end();
        let mut outflow = Outflow::new(from, Answer::Stdout).expect("a flow");
        let mut received = 0;
        while !outflow.has_ended() {
            received += outflow.read(u64::MAX).len();
            inflow.write();
        }
        assert_eq!(received, 1000 + INPUT_CREDIT);
    }

    #[test]
    fn what_nobody_reads_any_more_is_thrown_away_and_counts_as_written() {
        let (from, to) = pipe().expect("a pipe");
        drop(from);
        let mut inflow = Inflow::new(to, Ending::Close).expect("a flow");
        for _ in 0..3 {
            inflow.push(&[1; INPUT_CREDIT]).expect("within the credit");
            assert_eq!(inflow.write(), INPUT_CREDIT);
            assert!(inflow.wants().is_none());
        }
    }

    #[test]
    fn an_output_is_read_as_far_as_asked() {
        let (from, to) = pipe().expect("a pipe");
        let mut outflow = Outflow::new(from, Answer::Stderr).expect("a flow");
        assert!(outflow.read(10).is_empty() && !outflow.has_ended());
        write(&to, b"abcdef").expect("written");
        assert_eq!(outflow.read(4), b"abcd");
        assert_eq!(outflow.read(0), b"");
        assert_eq!(outflow.read(4), b"ef");
        drop(to);
        assert!(outflow.read(4).is_empty() && outflow.has_ended());
    }
}
