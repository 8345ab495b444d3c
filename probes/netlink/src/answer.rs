//! What the kernel sends: messages and attributes, `struct nlmsghdr` and `struct nlattr` of
//! `include/uapi/linux/netlink.h`, all in host byte order.

use std::io;

use crate::layout::{align, ATTRIBUTE_HEADER_BYTES, HEADER_BYTES};

/// One message of a datagram.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Message<'a> {
    pub kind: u16,
    pub flags: u16,
    pub sequence: u32,
    pub payload: &'a [u8],
}

/// What a message says to the one who asked.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Reply<'a> {
    Data(&'a [u8]),
    /// The kernel refused: a positive error number (`ENODEV`...).
    Refused(i32),
    /// The end of a dump, or an acknowledgement.
    Done,
}

impl<'a> Message<'a> {
    /// Sorts control messages from data. A dump that failed midway ends with `NLMSG_DONE` that carries the error.
    pub fn reply(&self) -> Reply<'a> {
        let control = i32::from(self.kind);
        if control != libc::NLMSG_ERROR && control != libc::NLMSG_DONE {
            return Reply::Data(self.payload);
        }
        match u32_at(self.payload, 0).map_or(0, |status| status as i32) {
            status if status < 0 => Reply::Refused(-status),
            _ => Reply::Done,
        }
    }
}

/// The messages of one datagram. A length that does not fit ends the walk with an error.
pub fn messages(datagram: &[u8]) -> impl Iterator<Item = io::Result<Message<'_>>> {
    let mut rest = datagram;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let Some(length) = u32_at(rest, 0)
            .map(|length| length as usize)
            .filter(|length| (HEADER_BYTES..=rest.len()).contains(length))
        else {
            let error = format!(
                "the kernel's answer is cut short: {} bytes are left of a netlink message",
                rest.len()
            );
            rest = &[];
            return Some(Err(io::Error::new(io::ErrorKind::InvalidData, error)));
        };
        let message = Message {
            kind: u16_at(rest, 4)?,
            flags: u16_at(rest, 6)?,
            sequence: u32_at(rest, 8)?,
            payload: &rest[HEADER_BYTES..length],
        };
        rest = &rest[align(length).min(rest.len())..];
        Some(Ok(message))
    })
}

/// The attributes that `bytes` consists of: type and payload. Ends at the first one that does not fit.
pub fn attributes(bytes: &[u8]) -> impl Iterator<Item = (u16, &[u8])> {
    let mut rest = bytes;
    std::iter::from_fn(move || {
        let length = usize::from(u16_at(rest, 0)?);
        // The two upper bits are flags (NLA_F_NESTED, NLA_F_NET_BYTEORDER).
        let kind = u16_at(rest, 2)? & libc::NLA_TYPE_MASK as u16;
        let payload = rest.get(ATTRIBUTE_HEADER_BYTES..length)?;
        rest = &rest[align(length).min(rest.len())..];
        Some((kind, payload))
    })
}

/// The payload of the first attribute of that kind.
pub fn find_attribute(bytes: &[u8], kind: u16) -> Option<&[u8]> {
    attributes(bytes)
        .find(|(found, _)| *found == kind)
        .map(|(_, payload)| payload)
}

pub fn u16_at(bytes: &[u8], offset: usize) -> Option<u16> {
    Some(u16::from_ne_bytes(*bytes.get(offset..)?.first_chunk()?))
}

pub fn u32_at(bytes: &[u8], offset: usize) -> Option<u32> {
    Some(u32::from_ne_bytes(*bytes.get(offset..)?.first_chunk()?))
}

pub fn u64_at(bytes: &[u8], offset: usize) -> Option<u64> {
    Some(u64::from_ne_bytes(*bytes.get(offset..)?.first_chunk()?))
}

/// A zero-terminated string attribute; what is not UTF-8 is replaced.
pub fn text(bytes: &[u8]) -> String {
    let end = bytes
        .iter()
        .position(|byte| *byte == 0)
        .unwrap_or(bytes.len());
    String::from_utf8_lossy(&bytes[..end]).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Request;

    fn request(kind: u16, sequence: u32, payload: &[u8]) -> Vec<u8> {
        Request::new(kind, 0, payload).finish(sequence).to_vec()
    }

    #[test]
    fn requests_are_read_back_as_messages() {
        let mut buffer = request(36, 0, &[1, 2, 3, 4]);
        let mut second = Request::new(38, libc::NLM_F_ECHO, &[9; 4]);
        buffer.extend_from_slice(second.attribute_string(3, "eth1").finish(1));
        let read: Vec<_> = messages(&buffer).map(Result::unwrap).collect();
        assert_eq!(read.len(), 2);
        assert_eq!(
            read[0],
            Message {
                kind: 36,
                flags: libc::NLM_F_REQUEST as u16,
                sequence: 0,
                payload: &[1, 2, 3, 4]
            }
        );
        assert_eq!((read[1].kind, read[1].sequence), (38, 1));
        assert_eq!(
            find_attribute(&read[1].payload[4..], 3)
                .map(text)
                .as_deref(),
            Some("eth1")
        );
        assert_eq!(buffer.len() % 4, 0);
    }

    #[test]
    fn errors_ends_and_data_are_told_apart() {
        let reply = |kind: i32, status: i32| {
            let buffer = request(kind as u16, 7, &status.to_ne_bytes());
            let message = messages(&buffer).next().unwrap().unwrap();
            match message.reply() {
                Reply::Data(_) => "data".to_owned(),
                Reply::Refused(errno) => format!("refused {errno}"),
                Reply::Done => "done".to_owned(),
            }
        };
        assert_eq!(
            reply(libc::NLMSG_ERROR, -libc::ENODEV),
            format!("refused {}", libc::ENODEV)
        );
        assert_eq!(
            reply(libc::NLMSG_DONE, -libc::EPERM),
            format!("refused {}", libc::EPERM)
        );
        assert_eq!(reply(libc::NLMSG_ERROR, 0), "done");
        assert_eq!(reply(libc::NLMSG_DONE, 0), "done");
        assert_eq!(reply(36, 0), "data");
    }

    #[test]
    fn a_message_that_is_cut_short_is_an_error_and_ends_the_walk() {
        let buffer = request(36, 0, &[0; 20]);
        for length in [1, 15, 16, buffer.len() - 1] {
            let read: Vec<_> = messages(&buffer[..length]).collect();
            assert_eq!(read.len(), 1, "{length}");
            assert!(read[0].is_err(), "{length}");
        }
        let mut endless = buffer;
        endless[0] = 0;
        assert!(messages(&endless).next().unwrap().is_err());
    }

    #[test]
    fn attributes_end_where_a_length_does_not_fit() {
        let bytes = [8, 0, 1, 0x80, 5, 0, 0, 0, 200, 0, 2, 0, 1];
        assert_eq!(
            attributes(&bytes).collect::<Vec<_>>(),
            [(1, &[5u8, 0, 0, 0][..])]
        );
        assert_eq!(attributes(&[3, 0, 1, 0]).count(), 0);
        assert_eq!(attributes(&[]).count(), 0);
    }

    #[test]
    fn numbers_beyond_the_end_are_absent() {
        let bytes = 0x0102_0304_0506_0708u64.to_ne_bytes();
        assert_eq!(u64_at(&bytes, 0), Some(0x0102_0304_0506_0708));
        assert_eq!(u64_at(&bytes, 1), None);
        assert_eq!(u32_at(&bytes, 5), None);
        assert_eq!(u16_at(&bytes, 9), None);
    }
}
