//! Families of generic netlink, which have names and get their numbers when they are registered.

use crate::answer::{attributes, find_attribute, text, u16_at, u32_at};
use crate::Request;

/// `struct genlmsghdr`: command, version, reserved.
pub const GENERIC_HEADER_BYTES: usize = 4;

/// A family's number, and its multicast groups by name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Family {
    pub id: u16,
    pub groups: Vec<(String, u32)>,
}

impl Family {
    /// The fixed part of a request to a family.
    pub const fn header(command: u8, version: u8) -> [u8; GENERIC_HEADER_BYTES] {
        [command, version, 0, 0]
    }

    /// Asks for a family by its name; `flags` are `NLM_F_` bits beside `NLM_F_REQUEST`. Without NLM_F_ACK one datagram
    /// answers.
    pub fn request(name: &str, flags: libc::c_int) -> Request {
        let header = Self::header(libc::CTRL_CMD_GETFAMILY as u8, 1);
        let mut request = Request::new(libc::GENL_ID_CTRL as u16, flags, &header);
        request.attribute_string(libc::CTRL_ATTR_FAMILY_NAME as u16, name);
        request
    }

    /// Reads the answer's payload; `None` where it has no number.
    pub fn read(payload: &[u8]) -> Option<Self> {
        let (mut id, mut groups) = (None, Vec::new());
        for (attribute, value) in attributes(payload.get(GENERIC_HEADER_BYTES..)?) {
            match i32::from(attribute) {
                libc::CTRL_ATTR_FAMILY_ID => id = u16_at(value, 0),
                libc::CTRL_ATTR_MCAST_GROUPS => {
                    groups = attributes(value).filter_map(read_group).collect();
                }
                _ => {}
            }
        }
        Some(Self { id: id?, groups })
    }

    /// The number of the multicast group of that name.
    pub fn group(&self, name: &str) -> Option<u32> {
        let found = self.groups.iter().find(|(group, _)| group == name);
        found.map(|(_, number)| *number)
    }
}

fn read_group((_, nest): (u16, &[u8])) -> Option<(String, u32)> {
    let name = find_attribute(nest, libc::CTRL_ATTR_MCAST_GRP_NAME as u16)?;
    let number = find_attribute(nest, libc::CTRL_ATTR_MCAST_GRP_ID as u16)?;
    Some((text(name), u32_at(number, 0)?))
}
