//! The device files of a node's RDMA devices: nobody else makes any in a node (no devtmpfs, no udev).

use std::fs;
use std::path::{Path, PathBuf};

use nix::errno::Errno;
use nix::sys::stat::{makedev, mknod, Mode, SFlag};

use crate::failure::{Context, Failure, Result};

const DIRECTORY: &str = "/dev/infiniband";
/// Verbs (`uverbs0`), a directory for each device of any node. Those of other nodes lead nowhere, since the device
/// above them is not in this network namespace.
const VERBS: &str = "/sys/class/infiniband_verbs";
/// The connection manager of all.
const MANAGER: &str = "/sys/class/misc/rdma_cm";

/// Makes them for who calls, in whose network and mount namespaces the devices are.
pub fn make_devices() -> Result<()> {
    fs::create_dir_all(DIRECTORY).context(|| format!("make {DIRECTORY}"))?;
    make_device(Path::new(MANAGER))?;
    let mut found: Vec<PathBuf> = fs::read_dir(VERBS)
        .and_then(|entries| entries.map(|entry| entry.map(|one| one.path())).collect())
        .context(|| format!("read {VERBS}"))?;
    found.retain(|path| path.join("dev").is_file());
    found.sort();
    found.iter().try_for_each(|path| make_device(path))
}

/// Makes the file of a device that has `dev`, such as `231:192`, in its directory of sysfs.
fn make_device(class: &Path) -> Result<()> {
    let file = class.join("dev");
    let text = fs::read_to_string(&file).context(|| format!("read {}", file.display()))?;
    let numbers = text
        .trim()
        .split_once(':')
        .and_then(|(major, minor)| Some((major.parse::<u64>().ok()?, minor.parse::<u64>().ok()?)));
    let (major, minor) = numbers.ok_or_else(|| {
        Failure::new(format!(
            "{}: \"{}\" is no device",
            file.display(),
            text.trim()
        ))
    })?;
    let path = Path::new(DIRECTORY).join(class.file_name().unwrap_or_default());
    match mknod(
        &path,
        SFlag::S_IFCHR,
        Mode::from_bits_truncate(0o666),
        makedev(major, minor),
    ) {
        // Of another node: all have one /dev, and only who has the device can open it.
        Err(Errno::EEXIST) => Ok(()),
        result => result.context(|| format!("make {}", path.display())),
    }
}
