//! Applies a node's files: `root/`, `names/`, `sysctl.conf`, `ip.batch`, `ip6.batch`, `bridge.batch`, `tc.batch`,
//! `rdma.batch`, each optional, in that order.

use std::fs;
use std::io::ErrorKind;
use std::os::unix::fs::{symlink, PermissionsExt};
use std::path::Path;

use netlink::Protocol;
use nix::sched::CloneFlags;

use crate::batch;
use crate::failure::{Context, Failure, Result};
use crate::iproute::{self, Tool};
use crate::job::{StepTool, JOB};
use crate::link;
use crate::namespace::{Machine, Node};
use crate::persona;
use crate::sysctl;
use crate::verbs;

const NAMESPACES_OF_SYSCTLS: CloneFlags = CloneFlags::CLONE_NEWNET.union(CloneFlags::CLONE_NEWUTS);

/// Applies the machine's own sysctls (what is not per namespace).
pub fn machine(file: &str) -> Result<()> {
    let text =
        read_optional(file)?.ok_or_else(|| Failure::new("there is no such file").in_file(file))?;
    sysctl::apply(&text).map_err(|failure| failure.in_file(file))
}

/// Applies the files in a node's directory, a path relative to the run directory.
pub fn node(machine: &Machine, node: &Node, files: &str) -> Result<()> {
    if !Path::new(JOB).join(files).is_dir() {
        return Err(Failure::new("there is no such directory")
            .in_file(files)
            .in_node(&node.name));
    }
    let file = |name: &str| format!("{files}/{name}");
    let apply = |name: &str, work: &dyn Fn(&str) -> Result<()>| -> Result<()> {
        match read_optional(&file(name))? {
            Some(text) => work(&text).map_err(|failure| failure.in_file(&file(name))),
            None => Ok(()),
        }
    };
    // A live lab's names must not give its traffic other numbers: the generation of a new file or directory is a random
    // one. So they come after root/, which makes the same directories then as in a run.
    let names = || persona::watching(|| copy_root(machine, node, &file("names")));
    copy_root(machine, node, &file("root"))
        .and_then(|()| names())
        .and_then(|()| {
            apply("sysctl.conf", &|text| {
                machine.inside(node, NAMESPACES_OF_SYSCTLS, || sysctl::apply(text))
            })
        })
        .and_then(|()| {
            apply("ip.batch", &|text| {
                apply_batch(machine, node, Tool::Ip, text)
            })
        })
        .and_then(|()| {
            apply("ip6.batch", &|text| {
                batch::run(machine, node, &["ip", "-6"], text)
            })
        })
        .and_then(|()| {
            apply("bridge.batch", &|text| {
                batch::run(machine, node, &["bridge"], text)
            })
        })
        .and_then(|()| {
            apply("tc.batch", &|text| {
                apply_batch(machine, node, Tool::Tc, text)
            })
        })
        .and_then(|()| {
            apply("rdma.batch", &|text| {
                batch::run(machine, node, &["rdma"], text)?;
                machine.inside(
                    node,
                    CloneFlags::CLONE_NEWNET.union(CloneFlags::CLONE_NEWNS),
                    verbs::make_devices,
                )
            })
        })
        .map_err(|failure| failure.in_node(&node.name))
}

/// Applies lines in a node with one of the tools.
pub fn lines(machine: &Machine, node: &Node, tool: StepTool, lines: &[String]) -> Result<()> {
    let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
    let done = match tool {
        StepTool::Ip => apply_batch(machine, node, Tool::Ip, &text),
        StepTool::Tc => apply_batch(machine, node, Tool::Tc, &text),
        StepTool::Sysctl => machine.inside(node, NAMESPACES_OF_SYSCTLS, || sysctl::apply(&text)),
        StepTool::Vtysh => batch::configure_routing(machine, node, lines),
        StepTool::Wire => machine.inside(node, CloneFlags::CLONE_NEWNET, || change_wires(lines)),
    };
    done.map_err(|failure| failure.in_node(&node.name))
}

fn change_wires(lines: &[String]) -> Result<()> {
    let mut socket = link::open_socket(Protocol::Route)?;
    for (number, line) in lines.iter().enumerate() {
        link::change_wire(&mut socket, line)
            .map_err(|failure| failure.at_line(number + 1, line))?;
    }
    Ok(())
}

/// By netlink where it can be or must be, else by the real tool.
fn apply_batch(machine: &Machine, node: &Node, tool: Tool, text: &str) -> Result<()> {
    tool.parts(text)
        .iter()
        .try_for_each(|part| apply_part(machine, node, tool, part))
}

fn apply_part(machine: &Machine, node: &Node, tool: Tool, text: &str) -> Result<()> {
    let interpreted = (!machine.batch_by_tools || tool.lacks_words_of(text))
        && machine.inside(node, CloneFlags::CLONE_NEWNET, || {
            iproute::apply(tool, text)
        })?;
    if interpreted {
        return Ok(());
    }
    batch::run(machine, node, &[tool.name()], text)
}

fn read_optional(file: &str) -> Result<Option<String>> {
    match fs::read_to_string(Path::new(JOB).join(file)) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(Failure::new(error.to_string()).in_file(file)),
    }
}

fn copy_root(machine: &Machine, node: &Node, directory: &str) -> Result<()> {
    let source = Path::new(JOB).join(directory);
    if !source.is_dir() {
        return Ok(());
    }
    // From inside the node, because a link there must lead to the node's own files.
    machine
        .inside(node, CloneFlags::CLONE_NEWNS, || {
            copy_tree(&source, Path::new("/"))
        })
        .map_err(|failure| failure.in_file(directory))
}

/// Copies what is in `source` into `target`, modes too; everything belongs to root then.
fn copy_tree(source: &Path, target: &Path) -> Result<()> {
    let mut entries = fs::read_dir(source)
        .and_then(Iterator::collect::<std::io::Result<Vec<_>>>)
        .context(|| format!("read {}", source.display()))?;
    entries.sort_by_key(fs::DirEntry::file_name);
    for entry in entries {
        let (from, to) = (entry.path(), target.join(entry.file_name()));
        copy_entry(&from, &to, &entry).context(|| format!("copy to {}", to.display()))?;
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            copy_tree(&from, &to)?;
        }
    }
    Ok(())
}

fn copy_entry(from: &Path, to: &Path, entry: &fs::DirEntry) -> std::io::Result<()> {
    let kind = entry.file_type()?;
    if kind.is_symlink() {
        if to.symlink_metadata().is_ok() {
            fs::remove_file(to)?;
        }
        return symlink(fs::read_link(from)?, to);
    }
    if !kind.is_dir() {
        return fs::copy(from, to).map(drop);
    }
    if to.is_dir() {
        return Ok(());
    }
    fs::create_dir(to)?;
    fs::set_permissions(
        to,
        fs::Permissions::from_mode(entry.metadata()?.permissions().mode()),
    )
}
