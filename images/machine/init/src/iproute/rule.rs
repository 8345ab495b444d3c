//! `ip rule`. Source: iproute2 6.15, ip/iprule.c; Linux, include/uapi/linux/fib_rules.h.

use super::words::{self, Words};
use netlink::Request;

const FRA_SRC: u16 = 2;
const FRA_PRIORITY: u16 = 6;
const FR_ACT_TO_TBL: u8 = 1;

/// `add from PREFIX table N priority N`
pub(super) fn compile(words: &mut Words) -> Option<Request> {
    if !(words.take("add") && words.take("from")) {
        return None;
    }
    let (address, length) = words::prefix(words.next()?)?;
    if !words.take("table") {
        return None;
    }
    let table = words::table(words)?;
    if !words.take("priority") {
        return None;
    }
    let priority = words.next_number()?;
    // struct fib_rule_hdr
    let mut header = vec![
        words::family(address),
        0,
        length,
        0,
        table,
        0,
        0,
        FR_ACT_TO_TBL,
    ];
    header.extend_from_slice(&[0; 4]);
    let flags = libc::NLM_F_CREATE | libc::NLM_F_EXCL;
    let mut message = Request::acknowledged(libc::RTM_NEWRULE, flags, &header);
    message
        .attribute(FRA_SRC, &words::octets(address))
        .attribute_u32(FRA_PRIORITY, priority);
    words.next().is_none().then_some(message)
}
