//! sysctl.conf files: `key = value` lines, `#` comments (sysctl.conf(5)).

use std::fs;
use std::io::{ErrorKind, Write};

use crate::failure::{Failure, Result};

/// Applies a file's text to the current namespaces (/proc/sys/net shows the network namespace of the process that
/// looks).
pub fn apply(text: &str) -> Result<()> {
    for (index, line) in text.lines().enumerate() {
        let located = |message: String| Failure::new(message).at_line(index + 1, line.trim());
        let Some((key, value)) = parse_line(line).map_err(located)? else {
            continue;
        };
        set(&key, value).map_err(located)?;
    }
    Ok(())
}

fn parse_line(line: &str) -> std::result::Result<Option<(String, &str)>, String> {
    let line = line.trim();
    if line.is_empty() || line.starts_with(['#', ';']) {
        return Ok(None);
    }
    let (key, value) = line
        .split_once('=')
        .ok_or_else(|| "the line has no \"=\"; write \"key = value\"".to_owned())?;
    Ok(Some((path_of(key.trim())?, value.trim())))
}

/// The path below /proc/sys. The first separator decides: in `net.ipv4.conf.eth0/1.mtu` slashes stand for dots, in
/// `net/ipv4` for themselves.
fn path_of(key: &str) -> std::result::Result<String, String> {
    let path: String = match key.find(['.', '/']) {
        Some(at) if key.as_bytes()[at] == b'.' => key
            .chars()
            .map(|c| {
                if c == '.' {
                    '/'
                } else if c == '/' {
                    '.'
                } else {
                    c
                }
            })
            .collect(),
        _ => key.to_owned(),
    };
    let valid = path
        .split('/')
        .all(|part| !part.is_empty() && part != "." && part != "..")
        && !path.contains(char::is_whitespace);
    if valid {
        Ok(path)
    } else {
        Err(format!(
            "\"{key}\" is not a sysctl; write one such as net.ipv4.ip_forward"
        ))
    }
}

fn set(path: &str, value: &str) -> std::result::Result<(), String> {
    let mut file = fs::File::options()
        .write(true)
        .open(format!("/proc/sys/{path}"))
        .map_err(|error| match error.kind() {
            ErrorKind::NotFound => "the kernel has no such sysctl in this namespace".to_owned(),
            ErrorKind::PermissionDenied => "this sysctl can only be read".to_owned(),
            _ => error.to_string(),
        })?;
    file.write_all(value.as_bytes())
        .map_err(|error| format!("the kernel refuses the value \"{value}\": {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_become_paths() {
        assert_eq!(
            parse_line(" net.ipv4.ip_forward = 1 "),
            Ok(Some(("net/ipv4/ip_forward".to_owned(), "1")))
        );
        assert_eq!(
            parse_line("net/ipv4/tcp_rmem=4096 1 2"),
            Ok(Some(("net/ipv4/tcp_rmem".to_owned(), "4096 1 2")))
        );
        assert_eq!(
            path_of("net.ipv4.conf.eth1/7.forwarding"),
            Ok("net/ipv4/conf/eth1.7/forwarding".to_owned())
        );
        assert_eq!(parse_line("# a comment"), Ok(None));
    }

    #[test]
    fn what_is_no_sysctl_is_refused() {
        assert!(parse_line("net.ipv4.ip_forward 1")
            .unwrap_err()
            .contains("no \"=\""));
        assert!(path_of("net/../../etc/passwd")
            .unwrap_err()
            .contains("is not a sysctl"));
        assert!(path_of("").is_err());
    }
}
