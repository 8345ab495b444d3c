"""Switches with a shared buffer as written: profile file, `default` and name together,
and what else an experiment says of them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from profile_lab import PROFILE, experiment_of

from fabriclab.lab import LabError
from fabriclab.lab.reading.document import MappingValue
from fabriclab.lab.reading.problems import Place
from fabriclab.lab.settings import normalise
from fabriclab.lab.switch.keys import MAPS, PFC, SWITCH
from fabriclab.lab.switch.queue_keys import GROUP, QUEUE, WRED, PowerOfTwo
from fabriclab.lab.switch.written import Threshold, WrittenSwitch
from fabriclab.units import format_fraction, parse_fraction


def switch_of(
    directory: Path, switches: str, changes: Mapping[str, str] | None = None, profile: str = PROFILE
) -> WrittenSwitch:
    return experiment_of(directory, switches, changes=changes, profile=profile).shared_switches["s1"]


def limits(switch: WrittenSwitch, number: int) -> tuple[object, ...]:
    """Return pool, alpha and limit of a queue as they are written; a value `none` is None too."""
    account = switch.buffer.queues[number].account
    return tuple(
        None if written is None else written.value for written in (account.pool, account.alpha_log, account.limit)
    )


def test_a_switch_has_port_buffers_or_a_shared_one(tmp_path: Path) -> None:
    own = experiment_of(tmp_path, "default: {buffer: 64 KB}")
    assert list(own.switches) == ["s1"] and not own.shared_switches
    shared = experiment_of(tmp_path, "default: {pools: {shared: {size: 1 MB}}}")
    assert list(shared.shared_switches) == ["s1"] and not shared.switches


def test_a_variant_may_give_up_what_ports_have_of_their_own(tmp_path: Path) -> None:
    own = "default: {buffer: 64 KB, ecn_threshold: 30 KB}"
    changes = dict.fromkeys(("switches.default.buffer", "switches.default.ecn_threshold"), "none")
    shared = experiment_of(tmp_path, own, changes={**changes, "switches.default.profile": "mine"})
    assert list(shared.shared_switches) == ["s1"] and not shared.switches
    of_one = experiment_of(tmp_path, "default: {buffer: 64 KB}, s1: {buffer: none, profile: mine}")
    assert list(of_one.shared_switches) == ["s1"]
    with pytest.raises(
        LabError, match=r"none is for a switch whose ports share a buffer, and 's1' has neither profile"
    ):
        experiment_of(tmp_path, own, changes=changes)


def test_a_profile_of_the_command_line_is_named_by_its_argument(tmp_path: Path) -> None:
    with pytest.raises(LabError, match=r"with profile \(--set switches\.default\.profile=mine\) the ports share one"):
        experiment_of(tmp_path, "default: {buffer: 64 KB}", changes={"switches.default.profile": "mine"})


def test_profile_default_and_name_are_one_switch_key_by_key(tmp_path: Path) -> None:
    switch = switch_of(
        tmp_path,
        "default: {profile: mine, cell: 256 B, queues: {default: {weight: 7}}},"
        " s1: {pools: {egress: {size: 1 MB}}, queues: {default: {event: 9 KB}}}",
    )
    assert switch.key == "switches.s1" and switch.profile is not None and switch.profile.title == "A switch"
    pools = {
        name: (pool.size and pool.size.value, pool.headroom and pool.headroom.value)
        for name, pool in switch.buffer.pools.items()
    }
    assert pools == {"ingress": (30_000_000, 1_000_000), "egress": (1_000_000, None)}
    queue = switch.buffer.queues[0]
    assert queue.weight is not None and queue.weight.value == 7
    assert queue.event is not None and queue.event.key == "switches.s1.queues.default.event"
    assert queue.account.reserved is not None and queue.account.reserved.place.file == switch.file == str(
        tmp_path / "mine.yml"
    )
    assert switch.scale == "bandwidth"


def test_what_is_more_exact_wins_whatever_mapping_it_stands_in(tmp_path: Path) -> None:
    pfc = "pfc: {priorities: [3, 4]}"
    switch = switch_of(
        tmp_path,
        f"default: {{profile: mine, {pfc}, queues: {{default: {{weight: 7}}, 4..5: {{weight: 8}}, 5: {{weight: 9}}}}}}",
    )
    weights = [queue.weight and queue.weight.value for queue in switch.buffer.queues.values()]
    # 3 has the profile's range; at 4 the experiment's range comes after it.
    assert weights == [7, 7, 7, 4, 8, 9, 7, 7]


def test_a_limit_rules_out_alpha_and_the_other_way_round(tmp_path: Path) -> None:
    switch = switch_of(
        tmp_path, "default: {profile: mine, queues: {default: {limit: 64 KB}, 5: {alpha: 1/4}, 6: {limit: none}}}"
    )
    assert limits(switch, 0) == ("egress", None, 64_000)
    assert limits(switch, 5) == ("egress", -2, None)
    assert limits(switch, 6) == ("egress", None, None)


def test_strict_rules_out_the_weight(tmp_path: Path) -> None:
    queue = switch_of(tmp_path, "default: {profile: mine, queues: {7: {scheduler: strict}}}").buffer.queues[7]
    assert queue.scheduler is not None and queue.scheduler.value == "strict" and queue.weight is None


def test_maps_go_mapping_by_mapping(tmp_path: Path) -> None:
    maps = switch_of(
        tmp_path, "default: {profile: mine, maps: {dscp_to_tc: {0..7: 5, ef: 6}, tc_to_queue: {5: 0}}}"
    ).buffer.maps
    classes = {dscp: written.value for dscp, written in maps.dscp_to_tc.items()}
    assert [classes[dscp] for dscp in (0, 3, 7, 8, 46, 63)] == [5, 5, 5, 1, 6, 1]
    assert {tc: written.value for tc, written in maps.tc_to_queue.items()} == {5: 0}


def test_lossless_classes_of_a_profile_wait_for_pfc(tmp_path: Path) -> None:
    switch = switch_of(tmp_path, "default: {profile: mine, queues: {default: {alpha: 1}}}")
    assert switch.dormant_groups == (3, 4) and switch.buffer.pfc is None
    assert limits(switch, 3) == limits(switch, 0) == ("egress", 0, None)
    assert switch.buffer.groups[3] == switch.buffer.groups[0]


def test_pfc_wakes_the_groups_of_its_priorities(tmp_path: Path) -> None:
    switch = switch_of(tmp_path, "default: {profile: mine, pfc: {priorities: [3]}}")
    assert switch.dormant_groups == (4,)
    group = switch.buffer.groups[3]
    assert group.lossless is not None and group.headroom is not None and group.headroom.value == 50_000
    assert switch.buffer.groups[4] == switch.buffer.groups[0]
    # `pool: none, limit: none` of a lossless queue: the ingress side alone decides.
    assert limits(switch, 3) == (None, None, None) and limits(switch, 4) == ("egress", 3, None)


def test_a_priority_may_belong_to_another_group(tmp_path: Path) -> None:
    assert switch_of(
        tmp_path, "default: {profile: mine, pfc: {priorities: [0]}, maps: {priority_to_group: {0: 4}}}"
    ).dormant_groups == (3,)


def test_none_gives_up_what_a_profile_says(tmp_path: Path) -> None:
    profile = PROFILE + "pfc: {priorities: [3, 4], watchdog: {detection: 100 ms}}\n"
    profile = profile.replace(
        "weight: 2}",
        "weight: 2, wred: {min: 30 KB}, phantom: {rate: 95 %, threshold: 3 KB}, voq_limit: 5 ms, event: 9 KB}",
    )
    whole = switch_of(tmp_path, "default: {profile: mine}", profile=profile)
    queue = whole.buffer.queues[0]
    assert queue.wred is not None and queue.phantom is not None and queue.event is not None
    assert queue.voq_limit is not None and queue.voq_limit.value == Threshold(5_000_000, "ns")
    assert whole.buffer.pfc is not None and whole.buffer.pfc.watchdog is not None
    nothing = "queues: {default: {wred: none, phantom: none, voq_limit: none, event: none}}"
    queue = switch_of(tmp_path, f"default: {{profile: mine, {nothing}}}", profile=profile).buffer.queues[0]
    assert (queue.wred, queue.phantom, queue.voq_limit, queue.event) == (None, None, None, None)
    quiet = switch_of(tmp_path, "default: {profile: mine, pfc: {watchdog: none}}", profile=profile)
    assert quiet.buffer.pfc is not None and quiet.buffer.pfc.watchdog is None
    assert switch_of(tmp_path, "default: {profile: mine, pfc: none}", profile=profile).buffer.pfc is None


def test_a_name_gives_back_what_default_gave_up(tmp_path: Path) -> None:
    switch = switch_of(
        tmp_path,
        "default: {profile: mine, queues: {default: {wred: none}}}, s1: {queues: {default: {wred: {min: 50 us}}}}",
    )
    wred = switch.buffer.queues[0].wred
    assert wred is not None and wred.min is not None and wred.min.value == Threshold(50_000, "ns") and wred.max is None


def test_a_file_of_the_lab_comes_before_the_profile_of_that_name(tmp_path: Path) -> None:
    (tmp_path / "trident-3.yml").write_text(PROFILE, encoding="utf-8")
    profile = switch_of(tmp_path, "default: {profile: trident-3}").profile
    assert profile is not None and profile.file == str(tmp_path / "trident-3.yml")
    again = switch_of(tmp_path, "default: {profile: trident-2.yml}").profile
    assert again is not None and again.file == "fabriclab/switches/trident-2.yml"


@pytest.mark.parametrize(
    ("text", "scale"),
    [("none", "none"), ("bandwidth", "bandwidth"), ("1/100", Fraction(1, 100)), ("0.5", Fraction(1, 2))],
)
def test_scale(tmp_path: Path, text: str, scale: object) -> None:
    assert switch_of(tmp_path, f"default: {{profile: mine, scale: {text}}}").scale == scale


def test_without_bandwidth_nothing_is_scaled(tmp_path: Path) -> None:
    profile = PROFILE.replace("bandwidth: 1 Tbps\nport_rate: 100 Gbps\n", "")
    assert switch_of(tmp_path, "default: {profile: mine}", profile=profile).scale == "none"
    assert switch_of(tmp_path, "default: {pools: {shared: {size: 1 MB}}}").scale == "none"


def test_profiles_are_read_anew_when_they_change(tmp_path: Path) -> None:
    assert len(switch_of(tmp_path, "default: {profile: mine}").buffer.pools) == 2
    assert (
        len(
            switch_of(
                tmp_path,
                "default: {profile: mine}",
                profile=PROFILE.replace("egress: {", "other: {size: 1 MB}, egress: {"),
            ).buffer.pools
        )
        == 3
    )


# -- Settings ----------------------------------------------------------------------------------------


def test_settings_reach_every_depth(tmp_path: Path) -> None:
    changes = {
        "switches.default.queues.3..4.wred.min": "40 KB",
        "switches.default.queues.7.limit": "0.064 MB",
        "switches.s1.pfc.watchdog.detection": "5 ms",
        "switches.s1.pfc.priorities": "4, 3",
        "switches.default.maps.dscp_to_tc.ef": "2",
        "switches.default.pools.egress.size": "2 MB",
        "switches.default.scale": "none",
    }
    switch = switch_of(tmp_path, "default: {profile: mine}", changes)
    wred = switch.buffer.queues[4].wred
    assert wred is not None and wred.min is not None and wred.min.value == Threshold(40_000, "bytes")
    assert limits(switch, 7) == ("egress", None, 64_000)
    pfc = switch.buffer.pfc
    assert pfc is not None and pfc.priorities is not None and pfc.priorities.value == (3, 4)
    assert pfc.watchdog is not None and pfc.watchdog.detection is not None and pfc.watchdog.detection.value == 5_000_000
    assert switch.buffer.maps.dscp_to_tc[46].value == 2
    size = switch.buffer.pools["egress"].size
    assert size is not None and size.value == 2_000_000
    assert switch.scale == "none"


@pytest.mark.parametrize(
    ("key", "text", "value"),
    [
        ("limit", "2000 ms", "2 s"),
        ("switches.default.queues.3..4.limit", "0.064 MB", "64 KB"),
        ("switches.default.queues.default.limit", "none", "none"),
        ("switches.s1.queues.3.alpha", "0.125", "1/8"),
        ("switches.default.scale", "0.01", "1/100"),
        ("switches.default.scale", "bandwidth", "bandwidth"),
        ("switches.default.queues.default.wred.min", "0.03 MB", "30 KB"),
        ("switches.default.queues.default.wred.max", "0.05 ms", "50 us"),
        ("switches.default.queues.default.wred.ecn", "on", True),
        ("switches.default.queues.default.wred.probability", "5.0 %", "5 %"),
        ("switches.default.queues.2.voq_limit", "0.005 s", "5 ms"),
        ("switches.default.queues.2.pir", "0.1 Gbps", "100 Mbps"),
        ("switches.default.queues.2.weight", "07", 7),
        ("switches.default.priority_groups.3..4.headroom", "auto", "auto"),
        ("switches.default.priority_groups.3..4.lossless", "yes", True),
        ("switches.default.pfc.priorities", "4,3", "3, 4"),
        ("switches.default.pfc", "none", "none"),
        ("switches.default.pfc.watchdog.restoration", "0.2 s", "200 ms"),
        ("switches.default.maps.dscp_to_tc.0..7", "1", 1),
        ("switches.default.aqm.target", "5000 us", "5 ms"),
        ("switches.default.aqm.ecn", "off", False),
        ("switches.default.buffer", "0.064 MB", "64 KB"),
        ("events.storm.until", "0.6 s", "600 ms"),
        ("events.storm.priorities", "3", "3"),
    ],
)
def test_values_are_compared_by_what_their_key_holds(key: str, text: str, value: object) -> None:
    assert normalise(key, text, MappingValue({}, {}, Place("experiment.yml"))) == value


# -- Alpha -------------------------------------------------------------------------------------------


@given(st.integers(-8, 7))
def test_alpha_is_read_as_fraction_and_as_decimal(log: int) -> None:
    alpha = Fraction(2) ** log
    assert PowerOfTwo().parse(format_fraction(alpha)) == PowerOfTwo().parse(str(float(alpha))) == log


@given(st.fractions(Fraction(1, 256), 128, max_denominator=1000))
def test_other_alphas_name_their_neighbours(alpha: Fraction) -> None:
    try:
        assert Fraction(2) ** PowerOfTwo().parse(str(alpha)) == alpha
    except ValueError as error:
        below_text, above_text = str(error).rpartition("write ")[2].split(" or ")
        below_alpha, above_alpha = parse_fraction(below_text), parse_fraction(above_text)
        assert below_alpha is not None and above_alpha == 2 * below_alpha and below_alpha < alpha < above_alpha


# -- Whatever stands there ---------------------------------------------------------------------------

NAMES = ("default", "s1", "3", "3..4", "9", "ingress", "0..63", "ef")
WORDS = sorted({*SWITCH.names, *QUEUE.names, *WRED.names, *GROUP.names, *PFC.names, *MAPS.names, *NAMES})
PIECES = (
    "",
    "none",
    "auto",
    "mine",
    "trident-3",
    "30 KB",
    "5 ms",
    "1/8",
    "3",
    "50 %",
    "true",
    "1 Gbps",
    "ingress",
    "dwrr",
    "strict",
    "[",
    "-1",
)
ANYTHING = st.recursive(
    st.sampled_from(PIECES),
    lambda below: st.dictionaries(st.sampled_from(WORDS), below, max_size=4) | st.lists(below, max_size=3),
    max_leaves=12,
)


@settings(
    max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)
@given(default=st.dictionaries(st.sampled_from(SWITCH.names), ANYTHING, max_size=5), in_the_profile=st.booleans())
def test_whatever_stands_there_is_read_or_refused(
    tmp_path: Path, default: dict[str, object], in_the_profile: bool
) -> None:
    # JSON is YAML, too.
    lines = "".join(f"{key}: {json.dumps(value)}\n" for key, value in default.items() if key != "pools")
    profile = PROFILE.partition("queues:")[0] + lines if in_the_profile else PROFILE
    switches = (
        "default: {profile: mine}" if in_the_profile else f"default: {json.dumps({'profile': 'mine', **default})}"
    )
    try:
        experiment_of(tmp_path, switches, profile=profile)
    except LabError as errors:
        assert errors.mistakes
        assert all("\n" not in str(problem) for problem in errors.mistakes)


# -- Events, probes, queue management ----------------------------------------------------------------


def test_queue_management_of_a_port(tmp_path: Path) -> None:
    experiment = experiment_of(
        tmp_path, "default: {buffer: 1 MB, aqm: {kind: codel, target: 5 ms}}, s1: {aqm: {kind: fq_codel, ecn: on}}"
    )
    aqm = experiment.switches["s1"].aqm
    assert aqm is not None and aqm.kind is not None
    assert aqm.kind.value == "fq_codel"
    assert {name: written.value for name, written in aqm.values.items()} == {"target": 5_000_000, "ecn": True}
    off = (
        experiment_of(tmp_path, "default: {buffer: 1 MB, aqm: {kind: codel}}, s1: {aqm: none, ecn_threshold: 30 KB}")
        .switches["s1"]
        .aqm
    )
    assert off is not None and off.is_none
