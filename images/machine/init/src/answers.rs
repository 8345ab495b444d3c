//! What the kernel answers to a request for all of something, by rtnetlink(7): messages of one kind, over several
//! reads.

use netlink::{messages, Reply, Request, Socket};
use nix::errno::Errno;

use crate::failure::{Context, Failure, Result};

/// The kernel fills up to 32 KiB at a time.
const ANSWER_BYTES: usize = 1 << 16;

/// Sends a request and gives `take` the payload of each message of a kind; `None` of it: that one is broken.
///
/// `what` is asked for, in words for an error: `the routes`.
pub fn each(
    socket: &Socket,
    mut request: Request,
    kind: u16,
    what: &str,
    mut take: impl FnMut(&[u8]) -> Option<()>,
) -> Result<()> {
    socket
        .send(request.finish(0))
        .context(|| format!("ask for {what}"))?;
    let mut answer = vec![0; ANSWER_BYTES];
    loop {
        let length = socket
            .receive(&mut answer)
            .context(|| format!("read {what}"))?;
        if take_messages(&answer[..length], kind, what, &mut take)? {
            return Ok(());
        }
    }
}

/// Takes the messages of one answer; `true` when it was the last.
pub fn take_messages(
    answer: &[u8],
    kind: u16,
    what: &str,
    take: &mut impl FnMut(&[u8]) -> Option<()>,
) -> Result<bool> {
    let broken = || Failure::new(format!("the kernel's answer about {what} is cut short"));
    for message in messages(answer) {
        let message = message.map_err(|_| broken())?;
        match message.reply() {
            Reply::Done => return Ok(true),
            Reply::Refused(number) => {
                let errno = Errno::from_raw(number);
                return Err(Failure::new(format!("read {what}: {}", errno.desc())));
            }
            Reply::Data(payload) if message.kind == kind => take(payload).ok_or_else(broken)?,
            Reply::Data(_) => {}
        }
    }
    Ok(false)
}
