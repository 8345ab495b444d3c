//! The hosts of a lab and their addresses: `# fabriclab-hosts-1`, a CSV of `host,address` and, where hosts have IPv6
//! beside IPv4, `ipv6`.

use std::net::{IpAddr, Ipv6Addr};
use std::path::Path;

use rustc_hash::FxHashMap;

use crate::problems::{suggestion, Problems};
use crate::table::{Columns, Table};

const VERSION: &str = "# fabriclab-hosts-1";
const COLUMNS: Columns = Columns {
    names: &["host", "address", "ipv6"],
    required: 2,
};
const HOST: usize = 0;
const ADDRESS: usize = 1;
const IPV6: usize = 2;

/// A host's place in the hosts file, from 0.
pub type HostId = u32;

/// A version of IP.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Family {
    V4,
    V6,
}

/// What a host is reached by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Addresses {
    /// Of a flow that names no version of IP.
    first: IpAddr,
    /// Beside a first one of IPv4.
    ipv6: Option<Ipv6Addr>,
}

impl Addresses {
    /// The address of a family; without one, the first.
    pub fn of(&self, family: Option<Family>) -> Option<IpAddr> {
        match (family, self.first) {
            (None, first) => Some(first),
            (Some(Family::V4), IpAddr::V4(_)) | (Some(Family::V6), IpAddr::V6(_)) => {
                Some(self.first)
            }
            (Some(Family::V4), IpAddr::V6(_)) => None,
            (Some(Family::V6), IpAddr::V4(_)) => self.ipv6.map(IpAddr::V6),
        }
    }

    #[cfg(test)]
    pub fn only(first: IpAddr) -> Self {
        Self { first, ipv6: None }
    }

    /// Whether any of them is of IPv6.
    pub fn has_ipv6(&self) -> bool {
        self.of(Some(Family::V6)).is_some()
    }
}

#[derive(Debug, Default)]
pub struct Hosts {
    names: Vec<String>,
    addresses: Vec<Addresses>,
    by_name: FxHashMap<String, HostId>,
}

impl Hosts {
    /// Reads a hosts file; errors name the line, the value and what would be right.
    pub fn read(path: &Path) -> Result<Self, Problems> {
        let mut problems = Problems::of(path);
        let mut hosts = Self::default();
        let mut line_of = Vec::new();
        let Some(mut table) = Table::open(path, VERSION, COLUMNS, &mut problems) else {
            return Err(problems);
        };
        while let Some(row) = table.next(&mut problems) {
            let (line, name, address, ipv6) = (
                row.line,
                row.text(HOST).to_owned(),
                row.text(ADDRESS).to_owned(),
                row.text(IPV6).to_owned(),
            );
            let second = if ipv6.is_empty() {
                Some(None)
            } else {
                ipv6.parse().ok().map(Some)
            };
            if name.is_empty() {
                problems.wrong(line, "host", &name, "must be the name of a node");
            } else if let Some(&first) = hosts.by_name.get(&name) {
                let right = format!(
                    "is already on line {}; a host has one row",
                    line_of[first as usize]
                );
                problems.wrong(line, "host", &name, right);
            } else if let (Ok(first), Some(ipv6)) = (address.parse(), second) {
                hosts.add(name, Addresses { first, ipv6 });
                line_of.push(line);
            } else if second.is_none() {
                problems.wrong(
                    line,
                    "ipv6",
                    &ipv6,
                    "must be an IPv6 address without a prefix length, such as fd00::1, or empty",
                );
            } else {
                problems.wrong(
                    line,
                    "address",
                    &address,
                    "must be an IPv4 or IPv6 address without a prefix length, such as 10.0.0.1",
                );
            }
        }
        problems.unless_found(hosts)
    }

    pub fn add(&mut self, name: String, addresses: Addresses) {
        self.by_name
            .insert(name.clone(), self.names.len() as HostId);
        self.names.push(name);
        self.addresses.push(addresses);
    }

    pub fn find(&self, name: &str) -> Option<HostId> {
        self.by_name.get(name).copied()
    }

    pub fn name(&self, host: HostId) -> &str {
        &self.names[host as usize]
    }

    pub fn addresses(&self, host: HostId) -> Addresses {
        self.addresses[host as usize]
    }

    /// `must be a host of the hosts file`, with the nearest name.
    pub fn must_be_known(&self, written: &str) -> String {
        format!(
            "must be a host of the hosts file{}",
            suggestion(written, self.names.iter().map(String::as_str))
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    fn read(text: &str) -> Result<Hosts, Problems> {
        let mut file = tempfile::NamedTempFile::new().expect("temporary file");
        file.write_all(text.as_bytes()).expect("write");
        Hosts::read(file.path())
    }

    #[test]
    fn names_and_addresses_are_found() {
        let hosts =
            read("# fabriclab-hosts-1\naddress,host\n10.0.0.1,h1\nfd00::2,h2\n").expect("valid");
        let h2 = hosts.find("h2").expect("h2");
        let address = hosts.addresses(h2).of(None).expect("an address");
        assert_eq!(address.to_string(), "fd00::2");
        assert_eq!(hosts.addresses(h2).of(Some(Family::V4)), None);
        assert_eq!(hosts.name(h2), "h2");
    }

    #[test]
    fn a_host_has_an_address_of_each_family() {
        let text = "# fabriclab-hosts-1\nhost,address,ipv6\nh1,10.0.0.1,fd00::1\nh2,10.0.0.2,\n";
        let hosts = read(text).expect("valid");
        let of = |host, family| hosts.addresses(host).of(family).map(|one| one.to_string());
        assert_eq!(of(0, None).as_deref(), Some("10.0.0.1"));
        assert_eq!(of(0, Some(Family::V4)).as_deref(), Some("10.0.0.1"));
        assert_eq!(of(0, Some(Family::V6)).as_deref(), Some("fd00::1"));
        assert_eq!(of(1, Some(Family::V6)), None);
        let text = "# fabriclab-hosts-1\nhost,address,ipv6\nh1,10.0.0.1,10.0.0.2\n";
        let wrong = read(text).expect_err("wrong").to_string();
        assert!(
            wrong.contains(":3: ipv6 is \"10.0.0.2\": must be an IPv6"),
            "{wrong}"
        );
    }

    #[test]
    fn each_wrong_row_is_named() {
        let text =
            read("# fabriclab-hosts-1\nhost,address\nh1,10.0.0.1/24\nh2,10.0.0.2\nh2,10.0.0.3\n")
                .expect_err("wrong")
                .to_string();
        assert!(
            text.contains(":3: address is \"10.0.0.1/24\": must be an IPv4 or IPv6 address"),
            "{text}"
        );
        assert!(
            text.contains(":5: host is \"h2\": is already on line 4"),
            "{text}"
        );
    }
}
