//! PID 1 of the virtual machine: executes the job in the run directory and powers off. Contract:
//! images/machine/README.md.

mod addresses;
mod answers;
mod audit;
mod batch;
mod clock;
mod configure;
mod descriptor;
mod drain;
mod events;
mod failure;
mod fib;
mod iproute;
mod job;
mod lab;
mod limits;
mod link;
mod live;
mod looks;
mod machine;
mod modules;
mod mounts;
mod namespace;
mod persona;
mod process;
mod rights;
mod routes;
mod run;
mod setup;
mod stillness;
mod supervisor;
mod sys;
mod sysctl;
mod ticks;
mod timeline;
mod verbs;
mod wires;

fn main() {
    if std::process::id() != 1 {
        eprintln!(
            "init: this program is PID 1 of fabriclab's virtual machine; it does nothing elsewhere"
        );
        std::process::exit(1);
    }
    machine::report_panics();
    run::boot_and_run();
    wires::leave();
    machine::power_off();
}
