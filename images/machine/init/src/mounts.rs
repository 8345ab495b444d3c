//! File systems: what the machine mounts at boot, and the root of each node. The machine's own root is made the same
//! way as a node's.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use nix::errno::Errno;
use nix::mount::{mount, umount2, MntFlags, MsFlags};
use nix::sys::stat::{makedev, mknod, umask, Mode, SFlag};
use nix::unistd::{chdir, pivot_root, Pid};

use crate::failure::{Context, Failure, Result};
use crate::persona;

/// Where each network namespace has a name, in the machine and in every node: a link into `PROCESSES`. As mounts, which
/// `ip netns add` makes, they would be as many in each node as there are nodes.
const NETNS_DIRECTORY: &str = "/run/netns";
/// The machine's /proc, in the machine and in every node, whose own /proc has its own processes only.
const PROCESSES: &str = "/run/fabriclab/processes";
/// Where traffic programs of all nodes find each other's sockets: one file system, in the machine and in every node.
const RENDEZVOUS_DIRECTORY: &str = "/run/fabriclab/rendezvous";
/// In it, where programs see what has become of each other (`traffic/replay/src/meeting.rs`).
const PROGRAMS: &str = ".programs";
/// The read-only root file system below every overlay, seen by the machine only.
const LOWER: &str = "/run/fabriclab/rootfs";
/// Where each layer of a lab's own programs is, seen by the machine only: a directory for each, by its name.
const LAYERS: &str = "/run/fabriclab/layers";
/// Mount point of the tmpfs that holds a new root's overlay; hidden once the root is changed.
const SCRATCH: &str = "/tmp";

/// The host directories that the kernel command line names.
pub struct HostDirectories {
    pub rootfs: String,
    /// The one that may be written: /job.
    pub job: String,
    /// What the job is made of, read-only: directories of /job.
    pub inputs: Vec<Named>,
    /// What lies over the root file system of those nodes that ask for it by its name.
    pub layers: Vec<Named>,
}

/// A directory of the host by the name that it has here.
pub struct Named {
    pub name: String,
    pub path: String,
}

/// Character devices of every node: name, major, minor (Linux: Documentation/admin-guide/devices.txt).
const DEVICES: [(&str, u64, u64); 7] = [
    ("null", 1, 3),
    ("zero", 1, 5),
    ("full", 1, 7),
    ("random", 1, 8),
    ("urandom", 1, 9),
    ("tty", 5, 0),
    ("roce", 10, 241),
];

/// Links of /dev. Shared memory lies in each root's own /run.
const DEVICE_LINKS: [(&str, &str); 6] = [
    ("fd", "/proc/self/fd"),
    ("stdin", "/proc/self/fd/0"),
    ("stdout", "/proc/self/fd/1"),
    ("stderr", "/proc/self/fd/2"),
    ("ptmx", "pts/ptmx"),
    ("shm", "/run/shm"),
];

pub fn mount_proc() -> Result<()> {
    mount_type("proc", "/proc", MsFlags::MS_NOSUID, None)
}

/// Replaces the static tools' directory, which the kernel booted from, by the machine's root: an overlay over the root
/// file system.
pub fn enter_machine_root(host: &HostDirectories) -> Result<()> {
    umask(Mode::empty());
    make_propagation("/", MsFlags::MS_PRIVATE)?;
    mount_type("tmpfs", "/dev", MsFlags::MS_NOSUID, Some("mode=755"))?;
    make_devices()?;
    mount_type("hostfs", "/rootfs", MsFlags::MS_RDONLY, Some(&host.rootfs))?;
    let writable = MsFlags::MS_NOSUID | MsFlags::MS_NODEV;
    mount_type("hostfs", "/job", writable, Some(&host.job))?;
    for input in &host.inputs {
        let target = Path::new("/job").join(&input.name);
        let flags = writable | MsFlags::MS_RDONLY;
        mount_type("hostfs", target, flags, Some(&input.path))?;
    }
    let root = overlay_root("/rootfs", &[])?;
    make_directories(&root, &["run/netns", "run/fabriclab/rootfs"])?;
    mount_rendezvous(&root)?;
    bind("/", &root.join("tools"))?;
    bind("/rootfs", &root.join(&LOWER[1..]))?;
    bind("/dev", &root.join("dev"))?;
    bind_all("/job", &root.join("job"))?;
    for layer in &host.layers {
        let place = format!("{}/{}", &LAYERS[1..], layer.name);
        make_directories(&root, &[&place])?;
        let target = root.join(&place);
        mount_type("hostfs", target, MsFlags::MS_RDONLY, Some(&layer.path))?;
    }
    mount_kernel_views(&root)?;
    // A new inode draws a number: with the names that nodes always had, the same were drawn.
    persona::watching(|| link("/proc", &root.join(&PROCESSES[1..])))?;
    change_root(&root)
}

/// Gives the network namespace of a process of the machine a name.
pub fn name_network_namespace(name: &str, pid: Pid) -> Result<()> {
    let target = format!("{PROCESSES}/{pid}/ns/net");
    link(&target, &Path::new(NETNS_DIRECTORY).join(name))
}

/// Replaces the machine's root by a node's own, with `layers` over the root file system. To be called in the node's new
/// namespaces; /proc and /sys show those.
pub fn enter_node_root(layers: &[String]) -> Result<()> {
    // Nothing that is mounted or unmounted here must happen in the machine as well.
    make_propagation("/", MsFlags::MS_SLAVE)?;
    let root = overlay_root(LOWER, layers)?;
    for directory in [NETNS_DIRECTORY, RENDEZVOUS_DIRECTORY] {
        make_directories(&root, &[&directory[1..]])?;
    }
    persona::watching(|| make_directories(&root, &[&PROCESSES[1..]]))?;
    bind_all("/job", &root.join("job"))?;
    for directory in ["/dev", "/tools", NETNS_DIRECTORY, RENDEZVOUS_DIRECTORY] {
        bind(directory, &root.join(&directory[1..]))?;
    }
    bind("/proc", &root.join(&PROCESSES[1..]))?;
    mount_kernel_views(&root)?;
    change_root(&root)
}

/// An overlay of a fresh tmpfs over `layers`, the first on top, and these over `lower`; not yet the root.
fn overlay_root(lower: &str, layers: &[String]) -> Result<PathBuf> {
    mount_type("tmpfs", SCRATCH, MsFlags::MS_NOSUID, Some("mode=755"))?;
    make_directories(Path::new(SCRATCH), &["upper", "work", "root"])?;
    let root = Path::new(SCRATCH).join("root");
    let lower = lower_directories(lower, layers)?;
    let options = format!("lowerdir={lower},upperdir={SCRATCH}/upper,workdir={SCRATCH}/work");
    mount(
        Some("overlay"),
        &root,
        Some("overlay"),
        MsFlags::empty(),
        Some(options.as_str()),
    )
    .context(|| format!("mount an overlay over {lower}"))?;
    make_directories(&root, &["run/lock", "run/shm"])?;
    Ok(root)
}

/// What an overlay calls its lower directories, the uppermost first.
fn lower_directories(lower: &str, layers: &[String]) -> Result<String> {
    let mut lowers = String::new();
    for layer in layers {
        let place = format!("{LAYERS}/{layer}");
        if !Path::new(&place).is_dir() {
            return Err(Failure::new(format!(
                "the layer \"{layer}\" is not among fabriclab_layers of the kernel's command line"
            )));
        }
        lowers += &place;
        lowers.push(':');
    }
    Ok(lowers + lower)
}

fn mount_rendezvous(root: &Path) -> Result<()> {
    let directory = &RENDEZVOUS_DIRECTORY[1..];
    make_directories(root, &[directory])?;
    mount_type(
        "tmpfs",
        root.join(directory),
        MsFlags::MS_NOSUID,
        Some("mode=755"),
    )?;
    // Who makes a file draws a number: not the program that comes first, which depends on who else is in this machine.
    persona::watching(|| make_directories(root, &[&format!("{directory}/{PROGRAMS}")]))
}

fn mount_kernel_views(root: &Path) -> Result<()> {
    mount_type("proc", root.join("proc"), MsFlags::MS_NOSUID, None)?;
    mount_type("sysfs", root.join("sys"), MsFlags::MS_NOSUID, None)?;
    mount_terminals(root)
}

/// Terminals are a convenience: a kernel without them (the user's own) runs labs all the same.
fn mount_terminals(root: &Path) -> Result<()> {
    let target = root.join("dev/pts");
    match mount(
        Some("devpts"),
        &target,
        Some("devpts"),
        MsFlags::MS_NOSUID,
        Some("newinstance,ptmxmode=666,mode=620"),
    ) {
        Err(Errno::ENODEV) => Ok(()),
        result => result.context(|| format!("mount devpts on {}", target.display())),
    }
}

fn make_devices() -> Result<()> {
    for (name, major, minor) in DEVICES {
        let path = Path::new("/dev").join(name);
        mknod(
            &path,
            SFlag::S_IFCHR,
            Mode::from_bits_truncate(0o666),
            makedev(major, minor),
        )
        .context(|| format!("make {}", path.display()))?;
    }
    for (name, target) in DEVICE_LINKS {
        link(target, &Path::new("/dev").join(name))?;
    }
    make_directories(Path::new("/dev"), &["pts"])
}

fn make_directories(root: &Path, names: &[&str]) -> Result<()> {
    for name in names {
        let path = root.join(name);
        fs::create_dir_all(&path).context(|| format!("make {}", path.display()))?;
    }
    Ok(())
}

fn link(target: &str, place: &Path) -> Result<()> {
    symlink(target, place).context(|| format!("make {}", place.display()))
}

/// Makes `root` the root of this mount namespace and forgets the old one.
fn change_root(root: &Path) -> Result<()> {
    chdir(root).context(|| format!("enter {}", root.display()))?;
    // pivot_root(2), NOTES: with "." twice the old root is stacked on the new one, and no directory for it is needed.
    pivot_root(".", ".").context(|| "change the root".to_owned())?;
    umount2(".", MntFlags::MNT_DETACH).context(|| "leave the old root".to_owned())?;
    chdir("/").context(|| "enter the new root".to_owned())
}

fn mount_type(
    kind: &str,
    target: impl AsRef<Path>,
    flags: MsFlags,
    options: Option<&str>,
) -> Result<()> {
    let target = target.as_ref();
    mount(Some(kind), target, Some(kind), flags, options).context(|| match options {
        Some(options) => format!("mount {kind} ({options}) on {}", target.display()),
        None => format!("mount {kind} on {}", target.display()),
    })
}

fn bind(source: impl AsRef<Path>, target: &Path) -> Result<()> {
    bind_with(MsFlags::MS_BIND, source.as_ref(), target)
}

/// With what is mounted below it.
fn bind_all(source: impl AsRef<Path>, target: &Path) -> Result<()> {
    bind_with(MsFlags::MS_BIND | MsFlags::MS_REC, source.as_ref(), target)
}

fn bind_with(flags: MsFlags, source: &Path, target: &Path) -> Result<()> {
    mount(Some(source), target, None::<&str>, flags, None::<&str>)
        .context(|| format!("mount {} on {}", source.display(), target.display()))
}

fn make_propagation(target: &str, kind: MsFlags) -> Result<()> {
    mount(
        None::<&str>,
        target,
        None::<&str>,
        kind | MsFlags::MS_REC,
        None::<&str>,
    )
    .context(|| format!("set how mounts below {target} propagate"))
}
