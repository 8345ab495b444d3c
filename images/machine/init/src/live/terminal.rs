//! A terminal of a node: a pair of which PID 1 holds the master, and a program the slave.

use std::os::fd::OwnedFd;

use nix::fcntl::{open, OFlag};
use nix::pty::{grantpt, posix_openpt, ptsname_r, unlockpt};
use nix::sched::CloneFlags;
use nix::sys::stat::Mode;
use nix::sys::termios::{tcgetattr, tcsetattr, InputFlags, SetArg};

use super::frame::Size;
use crate::failure::{Context, Result};
use crate::lab::Lab;
use crate::namespace::Node;
use crate::sys;

/// What a terminal takes for the end of its input at a line's begin: Ctrl-D.
pub const END_CHARACTER: u8 = 4;

pub struct Terminal {
    pub master: OwnedFd,
    pub slave: OwnedFd,
}

impl Terminal {
    /// Made where the program will be, so that it has a name in /dev/pts there.
    pub fn open(lab: &Lab, node: Option<&Node>, size: Size) -> Result<Self> {
        let terminal = match node {
            Some(node) => lab
                .machine
                .inside(node, CloneFlags::CLONE_NEWNS, Self::make)?,
            None => Self::make()?,
        };
        terminal.resize(size)?;
        terminal.understand_utf8()?;
        Ok(terminal)
    }

    fn make() -> Result<Self> {
        let pair = || {
            let flags = OFlag::O_RDWR | OFlag::O_NOCTTY | OFlag::O_CLOEXEC;
            let master = posix_openpt(flags)?;
            grantpt(&master)?;
            unlockpt(&master)?;
            let slave = open(ptsname_r(&master)?.as_str(), flags, Mode::empty())?;
            Ok(Self {
                master: master.into(),
                slave,
            })
        };
        let made: nix::Result<Self> = pair();
        made.context(|| "make a terminal".to_owned())
    }

    fn resize(&self, size: Size) -> Result<()> {
        sys::set_window_size(&self.master, size.rows, size.columns)
            .context(|| "set a terminal's size".to_owned())
    }

    /// Backspace takes away a character, not a byte.
    fn understand_utf8(&self) -> Result<()> {
        tcgetattr(&self.slave)
            .and_then(|mut settings| {
                settings.input_flags.insert(InputFlags::IUTF8);
                tcsetattr(&self.slave, SetArg::TCSANOW, &settings)
            })
            .context(|| "set up a terminal".to_owned())
    }
}
