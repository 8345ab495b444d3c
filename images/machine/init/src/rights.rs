//! What programs may do as root: what networking needs, and no more.
//!
//! It is a second line: what keeps a kernel that was taken over from the host stands outside (SECURITY.md).

use std::fs;
use std::io;

use crate::failure::{Context, Result};
use crate::sys;

const MODULES_DISABLED: &str = "/proc/sys/kernel/modules_disabled";

/// Capabilities that no program has, by their numbers (capabilities(7), include/uapi/linux/capability.h). Those for
/// networks stay, those for files and users, which daemons change, SYS_ADMIN, for `ip netns`, `ip vrf` and zebra, and
/// SYS_TIME, for Hadoop's date: the clock is the machine's own.
const DROPPED: [u8; 17] = [
    9,  // LINUX_IMMUTABLE
    16, // SYS_MODULE
    17, // SYS_RAWIO
    20, // SYS_PACCT
    22, // SYS_BOOT
    26, // SYS_TTY_CONFIG
    27, // MKNOD
    28, // LEASE
    29, // AUDIT_WRITE
    30, // AUDIT_CONTROL
    32, // MAC_OVERRIDE
    33, // MAC_ADMIN
    34, // SYSLOG
    35, // WAKE_ALARM
    36, // BLOCK_SUSPEND
    37, // AUDIT_READ
    40, // CHECKPOINT_RESTORE
];

/// All programs that are started from now on lack them; PID 1, which never becomes another program, keeps its own.
pub fn few_capabilities() -> Result<()> {
    for capability in DROPPED {
        sys::drop_for_programs(capability)
            .context(|| format!("keep capability {capability} from programs"))?;
    }
    Ok(())
}

/// The job's own modules are loaded: no other one will be, whoever asks.
pub fn no_more_modules() -> Result<()> {
    match fs::write(MODULES_DISABLED, "1") {
        // A kernel of the user's own may have none.
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        written => written.context(|| format!("write 1 to {MODULES_DISABLED}")),
    }
}
