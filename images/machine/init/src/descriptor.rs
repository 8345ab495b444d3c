//! Descriptors of files, pipes and sockets.

use std::os::fd::OwnedFd;

use nix::fcntl::{fcntl, FcntlArg, OFlag};

use crate::failure::{Context, Result};

/// Lets no read or write wait: it fails with EAGAIN instead.
pub fn set_nonblocking(descriptor: &OwnedFd) -> Result<()> {
    let flags =
        fcntl(descriptor, FcntlArg::F_GETFL).context(|| "read a descriptor's flags".to_owned())?;
    let flags = OFlag::from_bits_retain(flags) | OFlag::O_NONBLOCK;
    fcntl(descriptor, FcntlArg::F_SETFL(flags))
        .context(|| "set a descriptor's flags".to_owned())?;
    Ok(())
}
