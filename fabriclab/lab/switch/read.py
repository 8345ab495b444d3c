"""The `switches` section: a buffer for each port, or one that all ports share, out of a profile,
`default` and the switch's name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

from fabriclab.keys.wording import did_you_mean, shown
from fabriclab.lab.ports.aqm import check_aqm
from fabriclab.lab.ports.buffer import WrittenPortBuffer, override_port_buffer, read_port_buffer
from fabriclab.lab.ports.keys import PORT_BUFFER
from fabriclab.lab.reading.document import MappingValue
from fabriclab.lab.reading.names import Names
from fabriclab.lab.reading.section import Section, Written
from fabriclab.lab.switch.consistency import check_switch
from fabriclab.lab.switch.keys import SCALE, SHARED, SWITCH
from fabriclab.lab.switch.layer import read_layer
from fabriclab.lab.switch.lossless import dormant_groups, finish, without_lossless
from fabriclab.lab.switch.override import by_number, override_layer
from fabriclab.lab.switch.port_keys import exactness
from fabriclab.lab.switch.profile import parse_profile, read_profile
from fabriclab.lab.switch.written import Scale, WrittenBuffer, WrittenLayer, WrittenProfile, WrittenSwitch

CONFIG_FILE = "config_db.json"


@dataclass(frozen=True)
class WrittenSwitches:
    """Every switch is in one of the two, but for those that have problems."""

    with_port_buffers: Mapping[str, WrittenPortBuffer] = field(default_factory=dict)
    """Each port has a buffer of its own."""
    with_shared_buffer: Mapping[str, WrittenSwitch] = field(default_factory=dict)


@dataclass(frozen=True)
class _Layer:
    """What stands below `default` or below a switch's name."""

    section: Section
    port_buffer: WrittenPortBuffer
    profile: Written[str] | None
    scale: Written[Scale] | None
    shared: WrittenLayer


def read_switches(switches: Section, names: Names, directory: Path) -> WrittenSwitches:
    """Return every switch: `default`, overridden key by key by what stands below its name.

    `directory` may hold profiles.
    """
    layers: dict[str, _Layer] = {}
    before = len(switches.problems)
    for name in switches.names():
        if name != "default" and name not in names.switches:
            place = switches.mapping.key_place(name)
            message = f"{shown(name)} is not a switch; {did_you_mean(name, ['default', *names.switches])}"
            switches.problems.add(place, switches.path(name), message, name)
        section = switches.section(name, SWITCH)
        if section is not None:
            layers[name] = _read_layer(section, names)
    are_good = len(switches.problems) == before
    with_port_buffers, with_shared_buffer = {}, {}
    for name in names.switches:
        own = [layers[key] for key in ("default", name) if key in layers]
        if name in names.profiles:
            # `default` is for switches that are nothing by themselves.
            own = [layers[name] if name in layers else _empty_layer(switches, name, names)]
            with_shared_buffer[name] = _shared(own, directory, are_good, _interfaces(name, names), names.profiles[name])
        elif _is_shared(own):
            with_shared_buffer[name] = _shared(own, directory, are_good, _interfaces(name, names))
        else:
            with_port_buffers[name] = _port_buffer(own)
    return WrittenSwitches(with_port_buffers, with_shared_buffer)


def _read_layer(section: Section, names: Names) -> _Layer:
    return _Layer(
        section=section,
        port_buffer=read_port_buffer(section, names),
        profile=section.scalar("profile", "a switch profile's name"),
        scale=section.read(SCALE),
        shared=read_layer(section, names.own_names("sharing")),
    )


def _empty_layer(switches: Section, name: str, names: Names) -> _Layer:
    return _read_layer(
        Section(MappingValue({}, {}, switches.place), switches.path(name), switches.problems, None), names
    )


def _is_shared(layers: list[_Layer]) -> bool:
    return any(key in layer.section for layer in layers for key in ("profile", "pools"))


def _port_buffer(layers: list[_Layer]) -> WrittenPortBuffer:
    """Return the buffer of each port; keys of a shared buffer are recorded."""
    written = WrittenPortBuffer()
    for layer in layers:
        written = override_port_buffer(written, layer.port_buffer)
        for key in SHARED.names:
            if key in layer.section:
                layer.section.complain(
                    key, "belongs to a shared buffer; write a profile (such as profile: trident-3) or pools, too"
                )
    threshold = written.ecn_threshold
    for layer in layers[-1:]:
        check_aqm(written.aqm, threshold is not None and threshold.value is not None, layer.section.problems)
    return written


def _interfaces(switch: str, names: Names) -> tuple[str, ...]:
    return tuple(port.partition(":")[2] for port in names.switch_ports if port.partition(":")[0] == switch)


def _shared(
    layers: list[_Layer], directory: Path, are_good: bool, interfaces: tuple[str, ...], own_profile: str | None = None
) -> WrittenSwitch:
    """Return a switch with a shared buffer; keys of ports' own buffers are recorded.

    What its values say together is checked only where none of them was wrong by itself. `own_profile`: what the
    switch's own configuration says, in place of a profile by name.
    """
    last = layers[-1].section
    profile = _profile(layers, directory) if own_profile is None else _own_profile(own_profile, layers)
    keys_of = _port_keys(_all_layers(profile, layers).ports, interfaces)
    written = replace(
        _as_ports_have_it(profile, layers, ()),
        variants={_variant(keys): _as_ports_have_it(profile, layers, keys) for keys in keys_of.values()},
        variant_of={interface: _variant(keys) for interface, keys in keys_of.items()},
    )
    _check_port_names(layers, interfaces)
    if are_good and (
        profile.is_good if profile is not None else not any("profile" in layer.section for layer in layers)
    ):
        check_switch(written, last.problems)
    given_up = _given_up(layers)
    for layer in layers:
        for key in PORT_BUFFER.names:
            if key in layer.section and key not in given_up:
                layer.section.complain(key, _why_not_beside(key, layers))
    variants = {_variant(keys): _finished(written.of(interface), layers, keys) for interface, keys in keys_of.items()}
    return replace(_finished(written, layers, ()), scale=_resolve_scale(layers, profile), variants=variants)


def _given_up(layers: list[_Layer]) -> frozenset[str]:
    """Return the keys of ports' own buffers that the last layer which has them says `none` of: a variant may give up
    what `default` has."""
    written = WrittenPortBuffer()
    for layer in layers:
        written = override_port_buffer(written, layer.port_buffer)
    values = {"buffer": written.buffer, "ecn_threshold": written.ecn_threshold}
    named = {name for name, value in values.items() if value is not None and value.value is None}
    return frozenset({*named, "aqm"} if written.aqm is not None and written.aqm.is_none else named)


def _variant(keys: tuple[str, ...]) -> str:
    return "; ".join(keys)


def _port_keys(ports: Mapping[str, WrittenLayer], interfaces: tuple[str, ...]) -> dict[str, tuple[str, ...]]:
    """Return the keys of `ports` that name each interface, the more exact ones last;
    interfaces that none names are left out."""
    named = {interface: [key for key in ports if exactness(key, interface)] for interface in interfaces}
    return {one: tuple(sorted(keys, key=partial(exactness, interface=one))) for one, keys in named.items() if keys}


def _check_port_names(layers: list[_Layer], interfaces: tuple[str, ...]) -> None:
    """Record ports that the switch does not have; `default` and a profile may name those of other switches."""
    ports = layers[-1].section.section("ports", None)
    for key in ports.names() if ports is not None and not layers[-1].section.key.endswith(".default") else ():
        if ports is not None and interfaces and not any(exactness(key, interface) for interface in interfaces):
            message = f"the switch has no such port; {did_you_mean(key, interfaces)}"
            ports.problems.add(ports.mapping.key_place(key), ports.path(key), message, key)


def _as_ports_have_it(profile: WrittenProfile | None, layers: list[_Layer], keys: tuple[str, ...]) -> WrittenSwitch:
    """Return the switch as those ports have it that these keys of `ports` name."""
    last = layers[-1].section
    return WrittenSwitch(last.key, last.place, profile, buffer=_together(profile, layers, keys))


def _finished(written: WrittenSwitch, layers: list[_Layer], keys: tuple[str, ...]) -> WrittenSwitch:
    dormant, profile = dormant_groups(written), written.profile
    if profile is not None and dormant:
        lossy = replace(profile, layer=without_lossless(profile.layer, dormant, written.buffer.maps))
        written = replace(written, buffer=_together(lossy, layers, keys), dormant_groups=dormant)
    return finish(written)


def _all_layers(profile: WrittenProfile | None, layers: list[_Layer]) -> WrittenLayer:
    """Return what profile, `default` and name say together, each over those before it."""
    one = WrittenLayer() if profile is None else profile.layer
    for layer in layers:
        one = override_layer(one, layer.shared)
    return one


def _together(profile: WrittenProfile | None, layers: list[_Layer], keys: tuple[str, ...]) -> WrittenBuffer:
    """Return what holds for ports that these keys of `ports` name: what is said of them wins
    over what is said of all."""
    one = _all_layers(profile, layers)
    for key in keys:
        one = override_layer(one, one.ports[key])
    queues, groups = by_number(one.queues), by_number(one.groups)
    return WrittenBuffer(one.cell, one.slices, one.pools, queues, groups, one.maps, one.pfc, one.slice, one.trimming)


def _why_not_beside(key: str, layers: list[_Layer]) -> str:
    """Say which of the two to write."""
    stands = next((layer, word) for layer in layers for word in ("profile", "pools") if word in layer.section)
    place = stands[0].section.mapping.key_place(stands[1])
    instead = {
        "buffer": "remove it, or name the switches that have a profile one by one",
        "ecn_threshold": "write queues: {default: {wred: {min: 30 KB, max: 30 KB}}}",
        "non_ect": "write queues: {default: {wred: {non_ect: queue}}}",
        "aqm": "write queues: {default: {wred: {min: 50 us, max: 50 us}}}",
    }[key]
    return (
        f"applies to ports that each have a buffer; with {stands[1]} ({place.in_same_file}) the ports share one: "
        f"{instead}"
    )


def _profile(layers: list[_Layer], directory: Path) -> WrittenProfile | None:
    written = [layer.profile for layer in layers if layer.profile is not None]
    return read_profile(written[-1], directory, layers[-1].section.problems) if written else None


def _own_profile(text: str, layers: list[_Layer]) -> WrittenProfile | None:
    """Return the profile of a switch's own configuration; another one beside it is recorded."""
    section = layers[-1].section
    for layer in layers:
        if layer.profile is not None:
            layer.section.complain("profile", "the switch is what its config_db.json says; remove this, or the file")
    profile, found = parse_profile(text, CONFIG_FILE, f"{section.key.rpartition('.')[2]}'s {CONFIG_FILE}")
    section.problems.add_all(found)
    return profile


def _resolve_scale(layers: list[_Layer], profile: WrittenProfile | None) -> Scale:
    """Return how the profile's figures are scaled: by bandwidth, where it has one and nothing else is written."""
    has_bandwidth = profile is not None and profile.bandwidth is not None
    written = [layer.scale for layer in layers if layer.scale is not None]
    if not written:
        return "bandwidth" if has_bandwidth else "none"
    scale = written[-1]
    if scale.value == "bandwidth" and profile is not None and not has_bandwidth:
        message = f"profile {shown(profile.name)} gives no bandwidth to scale by; write none, or a factor such as 1/100"
        scale.complain(layers[-1].section.problems, message)
    elif scale.value != "none" and profile is None and not any("profile" in layer.section for layer in layers):
        scale.complain(
            layers[-1].section.problems,
            "only a profile's figures are scaled; there is no profile here, so leave scale out",
        )
    return scale.value
