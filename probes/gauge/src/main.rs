//! Measures, in a container, what the host in real time makes of a lab (`images/README.md`, "Calibration"). What it
//! prints stands in `probes/README.md`.

mod changes;
mod echo;
mod lines;
mod round_trips;

use std::net::IpAddr;
use std::process::ExitCode;
use std::time::Duration;

use clap::{Parser, Subcommand};

/// Measures what a host in real time makes of a lab: round trips of idle paths, rates of lines, when routes change.
///
/// Needs CAP_NET_RAW, and CAP_NET_ADMIN for lines. It ends with 1 where the kernel refuses something.
#[derive(Parser)]
#[command(name = "gauge", version)]
struct Arguments {
    #[command(subcommand)]
    what: What,
}

#[derive(Subcommand)]
enum What {
    /// Send ICMP echo requests to each address, one after the other, and print the round trips as the kernel saw them
    RoundTrips {
        /// Requests to each address
        #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u16).range(1..=1000))]
        count: u16,
        /// From an answer to the next request
        #[arg(long, value_name = "N", default_value_t = 2000)]
        pause_us: u64,
        /// How long an answer is waited for
        #[arg(long, value_name = "N", default_value_t = 1000)]
        patience_ms: u64,
        #[arg(required = true)]
        addresses: Vec<IpAddr>,
    },
    /// Keep each line busy with frames that go no further than its other end, and print what left in which time
    Rates {
        /// Lines, each INTERFACE:FRAME:WINDOW:MILLISECONDS: bytes of a frame, bytes that wait at once, how long
        #[arg(required = true, value_parser = lines::parse_line)]
        lines: Vec<lines::Line>,
    },
    /// Run a command at once and then whenever routes or links change; a line each time: when it began
    /// and when it ended (CLOCK_MONOTONIC, nanoseconds), and what it said
    Changes {
        #[arg(required = true, trailing_var_arg = true, allow_hyphen_values = true)]
        command: Vec<String>,
    },
}

fn main() -> ExitCode {
    let done = match Arguments::parse().what {
        What::RoundTrips {
            count,
            pause_us,
            patience_ms,
            addresses,
        } => {
            let pace = round_trips::Pace {
                count,
                pause: Duration::from_micros(pause_us),
                patience: Duration::from_millis(patience_ms),
            };
            round_trips::measure(&addresses, &pace)
        }
        What::Rates { lines } => lines::measure(&lines),
        What::Changes { command } => changes::follow(&command),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("gauge: {error}");
            ExitCode::FAILURE
        }
    }
}
