//! The personality (personality(2)) of processes that only watch.

use nix::sys::personality::{self, Persona};

/// Of our kernel, drivers/char/random.c (`kernel/patches/*/*-who-watches-draws-alone.patch`); it outlives execve(2).
pub const WATCHES: Persona = Persona::from_bits_retain(0x1000_0000);

/// Does `work` as one that only watches: nobody else's numbers tell of what it draws.
pub fn watching<T>(work: impl FnOnce() -> T) -> T {
    let before = personality::get();
    if let Ok(persona) = before {
        let _ = personality::set(persona | WATCHES);
    }
    let done = work();
    if let Ok(persona) = before {
        let _ = personality::set(persona);
    }
    done
}
