//! A host's RoCE NIC, from words.

use super::values::{number, rate, time, Parsed};
use crate::iproute::words::Words;

const DSCP_MAX: u64 = 63;

/// `struct tc_switch_roce`; the kernel says what its values may be.
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
    dcqcn: Option<Dcqcn>,
}

struct Dcqcn {
    /// Of 2^32.
    gain: u32,
    recovery_cycles: u32,
    /// The least rate, R_AI, R_HAI.
    rates_bps: [u64; 3],
    cycle_bytes: u64,
    cycle_ns: u64,
    alpha_ns: u64,
}

/// `MTU WINDOW ACK_EVERY RETRIES TIMEOUTns INTERVALns DSCP ACK_DSCP CNP_DSCP [dcqcn GAIN CYCLES LEASTbit ACTIVEbit
/// HYPERbit CYCLE_BYTES CYCLEns ALPHAns]`
pub(super) fn roce(words: &mut Words, name: &str) -> Parsed<Roce> {
    let (mtu, window) = (count(words, name)?, count(words, name)?);
    let (ack_every, retries) = (count(words, name)?, count(words, name)?);
    let (timeout_ns, notify_ns) = (time(words, name)?, time(words, name)?);
    let mut dscps = [0; 3];
    for dscp in &mut dscps {
        *dscp = number(words, name, 0, DSCP_MAX)? as u8;
    }
    let dcqcn = words.take("dcqcn").then(|| dcqcn(words, "dcqcn"));
    Ok(Roce {
        mtu,
        window,
        ack_every,
        retries,
        timeout_ns,
        notify_ns,
        dscps,
        dcqcn: dcqcn.transpose()?,
    })
}

fn dcqcn(words: &mut Words, name: &str) -> Parsed<Dcqcn> {
    Ok(Dcqcn {
        gain: count(words, name)?,
        recovery_cycles: count(words, name)?,
        rates_bps: [rate(words, name)?, rate(words, name)?, rate(words, name)?],
        cycle_bytes: number(words, name, 0, u32::MAX.into())?,
        cycle_ns: time(words, name)?,
        alpha_ns: time(words, name)?,
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
        bytes.push(self.dcqcn.is_some().into());
        match &self.dcqcn {
            Some(dcqcn) => dcqcn.add_to(&mut bytes),
            None => bytes.extend([0; 3 * 4 + 6 * 8]),
        }
        bytes
    }
}

impl Dcqcn {
    fn add_to(&self, bytes: &mut Vec<u8>) {
        for part in [self.gain, self.recovery_cycles, 0] {
            bytes.extend(part.to_ne_bytes());
        }
        let rest = [self.cycle_bytes, self.cycle_ns, self.alpha_ns];
        let words = self.rates_bps.iter().chain(&rest);
        bytes.extend(words.flat_map(|value| value.to_ne_bytes()));
    }
}
