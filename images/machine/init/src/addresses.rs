//! The addresses of hosts that their own files give them: by which the others send to them, read by rtnetlink(7).

use std::fs::File;
use std::io::Write;
use std::net::IpAddr;
use std::path::Path;

use netlink::{attributes, u32_at, Protocol, Request, Socket};
use nix::net::if_::if_nametoindex;
use nix::sched::CloneFlags;

use crate::answers;
use crate::failure::{Context, Failure, Result};
use crate::job::{Addresses, Job, JOB};
use crate::lab::Lab;

/// `struct ifaddrmsg`.
const HEADER_BYTES: usize = 8;

const MISSING: &str =
    "has no address; traffic goes to it, so that its exec, a bound file or the link's ipv4 must \
                       give it one";

struct Address {
    interface: u32,
    address: IpAddr,
}

/// A node's address, and one of IPv6 where that is of IPv4.
struct NodeAddresses {
    first: IpAddr,
    ipv6: Option<IpAddr>,
}

/// Adds a row `node,address,ipv6` for each node that has an address to the file that is asked for.
pub fn write(lab: &Lab, job: &Job, wanted: Option<&Addresses>) -> Result<()> {
    let Some(Addresses {
        file,
        nodes,
        others,
    }) = wanted
    else {
        return Ok(());
    };
    let mut rows = String::new();
    for name in nodes.iter().chain(others) {
        let is_other = others.contains(name);
        let address =
            addresses_of(lab, job, name, is_other).map_err(|failure| failure.in_node(name))?;
        match address {
            Some(NodeAddresses { first, ipv6 }) => {
                let ipv6 = ipv6.map(|address| address.to_string()).unwrap_or_default();
                rows += &format!("{name},{first},{ipv6}\n");
            }
            None if is_other => {}
            None => return Err(Failure::new(MISSING).in_node(name)),
        }
    }
    File::options()
        .append(true)
        .open(Path::new(JOB).join(file))
        .and_then(|mut opened| opened.write_all(rows.as_bytes()))
        .context(|| "add the nodes' addresses".to_owned())
        .map_err(|failure| failure.in_file(file))
}

/// The addresses of a node's first link that has one, IPv4 before IPv6; else of its other interfaces. `by_loopback`:
/// that of the loopback interface comes first.
fn addresses_of(
    lab: &Lab,
    job: &Job,
    name: &str,
    by_loopback: bool,
) -> Result<Option<NodeAddresses>> {
    let order: Vec<&str> = by_loopback
        .then_some("lo")
        .into_iter()
        .chain(job.interfaces(name))
        .collect();
    lab.machine
        .inside(lab.node(name)?, CloneFlags::CLONE_NEWNET, || {
            let mut found = read()?;
            let order: Vec<u32> = order
                .iter()
                .filter_map(|interface| if_nametoindex(*interface).ok())
                .collect();
            let place = |index: u32| order.iter().position(|one| *one == index);
            found.sort_by_key(|one| {
                let place = place(one.interface).unwrap_or(order.len());
                (place, one.interface, one.address.is_ipv6())
            });
            Ok(found.first().map(|one| NodeAddresses {
                first: one.address,
                ipv6: found
                    .iter()
                    .map(|other| other.address)
                    .find(|address| one.address.is_ipv4() && address.is_ipv6()),
            }))
        })
}

/// All addresses of global scope of the namespace.
fn read() -> Result<Vec<Address>> {
    let socket = Socket::open(Protocol::Route).context(|| "open a netlink socket".to_owned())?;
    let request = Request::new(libc::RTM_GETADDR, libc::NLM_F_DUMP, &[0; HEADER_BYTES]);
    let mut found = Vec::new();
    answers::each(
        &socket,
        request,
        libc::RTM_NEWADDR,
        "the addresses",
        |message| {
            found.extend(address_in(message)?);
            Some(())
        },
    )?;
    Ok(found)
}

/// The address of a message, none where it is no global one; `None` when the message is broken.
fn address_in(message: &[u8]) -> Option<Option<Address>> {
    let header = message.get(..HEADER_BYTES)?;
    let interface = u32_at(header, 4)?;
    if header[3] != libc::RT_SCOPE_UNIVERSE {
        return Some(None);
    }
    let (mut local, mut other) = (None, None);
    for (kind, value) in attributes(&message[HEADER_BYTES..]) {
        match kind {
            libc::IFA_LOCAL => local = address(value),
            libc::IFA_ADDRESS => other = address(value),
            _ => {}
        }
    }
    // On a link between two, IFA_ADDRESS is the other end's.
    let address = local.or(other);
    Some(address.map(|address| Address { interface, address }))
}

fn address(value: &[u8]) -> Option<IpAddr> {
    match value.len() {
        4 => <[u8; 4]>::try_from(value).ok().map(IpAddr::from),
        16 => <[u8; 16]>::try_from(value).ok().map(IpAddr::from),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(scope: u8, attributes: &[(u16, &[u8])]) -> Vec<u8> {
        let mut bytes = vec![libc::AF_INET as u8, 24, 0, scope, 7, 0, 0, 0];
        let mut request = Request::new(0, 0, &[]);
        let bare = request.finish(0).len();
        let mut request = Request::new(0, 0, &[]);
        for (kind, value) in attributes {
            request.attribute(*kind, value);
        }
        bytes.extend(&request.finish(0)[bare..]);
        bytes
    }

    #[test]
    fn the_own_end_of_a_link_counts() {
        let both: [(u16, &[u8]); 2] = [
            (libc::IFA_ADDRESS, &[10, 0, 0, 2]),
            (libc::IFA_LOCAL, &[10, 0, 0, 1]),
        ];
        let found = address_in(&message(libc::RT_SCOPE_UNIVERSE, &both)).flatten();
        let found = found.expect("an address");
        assert_eq!(found.interface, 7);
        assert_eq!(found.address, IpAddr::from([10, 0, 0, 1]));
    }

    #[test]
    fn addresses_of_a_link_alone_are_left_out() {
        let one: [(u16, &[u8]); 1] = [(libc::IFA_ADDRESS, &[10, 0, 0, 2])];
        assert!(
            address_in(&message(libc::RT_SCOPE_LINK, &one)).is_some_and(|found| found.is_none())
        );
        assert!(address_in(&[1, 2]).is_none());
    }
}
