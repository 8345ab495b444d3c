//! What a program may reach, by Landlock (Linux: Documentation/userspace-api/landlock.rst): files, TCP, processes
//! outside.

use std::fmt;
use std::path::{Path, PathBuf};

use landlock::{
    Access, AccessFs, AccessNet, BitFlags, PathBeneath, PathFd, Ruleset, RulesetAttr,
    RulesetCreatedAttr, RulesetStatus, Scope, ABI,
};

use crate::failure::{Context, Result};

/// The newest version that this program knows what it forbids of; an older kernel forbids less.
const KNOWN: ABI = ABI::V7;
/// The first one that keeps signals from reaching processes outside.
const SIGNALS: i32 = 6;

/// What a program is given.
pub struct Files<'a> {
    pub read: &'a [PathBuf],
    pub execute: &'a [PathBuf],
    pub write: &'a [PathBuf],
}

/// What binds it then: the version of Landlock, 0 for none.
#[derive(Debug, Clone, Copy)]
pub struct Bound {
    version: i32,
}

impl Bound {
    /// Whether its files are bound, and with them whom it may trace.
    pub fn has_files(self) -> bool {
        self.version > 0
    }

    /// Whether its signals are bound.
    pub fn has_signals(self) -> bool {
        self.version >= SIGNALS
    }
}

impl fmt::Display for Bound {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.version {
            0 => write!(formatter, "no landlock (files and signals are not bound)"),
            version if self.has_signals() => write!(formatter, "landlock {version}"),
            version => write!(formatter, "landlock {version} (signals are not bound)"),
        }
    }
}

impl Files<'_> {
    /// Binds this process, and all that it starts.
    pub fn bind(&self) -> Result<Bound> {
        let version = version();
        if version == 0 {
            return Ok(Bound { version });
        }
        let refused = || "bind by Landlock".to_owned();
        let mut rules = Ruleset::default()
            .handle_access(AccessFs::from_all(KNOWN))
            .and_then(|rules| rules.handle_access(AccessNet::from_all(KNOWN)))
            .and_then(|rules| rules.scope(Scope::from_all(KNOWN)))
            .and_then(Ruleset::create)
            .context(refused)?;
        let reading = AccessFs::ReadFile | AccessFs::ReadDir;
        for (paths, access) in [
            (self.read, reading),
            (self.execute, reading | AccessFs::Execute),
            (self.write, reading | changing()),
        ] {
            for path in paths {
                rules = rules.add_rule(rule(path, access)?).context(refused)?;
            }
        }
        let status = rules.restrict_self().context(refused)?;
        let is_bound = status.ruleset != RulesetStatus::NotEnforced;
        Ok(Bound {
            version: if is_bound { version } else { 0 },
        })
    }
}

/// No links, sockets, pipes or devices: what the host finds there are plain files and directories.
fn changing() -> BitFlags<AccessFs> {
    AccessFs::WriteFile
        | AccessFs::Truncate
        | AccessFs::MakeReg
        | AccessFs::MakeDir
        | AccessFs::RemoveFile
        | AccessFs::RemoveDir
        | AccessFs::Refer
}

fn rule(path: &Path, access: BitFlags<AccessFs>) -> Result<PathBeneath<PathFd>> {
    let opened = PathFd::new(path).in_file(path)?;
    let access = if path.is_dir() {
        access
    } else {
        access & AccessFs::from_file(KNOWN)
    };
    Ok(PathBeneath::new(opened, access))
}

/// The version of the running kernel's Landlock; 0 where there is none, it is switched off, or the call is filtered.
fn version() -> i32 {
    const LANDLOCK_CREATE_RULESET_VERSION: u32 = 1;
    // SAFETY: with this flag the call takes no memory.
    let version = unsafe {
        libc::syscall(
            libc::SYS_landlock_create_ruleset,
            std::ptr::null::<u8>(),
            0usize,
            LANDLOCK_CREATE_RULESET_VERSION,
        )
    };
    i32::try_from(version.max(0)).unwrap_or(0)
}
