//! A host's RoCE NIC, from words.

use super::values::{number, time, value, Parsed};
use crate::iproute::words::Words;

const DSCP_MAX: u64 = 63;

/// What the kernel gets of it; it says itself what values may be.
#[derive(Default)]
pub(super) struct Roce {
    mtu: u32,
    window: u32,
    ack_every: u32,
    retries: u32,
    timeout_ns: u64,
    notify_ns: u64,
    /// Of data, acknowledgements, notifications.
    dscps: [u8; 3],
    /// Selective repeat in place of go-back-N.
    selective: bool,
    /// READs of a queue pair on their way; 0: the kernel's default.
    reads: u8,
    /// Packets by which one may be overtaken and not be lost.
    reorder: u16,
    /// It knows trimmed packets.
    trimmed: bool,
    pub(super) control: Option<Control>,
}

/// A congestion control, by its name, and the words that it reads itself.
pub(super) struct Control {
    name: String,
    options: String,
}

/// `MTU WINDOW ACK_EVERY RETRIES TIMEOUTns INTERVALns DSCP ACK_DSCP CNP_DSCP [selective] [reads COUNT]
/// [reorder PACKETS] [trimmed] [control NAME OPTIONS]`
pub(super) fn roce(words: &mut Words, name: &str) -> Parsed<Roce> {
    let (mtu, window) = (count(words, name)?, count(words, name)?);
    let (ack_every, retries) = (count(words, name)?, count(words, name)?);
    let (timeout_ns, notify_ns) = (time(words, name)?, time(words, name)?);
    let mut dscps = [0; 3];
    for dscp in &mut dscps {
        *dscp = number(words, name, 0, DSCP_MAX)? as u8;
    }
    let selective = words.take("selective");
    let reads = if words.take("reads") {
        number(words, "reads", 1, u8::MAX.into())? as u8
    } else {
        0
    };
    let reorder = if words.take("reorder") {
        number(words, "reorder", 1, u16::MAX.into())? as u16
    } else {
        0
    };
    let trimmed = words.take("trimmed");
    let control = words.take("control").then(|| control(words, "control"));
    Ok(Roce {
        mtu,
        window,
        ack_every,
        retries,
        timeout_ns,
        notify_ns,
        dscps,
        selective,
        reads,
        reorder,
        trimmed,
        control: control.transpose()?,
    })
}

/// `NAME WORD,VALUE,...`, or a dash where there are no options.
fn control(words: &mut Words, name: &str) -> Parsed<Control> {
    let expected = "a name, and words and values with commas between, or -";
    let text = |word: &str| Some(word.to_owned());
    let control = value(words, name, expected, text)?;
    let options = value(words, name, expected, text)?;
    Ok(Control {
        name: control,
        options: if options == "-" {
            String::new()
        } else {
            options.replace(',', " ")
        },
    })
}

fn count(words: &mut Words, name: &str) -> Parsed<u32> {
    Ok(number(words, name, 0, u32::MAX.into())? as u32)
}

impl Roce {
    /// `struct tc_switch_roce`
    pub(super) fn bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        let counts = [self.mtu, self.window, self.ack_every, self.retries];
        bytes.extend(counts.iter().flat_map(|count| count.to_ne_bytes()));
        bytes.extend(self.timeout_ns.to_ne_bytes());
        bytes.extend(self.notify_ns.to_ne_bytes());
        bytes.extend(self.dscps);
        bytes.extend([self.selective.into(), self.reads, self.trimmed.into()]);
        bytes.extend(self.reorder.to_ne_bytes());
        bytes
    }
}

impl Control {
    pub(super) fn name(&self) -> Vec<u8> {
        terminated(&self.name)
    }

    pub(super) fn options(&self) -> Vec<u8> {
        terminated(&self.options)
    }
}

fn terminated(text: &str) -> Vec<u8> {
    [text.as_bytes(), &[0]].concat()
}
