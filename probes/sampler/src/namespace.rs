//! Network namespaces: a netlink socket belongs to the namespace that its thread was in when it was opened.

use std::fs::File;
use std::io;
use std::path::Path;

use netlink::{Protocol, Socket};
use nix::sched::{setns, CloneFlags};

const OWN_NAMESPACE: &str = "/proc/self/ns/net";

/// Opens a socket in the namespace `netns` (a path as `ip netns` makes it), or in the process's own. The process must
/// be single-threaded.
pub fn open_socket(netns: Option<&Path>, protocol: Protocol) -> Result<Socket, String> {
    let open = || {
        Socket::open(protocol)
            .map_err(io::Error::from)
            .map_err(|error| format!("netlink socket in {}: {error}", describe(netns)))
    };
    let Some(path) = netns else {
        return open();
    };
    let own = File::open(OWN_NAMESPACE).map_err(|error| format!("{OWN_NAMESPACE}: {error}"))?;
    let other = File::open(path).map_err(|error| missing(path, &error))?;
    enter(&other).map_err(|error| {
        format!(
            "{}: cannot enter this network namespace (that takes CAP_SYS_ADMIN): {error}",
            path.display()
        )
    })?;
    let socket = open();
    enter(&own).map_err(|error| {
        format!("cannot go back to the process's own network namespace: {error}")
    })?;
    socket
}

/// How an error message speaks of a namespace.
pub fn describe(netns: Option<&Path>) -> String {
    netns.map_or_else(
        || "the sampler's own network namespace".to_owned(),
        |path| path.display().to_string(),
    )
}

fn enter(namespace: &File) -> io::Result<()> {
    Ok(setns(namespace, CloneFlags::CLONE_NEWNET)?)
}

/// The error for a namespace that is not there, with those that are.
fn missing(path: &Path, error: &io::Error) -> String {
    let mut others: Vec<String> = path
        .parent()
        .and_then(|directory| directory.read_dir().ok())
        .map(|entries| {
            entries
                .flatten()
                .map(|entry| entry.file_name().to_string_lossy().into_owned())
                .collect()
        })
        .unwrap_or_default();
    others.sort();
    match others.is_empty() {
        true => format!(
            "network namespace {}: {error}; its directory has no others",
            path.display()
        ),
        false => format!(
            "network namespace {}: {error}; there are: {}",
            path.display(),
            others.join(", ")
        ),
    }
}
