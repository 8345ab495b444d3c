//! Where programs of several nodes see what has become of each other: a directory with an empty file for each sign.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use nix::errno::Errno;
use nix::sys::inotify::{AddWatchFlags, InitFlags, Inotify};

/// No host's name begins so: hosts meet in the same place (`rendezvous.rs`).
const DIRECTORY: &str = ".programs";

/// What a program can wait for: another one's end, or that its node listens on a TCP port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sign {
    program: String,
    port: Option<u16>,
}

impl Sign {
    pub fn ended(program: &str) -> Self {
        Self {
            program: program.to_owned(),
            port: None,
        }
    }

    pub fn listens(program: &str, port: u16) -> Self {
        Self {
            program: program.to_owned(),
            port: Some(port),
        }
    }

    fn file(&self) -> String {
        match self.port {
            Some(port) => format!("{}:{port}", self.program),
            None => self.program.clone(),
        }
    }
}

impl FromStr for Sign {
    type Err = String;

    fn from_str(written: &str) -> Result<Self, String> {
        let (program, port) = match written.split_once(':') {
            None => (written, None),
            Some((program, port)) => {
                let number = port.parse().ok().filter(|&number: &u16| number > 0);
                (
                    program,
                    Some(number.ok_or_else(|| format!("\"{port}\" is not a TCP port"))?),
                )
            }
        };
        if program.is_empty() || program.contains('/') {
            return Err("must be a program's name, or NAME:PORT".to_owned());
        }
        Ok(Self {
            program: program.to_owned(),
            port,
        })
    }
}

pub struct Meeting {
    directory: PathBuf,
    changes: Inotify,
}

impl Meeting {
    /// Opens the place of all programs below a directory that they share.
    pub fn open(shared: &Path) -> io::Result<Self> {
        let directory = shared.join(DIRECTORY);
        fs::create_dir_all(&directory)?;
        let changes = Inotify::init(InitFlags::IN_NONBLOCK | InitFlags::IN_CLOEXEC)?;
        changes.add_watch(&directory, AddWatchFlags::IN_CREATE)?;
        Ok(Self { directory, changes })
    }

    pub fn show(&self, sign: &Sign) -> io::Result<()> {
        File::create(self.directory.join(sign.file())).map(drop)
    }

    pub fn has_all(&self, signs: &[Sign]) -> bool {
        signs
            .iter()
            .all(|sign| self.directory.join(sign.file()).exists())
    }

    /// Readable when there may be a new sign; then `take_changes`.
    pub fn changes(&self) -> &Inotify {
        &self.changes
    }

    pub fn take_changes(&self) -> io::Result<()> {
        match self.changes.read_events() {
            Ok(_) | Err(Errno::EAGAIN) => Ok(()),
            Err(errno) => Err(errno.into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sign_is_read_as_it_is_written() {
        assert_eq!("redis".parse(), Ok(Sign::ended("redis")));
        assert_eq!("redis:6379".parse(), Ok(Sign::listens("redis", 6379)));
        for wrong in ["", ":1", "a/b", "redis:0", "redis:x", "redis:70000"] {
            assert!(wrong.parse::<Sign>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn signs_are_seen_by_all() {
        let shared = tempfile::tempdir().unwrap();
        let (one, other) = (
            Meeting::open(shared.path()).unwrap(),
            Meeting::open(shared.path()).unwrap(),
        );
        let signs = [Sign::ended("a"), Sign::listens("b", 80)];
        one.show(&signs[0]).unwrap();
        assert!(other.has_all(&signs[..1]) && !other.has_all(&signs));
        one.show(&signs[1]).unwrap();
        assert!(other.has_all(&signs));
        other.take_changes().unwrap();
        other.take_changes().unwrap();
    }
}
