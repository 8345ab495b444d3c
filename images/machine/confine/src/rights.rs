//! What a program may do by its rights as a process: limits, capabilities, privileges, its death with its parent's.

use caps::{CapSet, Capability, CapsHashSet};
use nix::sys::prctl;
use nix::sys::resource::{getrlimit, setrlimit, Resource};
use nix::sys::signal::{signal, SigHandler, Signal};

use crate::failure::{Context, Result};

/// Sets limits: these, and no dump of its memory, no realtime, no message queues. A file that would become too long is
/// an error for who writes it, and no signal.
pub fn limit(wanted: &[(Resource, Option<u64>)]) -> Result<()> {
    let always = [
        (Resource::RLIMIT_CORE, 0),
        (Resource::RLIMIT_RTPRIO, 0),
        (Resource::RLIMIT_MSGQUEUE, 0),
    ];
    let wanted = wanted
        .iter()
        .filter_map(|(resource, most)| Some((*resource, (*most)?)));
    ignore(Signal::SIGXFSZ)?;
    for (resource, most) in always.into_iter().chain(wanted) {
        // A user's own limit may be lower.
        let (_, hard) = getrlimit(resource).context(|| format!("ask for {resource:?}"))?;
        let most = most.min(hard);
        setrlimit(resource, most, most).context(|| format!("set {resource:?} to {most}"))?;
    }
    Ok(())
}

fn ignore(which: Signal) -> Result<()> {
    // SAFETY: a signal that is ignored runs no code.
    unsafe { signal(which, SigHandler::SigIgn) }
        .map(drop)
        .context(|| format!("ignore {which}"))
}

/// No program that is started from now on gains rights by its file.
pub fn no_new_privileges() -> Result<()> {
    prctl::set_no_new_privs().context(|| "give up new privileges".to_owned())
}

/// Drops all capabilities, which root has. Where Landlock binds files, root keeps its reach into directories that are
/// other users' (`sudo fabriclab run` in a user's home): it goes no further than to what was given.
pub fn drop_capabilities(files_are_bound: bool) -> Result<()> {
    let held =
        caps::read(None, CapSet::Permitted).context(|| "read the capabilities".to_owned())?;
    if held.is_empty() {
        return Ok(());
    }
    let mut kept = CapsHashSet::new();
    if files_are_bound {
        let reach = [
            Capability::CAP_DAC_OVERRIDE,
            Capability::CAP_DAC_READ_SEARCH,
        ];
        kept.extend(reach.into_iter().filter(|one| held.contains(one)));
    }
    let dropped = |_| "drop capabilities".to_owned();
    if held.contains(&Capability::CAP_SETPCAP) {
        for one in caps::runtime::procfs_all_supported(None).unwrap_or_else(|_| caps::all()) {
            if !kept.contains(&one) {
                caps::drop(None, CapSet::Bounding, one).context(|| dropped(()))?;
            }
        }
    }
    for set in [CapSet::Ambient, CapSet::Inheritable] {
        caps::clear(None, set).context(|| dropped(()))?;
    }
    for set in [CapSet::Effective, CapSet::Permitted] {
        caps::set(None, set, &kept).context(|| dropped(()))?;
    }
    Ok(())
}

/// The host's kernel kills the program when the thread that started it is no more. After changes of rights, which would
/// take it back.
pub fn die_with_parent() -> Result<()> {
    prctl::set_pdeathsig(Signal::SIGKILL).context(|| "die with the parent".to_owned())
}
