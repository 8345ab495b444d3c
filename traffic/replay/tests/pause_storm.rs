//! `replay pause-storm`, on a pair of virtual interfaces. Each test starts itself again inside a new user and network
//! namespace, so that no privilege is needed and the host's network is never touched. No test depends on how fast this
//! host is.

mod process;

use std::io::Read;
use std::process::{Child, Command, Output, Stdio};
use std::time::Duration;

use process::{monotonic_ns, terminate, wait_for_signal_mask};
use socket2::{Domain, Protocol, Socket, Type};

/// Set in the process that runs inside the new namespaces.
const INSIDE: &str = "FABRICLAB_TEST_INSIDE";
/// How long to wait for something that must happen; only a failing test waits as long.
const PATIENCE: Duration = Duration::from_secs(300);
const MAC_CONTROL_TYPE: u16 = 0x8808;
const QUANTA: std::ops::Range<usize> = 18..34;

/// Starts the test `name` again in new user and network namespaces; true in the process that is inside.
fn is_inside(name: &str) -> bool {
    if std::env::var_os(INSIDE).is_some() {
        return true;
    }
    let in_namespaces = || {
        let mut command = Command::new("unshare");
        command.args(["--user", "--map-root-user", "--net", "--"]);
        command
    };
    let pair = "ip link add storm type veth peer name calm";
    let possible = in_namespaces().args(["sh", "-c", pair]).output();
    if !possible.is_ok_and(|output| output.status.success()) {
        eprintln!("skipped: this host lets users make no network namespace with a pair of virtual interfaces");
        return false;
    }
    // tc's first-in-first-out queue of one byte drops every frame: what arrives did not pass it.
    let queue = "tc qdisc add dev storm root bfifo limit 1";
    let set_up =
        format!("{pair} && {queue} && ip link set storm up && ip link set calm up && exec \"$@\"");
    let test = std::env::current_exe().unwrap();
    let status = in_namespaces()
        .args(["sh", "-c", &set_up, "sh"])
        .arg(test)
        .args([name, "--exact", "--nocapture"])
        .env(INSIDE, "1")
        .status()
        .unwrap();
    assert!(status.success(), "{name} failed inside its namespaces");
    false
}

fn start(options: &str) -> Child {
    Command::new(env!("CARGO_BIN_EXE_replay"))
        .arg("pause-storm")
        .args(options.split(' '))
        .env("FABRICLAB_EPOCH_NS", monotonic_ns().to_string())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

fn run(options: &str) -> Output {
    start(options).wait_with_output().unwrap()
}

/// A socket that gets the MAC control frames that come in.
fn listen() -> Socket {
    let protocol = Protocol::from(i32::from(MAC_CONTROL_TYPE.to_be()));
    let socket = Socket::new(Domain::PACKET, Type::RAW, Some(protocol)).unwrap();
    socket.set_read_timeout(Some(PATIENCE)).unwrap();
    socket
}

/// The next frame, which must come.
fn next_frame(socket: &mut Socket) -> Vec<u8> {
    let mut frame = [0; 2048];
    let length = socket.read(&mut frame).unwrap();
    frame[..length].to_vec()
}

/// All frames to the one that ends a pause, which must come: the kernel may hand frames over after their sender has
/// ended.
fn frames_to_resume(socket: &mut Socket) -> Vec<Vec<u8>> {
    let mut frames = vec![next_frame(socket)];
    while frames.last().unwrap()[QUANTA] != [0; 16] {
        frames.push(next_frame(socket));
    }
    frames
}

/// All frames that have come.
fn frames(socket: &mut Socket) -> Vec<Vec<u8>> {
    socket.set_nonblocking(true).unwrap();
    let mut frame = [0; 2048];
    std::iter::from_fn(|| {
        socket
            .read(&mut frame)
            .ok()
            .map(|length| frame[..length].to_vec())
    })
    .collect()
}

fn own_address() -> [u8; 6] {
    let text = std::process::Command::new("ip")
        .args(["-o", "link", "show", "storm"])
        .output()
        .unwrap();
    let text = String::from_utf8(text.stdout).unwrap();
    let written = text.split("link/ether ").nth(1).unwrap();
    let mut address = [0; 6];
    for (byte, word) in address.iter_mut().zip(written[..17].split(':')) {
        *byte = u8::from_str_radix(word, 16).unwrap();
    }
    address
}

/// What each frame must be but for its quanta.
fn head(vector: u8) -> Vec<u8> {
    let destination = [0x01, 0x80, 0xc2, 0, 0, 0x01];
    [
        &destination[..],
        &own_address(),
        &[0x88, 0x08, 0x01, 0x01, 0, vector],
    ]
    .concat()
}

#[test]
fn pauses_go_past_the_queue_and_a_resume_ends_them() {
    if !is_inside("pauses_go_past_the_queue_and_a_resume_ends_them") {
        return;
    }
    let mut socket = listen();
    let output = run(
        "--interface storm --priorities 0,5 --at-ns 0 --until-ns 2500000000 --interval-ns 500000000 --quanta 258"
    );
    assert!(output.status.success(), "{output:?}");
    let frames = frames_to_resume(&mut socket);
    // At 0, 0.5, 1, 1.5, 2 s, fewer where this host was late.
    assert!((2..=6).contains(&frames.len()), "{}", frames.len());
    for frame in &frames {
        assert_eq!(
            (frame.len(), &frame[..QUANTA.start]),
            (60, &head(0b0010_0001)[..])
        );
        assert!(frame[QUANTA.end..].iter().all(|byte| *byte == 0));
    }
    let (_resume, pauses) = frames.split_last().unwrap();
    let paused = [1, 2, 0, 0, 0, 0, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0];
    assert!(pauses.iter().all(|frame| frame[QUANTA] == paused));
}

#[test]
fn a_signal_ends_it_with_a_resume() {
    if !is_inside("a_signal_ends_it_with_a_resume") {
        return;
    }
    let mut socket = listen();
    let storm = start("--interface storm --priorities 3 --at-ns 0 --until-ns 600000000000 --interval-ns 600000000000");
    assert_eq!(next_frame(&mut socket)[QUANTA][6..8], [0xff, 0xff]);
    terminate(&storm);
    assert!(storm.wait_with_output().unwrap().status.success());
    let resume = next_frame(&mut socket);
    assert_eq!(
        (&resume[..QUANTA.start], &resume[QUANTA]),
        (&head(0b1000)[..], &[0; 16][..])
    );
}

#[test]
fn a_signal_before_its_time_leaves_nothing_to_resume() {
    if !is_inside("a_signal_before_its_time_leaves_nothing_to_resume") {
        return;
    }
    let mut socket = listen();
    let storm = start(
        "--interface storm --priorities 3 --at-ns 600000000000 --until-ns 700000000000 --interval-ns 1000"
    );
    wait_for_signal_mask(&storm);
    terminate(&storm);
    assert!(storm.wait_with_output().unwrap().status.success());
    assert_eq!(frames(&mut socket), Vec::<Vec<u8>>::new());
}

#[test]
fn what_is_wrong_is_told() {
    if !is_inside("what_is_wrong_is_told") {
        return;
    }
    let told = |interface: &str, priorities: &str, until_ns: &str| {
        let output = run(&format!(
            "--interface {interface} --priorities {priorities} --at-ns 5 --until-ns {until_ns} --interval-ns 10"
        ));
        assert_eq!(output.status.code(), Some(2));
        String::from_utf8(output.stderr).unwrap()
    };
    let right = "must be an Ethernet interface of this node\n";
    assert_eq!(
        told("eth9", "3", "9"),
        format!("replay: --interface is \"eth9\": {right}")
    );
    assert_eq!(
        told("lo", "3", "9"),
        format!("replay: --interface is \"lo\": {right}")
    );
    assert_eq!(
        told("storm", "3", "5"),
        "replay: --until-ns is 5: must be after --at-ns, 5\n"
    );
    let priorities = told("storm", "3,8", "9");
    assert!(
        priorities.contains("'3,8' for '--priorities <N,...>': must be numbers from 0 to 7"),
        "{priorities}"
    );
}
