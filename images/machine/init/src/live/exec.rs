//! Somebody's program in a node, with three pipes or on a terminal.

use std::os::fd::OwnedFd;
use std::rc::Rc;

use nix::fcntl::OFlag;
use nix::sys::signal::{killpg, Signal};
use nix::unistd::{pipe2, tcgetpgrp, Pid};

use super::flows::Flows;
use super::frame::{Answer, Exec, Size};
use super::stream::{Ending, Inflow, Outflow};
use super::terminal::{Terminal, END_CHARACTER};
use crate::failure::{Context, Failure, Result};
use crate::lab::Lab;
use crate::process::{self, Part, Streams};
use crate::supervisor::{Role, Supervisor};
use crate::sys;

pub struct Execution {
    pid: Pid,
    pub flows: Flows,
    terminal: Option<OwnedTerminal>,
}

/// A terminal while a program is on it.
struct OwnedTerminal {
    master: Rc<OwnedFd>,
    /// Held so that the master is never at its end while the program lives, even when that has closed its own.
    _slave: OwnedFd,
}

impl Execution {
    /// Starts the program; a failure says why it could not be.
    pub fn start(
        lab: &Lab,
        supervisor: &mut Supervisor,
        session: u32,
        asked: &Exec,
    ) -> Result<Self> {
        let node = asked
            .node
            .as_deref()
            .map(|name| lab.node(name))
            .transpose()?;
        let variables = variables(asked)?;
        if asked.argv.first().is_none_or(String::is_empty) {
            return Err(Failure::new("argv must name a program"));
        }
        let (streams, flows, terminal) = match asked.terminal {
            Some(size) => on_terminal(Terminal::open(lab, node, size)?, session)?,
            None => on_pipes(session)?,
        };
        let part = if asked.watches {
            Part::Watches
        } else {
            Part::Plays
        };
        let started = process::start(&lab.machine, node, &asked.argv, &variables, part, &streams);
        let pid = started.map_err(|failure| Failure {
            node: asked.node.clone(),
            ..failure
        })?;
        supervisor.adopt(pid, &asked.argv[0], asked.node.as_deref(), Role::Session);
        Ok(Self {
            pid,
            flows,
            terminal,
        })
    }

    pub fn is_of(&self, pid: Pid) -> bool {
        self.pid == pid
    }

    pub fn resize(&self, size: Size) {
        if let Some(terminal) = &self.terminal {
            // The terminal is ours and open.
            let _ = sys::set_window_size(&terminal.master, size.rows, size.columns);
        }
    }

    /// Sends a signal to who has the terminal, or to the program and those that it has not put elsewhere. SIGHUP and
    /// SIGKILL are meant for all: the program's own group gets them too, and SIGKILL whatever belongs to its session.
    pub fn signal(&mut self, signal: Signal) {
        if self.flows.is_finished() {
            // The program can't be reached any more: who signals does not want what it wrote.
            return self.flows.cut();
        }
        let foreground = self
            .terminal
            .as_ref()
            .and_then(|terminal| tcgetpgrp(&terminal.master).ok())
            .filter(|group| group.as_raw() > 0);
        // Who has just ended is reaped next.
        if let Some(group) = foreground.filter(|group| *group != self.pid) {
            let _ = killpg(group, signal);
        }
        let for_all = matches!(signal, Signal::SIGHUP | Signal::SIGKILL);
        if for_all || foreground.is_none_or(|group| group == self.pid) {
            let _ = killpg(self.pid, signal);
        }
        if signal == Signal::SIGKILL {
            process::kill_session(self.pid);
        }
    }
}

type Ends = (Streams, Flows, Option<OwnedTerminal>);

fn on_pipes(session: u32) -> Result<Ends> {
    let pipe = || pipe2(OFlag::O_CLOEXEC).context(|| "make a pipe".to_owned());
    let ((input, to), (from, output), (from_errors, errors)) = (pipe()?, pipe()?, pipe()?);
    let outputs = vec![
        Outflow::new(from, Answer::Stdout)?,
        Outflow::new(from_errors, Answer::Stderr)?,
    ];
    let flows = Flows::new(session, Inflow::new(to, Ending::Close)?, outputs);
    let streams = Streams {
        input,
        output,
        errors,
        is_terminal: false,
    };
    Ok((streams, flows, None))
}

fn on_terminal(terminal: Terminal, session: u32) -> Result<Ends> {
    let Terminal { master, slave } = terminal;
    let copy = |descriptor: &OwnedFd| {
        descriptor
            .try_clone()
            .context(|| "copy a descriptor".to_owned())
    };
    let master = Rc::new(master);
    let input = Inflow::new(master.clone(), Ending::Character(END_CHARACTER))?;
    let outputs = vec![Outflow::new(master.clone(), Answer::Stdout)?];
    let streams = Streams {
        input: copy(&slave)?,
        output: copy(&slave)?,
        errors: copy(&slave)?,
        is_terminal: true,
    };
    let held = OwnedTerminal {
        master,
        _slave: slave,
    };
    Ok((streams, Flows::new(session, input, outputs), Some(held)))
}

fn variables(asked: &Exec) -> Result<Vec<String>> {
    let one = |(name, value): (&String, &String)| match name {
        name if name.is_empty() || name.contains('=') => Err(Failure::new(format!(
            "\"{name}\" can't be the name of a variable"
        ))),
        name => Ok(format!("{name}={value}")),
    };
    asked.environment.iter().map(one).collect()
}
