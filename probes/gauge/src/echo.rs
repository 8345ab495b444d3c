//! ICMP's echo messages, of IPv4 (RFC 792) and IPv6 (RFC 4443).

const HEADER_BYTES: usize = 8;
/// As ping sends: 64 bytes of ICMP.
const MESSAGE_BYTES: usize = 64;

/// The numbers of an echo request and its reply.
#[derive(Clone, Copy)]
pub struct Kind {
    request: u8,
    reply: u8,
    /// Whether the kernel computes the checksum: it covers addresses of IPv6.
    kernel_sums: bool,
}

pub const IPV4: Kind = Kind {
    request: 8,
    reply: 0,
    kernel_sums: false,
};
pub const IPV6: Kind = Kind {
    request: 128,
    reply: 129,
    kernel_sums: true,
};

impl Kind {
    /// Whether a raw socket gives the IP header, too: that of IPv4 does.
    pub fn has_ip_header(self) -> bool {
        !self.kernel_sums
    }
}

/// An echo request; `identifier` and `sequence` come back in its reply.
pub fn request(kind: Kind, identifier: u16, sequence: u16) -> [u8; MESSAGE_BYTES] {
    let mut message = [0; MESSAGE_BYTES];
    message[0] = kind.request;
    message[4..6].copy_from_slice(&identifier.to_be_bytes());
    message[6..8].copy_from_slice(&sequence.to_be_bytes());
    if !kind.kernel_sums {
        let sum = checksum(&message);
        message[2..4].copy_from_slice(&sum.to_be_bytes());
    }
    message
}

/// Whether these bytes, of IPv4 behind the IP header, are the reply to that request.
pub fn is_reply(kind: Kind, message: &[u8], identifier: u16, sequence: u16) -> bool {
    message.len() >= HEADER_BYTES
        && message[0] == kind.reply
        && message[4..6] == identifier.to_be_bytes()
        && message[6..8] == sequence.to_be_bytes()
}

/// What follows the IP header in what a raw socket of IPv4 gives.
pub fn behind_ipv4_header(packet: &[u8]) -> &[u8] {
    let length = packet
        .first()
        .map_or(0, |first| usize::from(first & 0xf) * 4);
    packet.get(length..).unwrap_or_default()
}

/// RFC 1071.
fn checksum(message: &[u8]) -> u16 {
    let sum: u32 = message
        .chunks(2)
        .map(|pair| {
            u32::from(u16::from_be_bytes([
                pair[0],
                pair.get(1).copied().unwrap_or(0),
            ]))
        })
        .sum();
    let folded = (sum & 0xffff) + (sum >> 16);
    !((folded + (folded >> 16)) as u16)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_has_a_checksum_that_makes_its_sum_zero() {
        let message = request(IPV4, 0x1234, 7);
        assert_eq!(message[..2], [8, 0]);
        assert_eq!(checksum(&message), 0);
        assert_eq!(
            request(IPV6, 0x1234, 7)[..4],
            [128, 0, 0, 0],
            "the kernel's to fill in"
        );
    }

    #[test]
    fn only_the_reply_to_this_request_counts() {
        let mut reply = request(IPV4, 0x1234, 7);
        assert!(
            !is_reply(IPV4, &reply, 0x1234, 7),
            "the loopback device gives requests back, too"
        );
        reply[0] = 0;
        assert!(is_reply(IPV4, &reply, 0x1234, 7));
        assert!(!is_reply(IPV4, &reply, 0x1234, 8) && !is_reply(IPV4, &reply, 0x4321, 7));
        assert!(!is_reply(IPV4, &reply[..6], 0x1234, 7));
    }

    #[test]
    fn the_ip_header_may_have_options() {
        let mut packet = vec![0x46; 24];
        packet.extend([0, 9]);
        assert_eq!(behind_ipv4_header(&packet), [0, 9]);
        assert!(behind_ipv4_header(&[]).is_empty() && behind_ipv4_header(&[0x4f, 0]).is_empty());
    }
}
