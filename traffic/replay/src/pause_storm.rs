//! `replay pause-storm`: a NIC that does not stop to send pause frames of priority flow control, as broken ones do (Guo
//! et al., "RDMA over Commodity Ethernet at Scale", SIGCOMM 2016, section 4.3). The frame: IEEE 802.1Qbb, and IEEE
//! 802.3 annex 31B.

use std::io;

use clap::Args;

use crate::ethernet::{Address, Interface};
use crate::failure::{system, Failure};
use crate::wait::Waiter;
use crate::wakeups;

const PRIORITIES: usize = 8;
/// Without the frame check sequence.
const FRAME_BYTES: usize = 60;
const MAC_CONTROL_ADDRESS: Address = [0x01, 0x80, 0xc2, 0x00, 0x00, 0x01];
const MAC_CONTROL_TYPE: u16 = libc::ETH_P_PAUSE as u16;
const PRIORITY_PAUSE: u16 = 0x0101;

#[derive(Args)]
pub struct PauseStormArgs {
    /// The interface that sends the frames, past its queueing discipline
    #[arg(long, value_name = "NAME")]
    interface: String,
    /// The priorities that they pause, 0 to 7, such as 3,4
    #[arg(long, value_name = "N,...", value_parser = parse_priorities)]
    priorities: Priorities,
    /// Send the first frame at this time, nanoseconds after the epoch
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(i64).range(0..))]
    at_ns: i64,
    /// Let go at this time, nanoseconds after the epoch: the last frame has no quanta
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(i64).range(1..))]
    until_ns: i64,
    /// Send a frame this often, in nanoseconds; less than the quanta take, for a pause without a gap
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(i64).range(1..))]
    interval_ns: i64,
    /// For how long each frame pauses, in units of 512 bit times
    #[arg(long, value_name = "N", default_value_t = u16::MAX, value_parser = clap::value_parser!(u16).range(1..))]
    quanta: u16,
}

/// A bit for each priority.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Priorities(u8);

fn parse_priorities(written: &str) -> Result<Priorities, String> {
    let mut mask = 0;
    for word in written.split(',') {
        let number = word
            .parse()
            .ok()
            .filter(|&number: &usize| number < PRIORITIES);
        let number =
            number.ok_or("must be numbers from 0 to 7 with commas between, such as 3,4")?;
        if mask & (1 << number) != 0 {
            return Err(format!("{number} occurs twice"));
        }
        mask |= 1 << number;
    }
    Ok(Priorities(mask))
}

/// Sends the frames. It ends before its time, without a failure, on SIGTERM or SIGINT, and lets go then.
pub fn pause_storm(arguments: &PauseStormArgs, epoch_ns: i64) -> Result<(), Failure> {
    let (at_ns, until_ns) = (arguments.at_ns, arguments.until_ns);
    if until_ns <= at_ns {
        return Err(Failure::WrongInput(format!(
            "replay: --until-ns is {until_ns}: must be after --at-ns, {at_ns}\n"
        )));
    }
    let interface = open(&arguments.interface)?;
    let mut waiter = Waiter::new().map_err(|error| system("waiting", &error))?;
    storm(arguments, epoch_ns, &mut waiter, &interface)
        .map_err(|error| system(&arguments.interface, &error))
}

fn open(name: &str) -> Result<Interface, Failure> {
    let right = "must be an Ethernet interface of this node";
    Interface::open(name).map_err(|error| match error.raw_os_error() {
        Some(libc::EPERM) => {
            Failure::System(format!("{name}: {error}: raw frames need CAP_NET_RAW"))
        }
        Some(libc::ENODEV) | None => {
            Failure::WrongInput(format!("replay: --interface is \"{name}\": {right}\n"))
        }
        _ => system(name, &error),
    })
}

fn storm(
    arguments: &PauseStormArgs,
    epoch_ns: i64,
    waiter: &mut Waiter,
    interface: &Interface,
) -> io::Result<()> {
    let frame = |quanta| pause_frame(interface.address(), arguments.priorities, quanta);
    let on_clock = |after_epoch_ns| epoch_ns.saturating_add(after_epoch_ns);
    let (pause, resume) = (frame(arguments.quanta), frame(0));
    let end_ns = on_clock(arguments.until_ns);
    let mut due_ns = on_clock(arguments.at_ns);
    if !waiter.sleep_until(due_ns)? {
        return Ok(());
    }
    loop {
        send(interface, &pause)?;
        due_ns = next_ns(due_ns, arguments.interval_ns, wakeups::monotonic_ns());
        let going_on = waiter.sleep_until(due_ns.min(end_ns))?;
        if !going_on || due_ns >= end_ns {
            return send(interface, &resume);
        }
    }
}

/// The first of the times `due + n x interval` that is to come.
fn next_ns(due_ns: i64, interval_ns: i64, now_ns: i64) -> i64 {
    let passed = (now_ns - due_ns).max(0) / interval_ns;
    due_ns.saturating_add((passed + 1).saturating_mul(interval_ns))
}

/// A frame for a link that is down is lost, as on a cable that is cut.
fn send(interface: &Interface, frame: &[u8]) -> io::Result<()> {
    match interface.send(frame) {
        Err(error) if error.raw_os_error() == Some(libc::ENETDOWN) => Ok(()),
        sent => sent,
    }
}

fn pause_frame(source: Address, priorities: Priorities, quanta: u16) -> [u8; FRAME_BYTES] {
    let mut words = vec![MAC_CONTROL_TYPE, PRIORITY_PAUSE, u16::from(priorities.0)];
    for priority in 0..PRIORITIES {
        let enabled = priorities.0 & (1 << priority) != 0;
        words.push(if enabled { quanta } else { 0 });
    }
    let words = words.into_iter().flat_map(u16::to_be_bytes);
    let bytes = MAC_CONTROL_ADDRESS.into_iter().chain(source).chain(words);
    let mut frame = [0; FRAME_BYTES];
    for (place, byte) in frame.iter_mut().zip(bytes) {
        *place = byte;
    }
    frame
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn priorities_are_numbers_with_commas() {
        assert_eq!(parse_priorities("3,4"), Ok(Priorities(0b0001_1000)));
        assert_eq!(parse_priorities("7"), Ok(Priorities(0b1000_0000)));
        for wrong in ["", "8", "3,", "3, 4", "-1", "three"] {
            let told = parse_priorities(wrong).unwrap_err();
            assert!(told.starts_with("must be numbers from 0 to 7"), "{wrong}");
        }
        assert_eq!(parse_priorities("3,4,3"), Err("3 occurs twice".to_owned()));
    }

    #[test]
    fn a_frame_is_that_of_802_1qbb() {
        let frame = pause_frame([2, 0xfa, 0, 0, 0, 1], Priorities(0b0001_1000), 0xffff);
        let mut expected = vec![
            1, 0x80, 0xc2, 0, 0, 1, 2, 0xfa, 0, 0, 0, 1, 0x88, 0x08, 0x01, 0x01, 0, 0x18,
        ];
        expected.extend([0, 0, 0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0, 0, 0]);
        expected.extend([0; 26]);
        assert_eq!(frame.to_vec(), expected);
    }

    #[test]
    fn missed_times_are_left_out() {
        assert_eq!(next_ns(1_000, 100, 1_000), 1_100);
        assert_eq!(next_ns(1_000, 100, 1_099), 1_100);
        assert_eq!(next_ns(1_000, 100, 1_100), 1_200);
        assert_eq!(next_ns(1_000, 100, 900), 1_100);
        assert_eq!(next_ns(1_000, i64::MAX, 1_000), i64::MAX);
    }
}
