"""Reading a `config_db.json`: all its mistakes at once, each with line, table|key|field,
value and what would be right."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from fabriclab.lab.reading.files import MissingError, UnreadableError, read_named_file
from fabriclab.lab.reading.problems import LabError, Mistake, Problems
from fabriclab.vendors.sonic.read.acl_tables import TABLES as ACL_TABLES
from fabriclab.vendors.sonic.read.acl_tables import SwitchAcls, read_acls
from fabriclab.vendors.sonic.read.ars_tables import read_ars
from fabriclab.vendors.sonic.read.bgp_tables import ONLY_IPV4, WHERE_BOTH, Bgp, read_bgp
from fabriclab.vendors.sonic.read.chips import chip_of
from fabriclab.vendors.sonic.read.config_db import ConfigDb
from fabriclab.vendors.sonic.read.dynamic_tables import DYNAMIC, computed_sizes
from fabriclab.vendors.sonic.read.entries import Tables, TooManyProblemsError
from fabriclab.vendors.sonic.read.hash_tables import read_hash
from fabriclab.vendors.sonic.read.json_text import LARGEST_BYTES, JsonText, parse_json
from fabriclab.vendors.sonic.read.left_out import READ, left_out
from fabriclab.vendors.sonic.read.lldp_text import LldpText, parse_lldp
from fabriclab.vendors.sonic.read.network_tables import (
    Addresses4,
    Addresses6,
    read_addresses,
    read_cables,
    read_device_neighbours,
    read_port_channels,
    read_ports,
    read_vlans,
)
from fabriclab.vendors.sonic.read.not_emulated import not_emulated
from fabriclab.vendors.sonic.read.policy_tables import TABLES as POLICY_TABLES
from fabriclab.vendors.sonic.read.policy_tables import SwitchPolicies
from fabriclab.vendors.sonic.read.qos_tables import QosReader
from fabriclab.vendors.sonic.read.route_tables import read_static_routes
from fabriclab.vendors.sonic.read.source_text import (
    LARGEST_ARCHIVE_BYTES,
    archived,
    archived_lldp,
    as_json,
    file_in,
    is_archive,
    without_frr,
)
from fabriclab.vendors.sonic.read.trimming_tables import read_trimming
from fabriclab.vendors.sonic.read.vrf_tables import read_vrfs, vrf_fields


def read_config_db(path: Path) -> ConfigDb:
    """Return the typed tables of a file. Raises LabError."""
    path = file_in(path) if path.is_dir() else path
    return parse_config_db(read_bytes(path), str(path))


def read_bytes(path: Path) -> bytes:
    """Return the configuration in a file that the command line names; of an archive, what it has saved.

    Raises LabError.
    """
    archive = is_archive(path)
    try:
        data = read_named_file(path, LARGEST_ARCHIVE_BYTES if archive else LARGEST_BYTES)
    except UnreadableError as error:
        hint = "; give a switch's config_db.json" if isinstance(error, MissingError) else ""
        raise LabError([Mistake(str(path), None, "", "", f"{error}{hint}")]) from error
    return archived(data, str(path)) if archive else as_json(data, str(path))


def read_lldp(path: Path) -> LldpText | None:
    """Return what a switch heard by LLDP, if its configuration is in an archive that has it; else None."""
    if not is_archive(path):
        return None
    data = archived_lldp(read_named_file(path, LARGEST_ARCHIVE_BYTES))
    return None if data is None else parse_lldp(data.decode("utf-8", "replace"))


def parse_config_db(data: bytes, file: str) -> ConfigDb:
    """Return the typed tables of a file's bytes. Raises LabError."""
    config, problems = examine_config_db(data, file)
    problems.raise_if_any()
    if config is None:
        raise AssertionError("too many problems are problems")
    return config


def examine_config_db(data: bytes, file: str) -> tuple[ConfigDb | None, Problems]:
    """Return the typed tables without what is wrong in them, and that; no tables where nearly all is.

    Raises LabError if it is no JSON.
    """
    problems = Problems()
    json = parse_json(data, file, problems)
    problems.raise_if_any()
    if json is None:
        raise AssertionError("a file that cannot be read leaves a problem")
    tables = Tables(json, problems)
    if without_frr(json.value, file):
        tables.note("bgpraw left out: it has FRR's own commands; the lab uses BGP_NEIGHBOR")
    config = None
    with suppress(TooManyProblemsError):
        # A file with very many rules of ACLs is read, without them.
        tables.check_shape([table for table in READ if table not in ACL_TABLES])
        config = _read(tables)
        tables.finish()
    return config, problems


def config_of(json: JsonText) -> ConfigDb:
    """Return the typed tables of a file that has been examined, or of a part of it."""
    return _read(Tables(json, Problems()))


_LEFT_OUT = f"were left out; {ONLY_IPV4}"
_ALONE = "are in a lab if none of its files has addresses of IPv4 at interfaces; else it has only IPv4"


def _read(tables: Tables) -> ConfigDb:
    ports = read_ports(tables)
    qos = QosReader(tables, ports)
    acls = read_acls(tables)
    hashing = read_hash(tables, has_channels=bool(tables.keys("PORTCHANNEL_MEMBER")))
    static = read_static_routes(tables)
    metres, cable_origin = read_cables(tables, ports)
    addresses, every6 = Addresses4(), Addresses6()
    for table, names in (
        ("INTERFACE", ports),
        ("PORTCHANNEL_INTERFACE", tables.keys("PORTCHANNEL")),
        ("VLAN_INTERFACE", tables.keys("VLAN")),
    ):
        found, others = read_addresses(tables, table, names)
        addresses.update(found)
        every6.update(others)
    loopbacks, others = read_addresses(tables, "LOOPBACK_INTERFACE", None)
    ipv6 = sum(map(len, (*every6.values(), *others.values())))
    about_ipv6 = f"{ipv6} IPv6 addresses {_LEFT_OUT if addresses else _ALONE}"
    if ipv6:
        tables.note(about_ipv6)
    addresses6 = {name: tuple(one for one in found if one is not None) for name, found in every6.items()}
    bgp = read_bgp(tables, ports, addresses, addresses6)
    vrfs = read_vrfs(tables)
    pools = qos.named("BUFFER_POOL", qos.pool)
    profiles = qos.named("BUFFER_PROFILE", lambda fields: qos.profile(fields, pools))
    schedulers, wreds, maps = qos.named("SCHEDULER", qos.scheduler), qos.named("WRED_PROFILE", qos.wred), qos.maps()
    lossless = qos.named("DEFAULT_LOSSLESS_BUFFER_PARAMETER", qos.lossless_defaults)
    groups, buffers = qos.buffer_bindings("BUFFER_PG", profiles), qos.buffer_bindings("BUFFER_QUEUE", profiles)
    chip = chip_of(tables.device("hwsku"), tables.device("platform"))
    if tables.device("buffer_model") == DYNAMIC:
        pools = computed_sizes(tables, pools, ports, metres, profiles, groups, buffers, chip)
    config = ConfigDb(
        file=tables.json.file,
        hostname=tables.device("hostname"),
        asic=tables.device("asic_name"),
        hwsku=tables.device("hwsku"),
        chip=chip,
        asn=bgp.asn,
        router_id=bgp.router_id,
        frrcfgd=bgp.frrcfgd,
        max_paths=bgp.max_paths,
        networks=bgp.networks,
        announces_connected=bgp.announces_connected,
        networks6=bgp.networks6,
        announces_connected6=bgp.announces_connected6,
        policies=bgp.policies.policies,
        network_maps=bgp.policies.networks,
        redistribution_maps=bgp.policies.redistributed,
        policies6=bgp.policies6.policies,
        network_maps6=bgp.policies6.networks,
        redistribution_maps6=bgp.policies6.redistributed,
        static_routes=static.routes,
        static_route_notes=static.notes,
        static_routes6=static.routes6,
        static_route_notes6=static.notes6,
        ports=ports,
        addresses=addresses,
        addresses6=addresses6,
        loopbacks=loopbacks,
        loopbacks6={name: tuple(one for one in found if one is not None) for name, found in others.items()},
        vrfs=vrfs,
        port_channels=read_port_channels(tables, ports),
        vlans=read_vlans(tables, ports),
        bgp_neighbours=bgp.neighbours,
        bgp_neighbours6=bgp.neighbours6,
        device_neighbours=read_device_neighbours(tables, ports),
        cable_metres=metres,
        cable_origin=cable_origin,
        pools=pools,
        profiles=profiles,
        buffer_pgs=groups,
        buffer_queues=buffers,
        queues=qos.queue_bindings(schedulers, wreds),
        schedulers=schedulers,
        wred_profiles=wreds,
        maps=maps,
        port_qos=qos.port_qos(maps),
        watchdogs=qos.watchdogs(),
        lossless_defaults=next(iter(lossless.values()), None),
        trimming=read_trimming(tables, ports),
        adaptive_routing=read_ars(tables, ports, bgp.neighbours, addresses),
        acls=tuple(acls.tables),
        hash=hashing,
        left_out=left_out(tables, _acting_tables(bgp, acls)),
        not_emulated=not_emulated(tables.json, _acting_fields(bgp, tables, vrfs), acls, hashing),
        notes=tuple(tables.notes),
        of_one_family={about_ipv6: about_ipv6.replace(ONLY_IPV4, WHERE_BOTH), **bgp.of_one_family},
        json=tables.json,
    )
    if not ports and not tables.problems:
        tables.complain(("PORT",), "missing, or empty; a switch has ports, such as Ethernet0")
    return config


def _acting_fields(bgp: Bgp, tables: Tables, vrfs: Mapping[str, tuple[str, ...]]) -> SwitchPolicies:
    """Return the fields that act, of policies and of VRFs, and why others do not."""
    policies = bgp.policies.beside(bgp.policies6)
    return replace(policies, acting=policies.acting | vrf_fields(tables, vrfs))


def _acting_tables(bgp: Bgp, acls: SwitchAcls) -> tuple[str, ...]:
    """Return the tables of policies and filters of which something acts in a lab."""
    acts = bgp.policies.policies is not None or bgp.policies6.policies is not None
    policies = POLICY_TABLES if acts else ()
    return (*policies, *(ACL_TABLES if acls.tables else ()))
