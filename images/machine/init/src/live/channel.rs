//! The way to the host: the kernel's character device (images/machine/kernel/tree/arch/um/kernel/live.c).

use std::fs::{self, File};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::fs::OpenOptionsExt;

use nix::errno::Errno;
use nix::fcntl::OFlag;
use nix::sys::stat::{makedev, mknod, Mode, SFlag};
use nix::unistd::{read, write};
use serde::Serialize;

use super::frame::{self, Answer, BYTES_MAX, PAYLOAD_MAX};
use crate::failure::{Context, Failure, Result};
use crate::namespace::Node;
use crate::persona;
use crate::sys;

const DEVICE: &str = "/dev/fabriclab";
/// include/uapi/linux/fabriclab_live.h: LIVE_DEVICE_MAJOR, LIVE_DEVICE_MINOR.
const DEVICE_NUMBER: (u64, u64) = (10, 240);

pub struct Channel {
    device: File,
    buffer: Box<[u8; PAYLOAD_MAX]>,
}

impl Channel {
    /// Nobody else can open it then, and no node sees it.
    pub fn open() -> Result<Self> {
        let (major, minor) = DEVICE_NUMBER;
        let mode = Mode::from_bits_truncate(0o600);
        // A new file's generation is a random number.
        persona::watching(|| mknod(DEVICE, SFlag::S_IFCHR, mode, makedev(major, minor)))
            .context(|| format!("make {DEVICE}"))?;
        let mut options = File::options();
        let flags = OFlag::O_NONBLOCK | OFlag::O_CLOEXEC;
        let opened = options
            .read(true)
            .write(true)
            .custom_flags(flags.bits())
            .open(DEVICE);
        let removed = fs::remove_file(DEVICE);
        let device = opened.context(|| {
            format!("open {DEVICE} (only a kernel that was started with fabriclab.live=FD has it)")
        })?;
        removed.context(|| format!("remove {DEVICE}"))?;
        Ok(Self {
            device,
            buffer: Box::new([0; PAYLOAD_MAX]),
        })
    }

    /// Time stands still until the host sets a pace.
    pub fn stop_time(&self) -> Result<()> {
        sys::stop_time(&self.device).context(|| "stop the clock".to_owned())
    }

    /// The host numbers nodes in this order when it looks at them.
    pub fn name_nodes(&self, nodes: &[Node]) -> Result<()> {
        for node in nodes {
            sys::name_node(&self.device, node.pid)
                .context(|| "name its network namespace".to_owned())
                .map_err(|failure| failure.in_node(&node.name))?;
        }
        Ok(())
    }

    /// Readable when there is an input.
    pub fn descriptor(&self) -> BorrowedFd<'_> {
        self.device.as_fd()
    }

    /// The next input, if there is one.
    pub fn receive(&mut self) -> Result<Option<Vec<u8>>> {
        match read(&self.device, self.buffer.as_mut_slice()) {
            Ok(length) => Ok(self.buffer.get(..length).map(<[u8]>::to_vec)),
            Err(Errno::EAGAIN | Errno::EINTR) => Ok(None),
            Err(errno) => Err(errno).context(|| "read what the host says".to_owned()),
        }
    }

    /// Returns when the host has it.
    pub fn send(&self, session: u32, kind: Answer, bytes: &[u8]) -> Result<()> {
        let payload = frame::compose(session, kind, bytes);
        loop {
            match write(&self.device, &payload) {
                Ok(_) => return Ok(()),
                Err(Errno::EINTR) => {}
                Err(errno) => return Err(errno).context(|| "write to the host".to_owned()),
            }
        }
    }

    pub fn tell(&self, session: u32, kind: Answer, what: &impl Serialize) -> Result<()> {
        let json = serde_json::to_vec(what)
            .map_err(std::io::Error::from)
            .context(|| "write JSON".to_owned())?;
        self.send(session, kind, &json)
    }

    /// A session ends so.
    pub fn tell_end(&self, session: u32, status: &str) -> Result<()> {
        self.tell(session, Answer::Ended, &frame::Ended { status })
    }

    /// What was asked for can't be; the session ends.
    pub fn tell_failure(&self, session: u32, failure: &Failure) -> Result<()> {
        let json = serde_json::to_vec(failure)
            .map_err(std::io::Error::from)
            .context(|| "write JSON".to_owned())?;
        if json.len() <= BYTES_MAX {
            return self.send(session, Answer::Error, &json);
        }
        let short: String = failure.message.chars().take(1000).collect();
        self.tell(session, Answer::Error, &Failure::new(short))
    }
}
