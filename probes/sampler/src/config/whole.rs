//! The rules that concern several values of a configuration at once.

use std::collections::HashMap;
use std::path::PathBuf;

use super::{Config, Flow, InterfacePort, Label};

/// Returns the first rule that is broken, with the keys, the values and what would be right.
pub(super) fn check_whole(config: &Config) -> Result<(), String> {
    let mut outputs: Vec<(&str, &PathBuf)> = Vec::new();
    if let Some(queues) = &config.queues {
        outputs.push(("queues.output", &queues.output));
        check_names(
            "queues.ports",
            "port",
            queues.ports.iter().map(|port| &port.name),
        )?;
    }
    if let Some(tcp) = &config.tcp {
        outputs.push(("tcp.output", &tcp.output));
        check_names("tcp.nodes", "node", tcp.nodes.iter().map(|node| &node.name))?;
        check_flows(tcp.flows.as_deref())?;
    }
    if let Some(interfaces) = &config.interfaces {
        outputs.push(("interfaces.output", &interfaces.output));
        check_names(
            "interfaces.ports",
            "port",
            interfaces.ports.iter().map(|port| &port.name),
        )?;
    }
    if let Some(switches) = &config.switches {
        outputs.extend(switches.outputs.all());
        check_names(
            "switches.ports",
            "port",
            switches.ports.iter().map(|port| &port.name),
        )?;
        check_switches(&switches.ports)?;
    }
    if let Some(connections) = &config.connections {
        outputs.push(("connections.output", &connections.output));
        check_names(
            "connections.nodes",
            "node",
            connections.nodes.iter().map(|node| &node.name),
        )?;
    }
    check_outputs(&outputs)
}

fn check_names<'a>(
    key: &str,
    what: &str,
    names: impl Iterator<Item = &'a Label>,
) -> Result<(), String> {
    let mut seen = HashMap::new();
    for (index, Label(name)) in names.enumerate() {
        if let Some(first) = seen.insert(name, index) {
            return Err(format!(
                "{key}[{index}].name: `{name}` is already the name of {key}[{first}]; give each {what} a name of its \
                 own"
            ));
        }
    }
    match seen.is_empty() {
        true => Err(format!(
            "{key}: [] names nothing: name at least one {what}, or leave the whole part out"
        )),
        false => Ok(()),
    }
}

/// The ports of a namespace are one switch's, and bear its name.
fn check_switches(ports: &[InterfacePort]) -> Result<(), String> {
    for (index, port) in ports.iter().enumerate() {
        let other = ports[..index]
            .iter()
            .find(|other| (other.netns == port.netns) != (other.switch() == port.switch()));
        if let Some(other) = other {
            return Err(format!(
                "switches.ports[{index}].name: `{}` beside `{}`: the ports of one namespace, and no others, have the \
                 same switch before the colon",
                port.name.0, other.name.0
            ));
        }
    }
    Ok(())
}

fn check_flows(flows: Option<&[Flow]>) -> Result<(), String> {
    match flows {
        Some([]) => Err(
            "tcp.flows: [] names nothing: name at least one flow, or leave the key out to sample every socket that \
             carries a mark"
                .to_owned(),
        ),
        _ => Ok(()),
    }
}

fn check_outputs(outputs: &[(&str, &PathBuf)]) -> Result<(), String> {
    if outputs.is_empty() {
        return Err(
            "there is nothing to sample: write at least one of `queues`, `tcp`, `interfaces`, `switches`, `connections`"
                .to_owned(),
        );
    }
    for (index, (key, path)) in outputs.iter().enumerate() {
        if let Some((first, _)) = outputs[..index].iter().find(|(_, other)| other == path) {
            return Err(format!(
                "{key}: `{}` is already `{first}`; give each output a file of its own",
                path.display()
            ));
        }
    }
    Ok(())
}
