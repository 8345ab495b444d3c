use std::collections::BTreeMap;

use super::*;

const HEADER: &str = include_str!(concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../../images/machine/kernel/switch/uapi/switch_port.h"
));

fn number(text: &str) -> Option<u64> {
    match text.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16).ok(),
        None => text.parse().ok(),
    }
}

/// Enumerators and macros of the header that are numbers, by name.
fn numbers() -> BTreeMap<&'static str, u64> {
    let mut found = BTreeMap::new();
    let mut next = None;
    for line in HEADER.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        match words[..] {
            ["#define", name, value, ..] => {
                found.extend(number(value).map(|number| (name, number)));
            }
            ["enum", _, "{"] => next = Some(0),
            ["};", ..] => next = None,
            [word, ..] => {
                if let (Some(number), Some(name)) = (next, word.strip_suffix(',')) {
                    found.insert(name, number);
                    next = Some(number + 1);
                }
            }
            [] => {}
        }
    }
    found
}

/// What the names of a module of ours begin with in the header.
fn prefix(module: &str) -> &str {
    match module {
        "port" => "TCA_SWITCH_PORT_",
        "buffer" => "TCA_SWITCH_BUFFER_",
        "queue" => "TCA_SWITCH_QUEUE_",
        "group" => "TCA_SWITCH_GROUP_",
        "wred" => "TC_SWITCH_WRED_",
        "storm" => "TC_SWITCH_STORM_",
        "event" => "SWITCH_PORT_EVENT_",
        "command" => "SWITCH_PORT_CMD_",
        _ => "TC_SWITCH_",
    }
}

#[test]
fn the_numbers_are_the_headers() {
    let numbers = numbers();
    let (mut module, mut compared) = ("", 0);
    for line in include_str!("switch_port.rs").lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        match words[..] {
            ["pub", "mod", name, "{"] => module = name,
            ["pub", "const", name, "&str", ..] => assert!(name.ends_with(':')),
            ["pub", "const", name, _, "=", value] => {
                let name = format!("{}{}", prefix(module), name.trim_end_matches(':'));
                assert_eq!(
                    Some(&number(value.trim_end_matches(';')).unwrap()),
                    numbers.get(&*name),
                    "{name}"
                );
                compared += 1;
            }
            _ => {}
        }
    }
    assert!(compared > 45, "{compared}");
}

#[test]
fn the_names_are_the_headers() {
    for (name, text) in [
        ("SWITCH_PORT_GENL_NAME", event::FAMILY),
        ("SWITCH_PORT_GENL_EVENTS", event::GROUP),
    ] {
        assert!(
            HEADER.contains(&format!("#define {name} \"{text}\"")),
            "{name}"
        );
    }
}
