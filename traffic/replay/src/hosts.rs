//! The hosts of a lab and their addresses: `# fabriclab-hosts-1`, a CSV of `host,address`.

use std::net::IpAddr;
use std::path::Path;

use rustc_hash::FxHashMap;

use crate::problems::{suggestion, Problems};
use crate::table::{Columns, Table};

const VERSION: &str = "# fabriclab-hosts-1";
const COLUMNS: Columns = Columns {
    names: &["host", "address"],
    required: 2,
};
const HOST: usize = 0;
const ADDRESS: usize = 1;

/// A host's place in the hosts file, from 0.
pub type HostId = u32;

#[derive(Debug, Default)]
pub struct Hosts {
    names: Vec<String>,
    addresses: Vec<IpAddr>,
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
            let (line, name, address) = (
                row.line,
                row.text(HOST).to_owned(),
                row.text(ADDRESS).to_owned(),
            );
            if name.is_empty() {
                problems.wrong(line, "host", &name, "must be the name of a node");
            } else if let Some(&first) = hosts.by_name.get(&name) {
                let right = format!(
                    "stands already on line {}; a host has one row",
                    line_of[first as usize]
                );
                problems.wrong(line, "host", &name, right);
            } else if let Ok(parsed) = address.parse() {
                hosts.add(name, parsed);
                line_of.push(line);
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

    pub fn add(&mut self, name: String, address: IpAddr) {
        self.by_name
            .insert(name.clone(), self.names.len() as HostId);
        self.names.push(name);
        self.addresses.push(address);
    }

    pub fn find(&self, name: &str) -> Option<HostId> {
        self.by_name.get(name).copied()
    }

    pub fn name(&self, host: HostId) -> &str {
        &self.names[host as usize]
    }

    pub fn address(&self, host: HostId) -> IpAddr {
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
        assert_eq!(hosts.address(h2).to_string(), "fd00::2");
        assert_eq!(hosts.name(h2), "h2");
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
            text.contains(":5: host is \"h2\": stands already on line 4"),
            "{text}"
        );
    }
}
