use std::collections::HashMap;

use super::*;

/// Words and the options that they are in turn; `tests/kernel/test_switch_port_words.py` makes it from the header's
/// structures.
const GOLDEN: &str = include_str!(concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../../../tests/golden/switch_port.txt"
));
/// Headers of netlink and of a qdisc, the kind "switch_port" and the nest's own header.
const BEFORE_OPTIONS: usize = 16 + 20 + 16 + 4;

fn compiled(line: &str) -> Parsed<Vec<u8>> {
    let mut interfaces = Interfaces(HashMap::from([("eth1".to_owned(), 2)]));
    let mut words = Words::of_line(line).unwrap().unwrap();
    compile(&mut words, &mut interfaces).map(|mut message| message.finish(1).to_vec())
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[test]
fn words_become_the_bytes_of_the_header() {
    let lines: Vec<&str> = GOLDEN.lines().collect();
    assert!(lines.len() > 20);
    for pair in lines.chunks(2) {
        let line = format!(
            "qdisc change dev eth1 root handle 1: switch_port {}",
            pair[0]
        );
        let message = compiled(&line).unwrap_or_else(|wrong| panic!("{line}: {wrong}"));
        assert_eq!(hexadecimal(&message[BEFORE_OPTIONS..]), pair[1], "{line}");
    }
}

#[test]
fn the_head_says_what_is_asked_of_which_device() {
    let message = compiled("qdisc add dev eth1 root handle 1a: switch_port rate 1gbit").unwrap();
    let expected = [
        "44000000 2400 0506 01000000 00000000", // 68 bytes, RTM_NEWQDISC; REQUEST, ACK, EXCL, CREATE
        "00000000 02000000 00001a00 ffffffff 00000000", // struct tcmsg
        "1000 0100 7377697463685f706f727400",   // TCA_KIND
        "1000 0280 0c00 0200 00ca9a3b00000000", // TCA_OPTIONS, a nest
    ];
    assert_eq!(hexadecimal(&message), expected.concat().replace(' ', ""));
    let flags = |verb: &str| {
        let line = format!("qdisc {verb} dev eth1 root switch_port rate 1gbit");
        hexadecimal(&compiled(&line).unwrap()[6..8])
    };
    assert_eq!(
        (flags("replace"), flags("change")),
        ("0505".to_owned(), "0500".to_owned())
    );
}

#[test]
#[rustfmt::skip] // a mistake a line
fn every_mistake_names_its_word_and_what_would_be_right() {
    for (words, told) in [
        ("delay 5ns", "switch_port: a port needs a rate, such as \"rate 1000000000bit\""),
        ("rate 1000000000", "rate \"1000000000\": must be a rate such as 1000000000bit"),
        ("rate", "rate: has no value; it must be a rate such as 1000000000bit"),
        ("rate 1gbit rate 1gbit", "rate: given twice"),
        ("rate 1gbit dealy 5ns", "\"dealy\": a port has no such word"),
        ("rate 1gbit delay 5", "delay \"5\": must be a time such as 25000ns"),
        ("rate 1gbit overhead 1025", "overhead \"1025\": must be a whole number from 0 to 1024"),
        ("rate 1gbit loss 0.00001%",
         "loss \"0.00001%\": must be 0 to 100 with a % and at most four decimals, such as 0.1000%"),
        ("rate 1gbit loss 100.0001%",
         "loss \"100.0001%\": must be 0 to 100 with a % and at most four decimals, such as 0.1000%"),
        ("rate 1gbit loss .1%", "loss \".1%\": must be 0 to 100 with a % and at most four decimals, such as 0.1000%"),
        ("rate 1gbit cell 0", "cell \"0\": must be a whole number from 1 to 32767"),
        ("rate 1gbit roce 1024 0 1", "roce: has no value; it must be a whole number from 0 to 4294967295"),
        ("rate 1gbit roce 1024 0 1 7 4ms 50us 64 26 48", "roce \"64\": must be a whole number from 0 to 63"),
        ("rate 1gbit roce 1024 0 1 7 4ms 50us 26 26 48 reads 256",
         "reads \"256\": must be a whole number from 1 to 255"),
        ("rate 1gbit roce 1024 0 1 7 4ms 50us 26 26 48 control dcqcn",
         "control: has no value; it must be a name, and words and values with commas between, or -"),
        ("rate 1gbit telemetry telemetry", "telemetry: given twice"),
        ("rate 1gbit memory 4 1000", "memory \"4\": must be a whole number from 0 to 3"),
        ("rate 1gbit memory 1 1000 memory 1 1000", "memory 1: named twice"),
        ("rate 1gbit memory 1 1MB", "memory 1 \"1MB\": must be a whole number of bytes"),
        ("rate 1gbit tc_to_queue 0,1,2,3,4,5,6",
         "tc_to_queue \"0,1,2,3,4,5,6\": must be 8 numbers from 0 to 7, with commas between"),
        ("rate 1gbit tc_to_group 0,1,2,3,4,5,6,8",
         "tc_to_group \"0,1,2,3,4,5,6,8\": must be 8 numbers from 0 to 7, with commas between"),
        ("rate 1gbit pfc 3,3", "pfc \"3,3\": must be none, or priorities from 0 to 7, each once, with commas between"),
        ("rate 1gbit pfc 3 quanta 1", "quanta \"1\": must be a whole number from 2 to 65535"),
        ("rate 1gbit pfc 3 watchdog 1ms 1ms shut", "watchdog \"shut\": must be drop or forward"),
        ("rate 1gbit quanta 5", "\"quanta\": a port has no such word"),
        ("rate 1gbit queue 8", "queue \"8\": must be a whole number from 0 to 7"),
        ("rate 1gbit queue 3 queue 3", "queue 3: named twice"),
        ("rate 1gbit queue 3 delay 5ns", "queue 3: \"delay\": a queue has no such word"),
        ("rate 1gbit queue 3 limit 9000 alpha 1", "queue 3: limit and alpha: a limit is static or dynamic"),
        ("rate 1gbit queue 3 alpha -9", "queue 3: alpha \"-9\": must be a power of two's logarithm from -8 to 7"),
        ("rate 1gbit queue 3 strict dwrr 1538", "queue 3: strict, dwrr or wrr: given twice"),
        ("rate 1gbit queue 3 dwrr 63", "queue 3: dwrr \"63\": must be a whole number from 64 to 4294967295"),
        ("rate 1gbit queue 3 wred 3000 5000ns 5%", "queue 3: wred: both thresholds must be bytes, or both times"),
        ("rate 1gbit queue 3 wred 3000 5000",
         "queue 3: wred: has no value; it must be 0 to 100 with a % and at most four decimals, such as 0.1000%"),
        ("rate 1gbit queue 3 wred 1 2 5% weight 16", "queue 3: weight \"16\": must be a whole number from 0 to 15"),
        ("rate 1gbit group 3 wred 1 2 5%", "group 3: \"wred\": a priority group has no such word"),
        ("rate 1gbit group 3 lossless 9000 4000",
         "group 3: lossless: has no value; it must be a whole number of bytes"),
        ("rate 1gbit group 3 group 3", "group 3: named twice"),
    ] {
        let line = format!("qdisc add dev eth1 root handle 1: switch_port {words}");
        assert_eq!(compiled(&line).unwrap_err(), told, "{line}");
    }
}

#[test]
fn so_does_every_mistake_before_the_kind() {
    for (line, told) in [
        (
            "qdisc show switch_port",
            "must begin with qdisc add, qdisc replace or qdisc change",
        ),
        (
            "qdisc add dev eth9 root switch_port rate 1gbit",
            "dev \"eth9\": must be an interface of this node",
        ),
        (
            "qdisc add dev eth1 dev eth1 root switch_port rate 1gbit",
            "dev: given twice",
        ),
        (
            "qdisc add root switch_port rate 1gbit",
            "there must be dev and an interface",
        ),
        (
            "qdisc add dev eth1 switch_port rate 1gbit",
            "there must be root, or parent and a class",
        ),
        (
            "qdisc add dev eth1 root handle 1 switch_port rate 1gbit",
            "handle \"1\": must be a handle such as 1:",
        ),
        (
            "qdisc add dev eth1 parent 1:1 switch_port rate 1gbit",
            "switch_port must be the root of its device",
        ),
        (
            "qdisc add dev eth1 root tbf switch_port rate 1gbit",
            "\"tbf\": must be dev, root, handle or switch_port",
        ),
    ] {
        assert_eq!(compiled(line).unwrap_err(), told, "{line}");
    }
}
