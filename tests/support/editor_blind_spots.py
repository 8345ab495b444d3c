"""The bad labs of tests/errors that no schema can find, by the reason why."""

from __future__ import annotations

from collections.abc import Mapping

BLIND_SPOTS: Mapping[str, str] = {
    "a schema cannot compare a quantity with a bound, or with another value": """
        aqm-fraction-of-a-microsecond aqm-times arrivals-load-out-of-range arrivals-stop-before-start
        arrivals-too-many-flows buffer-below-frame buffer-below-jumbo-frame event-after-the-limit
        fraction-of-a-byte group-count interval-out-of-range limit-before-stop long-all-to-all-stagger
        matrix-range-too-long matrix-seed-out-of-range matrix-seed-range matrix-too-large pause-storm-times
        probe-switches-interval query-fan-out-too-large query-request-too-small routing-bfd
        routing-hold-part-of-a-second routing-timers rto-min shuffle-partitions-too-small shuffle-replicas
        size-below-four-bytes size-range-backwards size-range-too-small stop-before-last-start
        program-serves stop-before-start switch-alpha-no-power switch-cell switch-group-xon switch-phantom
        switch-pir-below-cir switch-pools-too-many switch-scale-zero switch-wred-everything
        switch-wred-max-below-min threshold-above-buffer-of-one-switch threshold-at-buffer too-many-flows
        variant-that-cannot-run
    """,
    "it does not know the names that the topology, other sections and files have": """
        check-where event-unknown-node event-unknown-port group-in-hosts group-rack group-unknown matrix-axis
        program-after program-jars
        matrix-variant pairs-hot-spot-no-receiver pause-storm-host probe-pcap-ports
        probe-switches-port sharing-file-missing size-distribution-file-missing
        size-distribution-outside size-distribution-unknown
        switch-as-receiver
        switch-metrics switch-pool-unknown switch-profile-far-off switch-profile-outside
        switch-profile-unknown trace-missing trace-outside unknown-host-range unknown-port unknown-receiver
        unknown-sender unknown-switch unknown-traffic-in-probe two-racks
    """,
    "what is said together depends on more than one place: a layer, a section, the topology": """
        addresses-too-narrow aqm-and-threshold aqm-with-a-profile aqm-without-kind arrivals-burst-of-poisson
        arrivals-bursty-without-burst arrivals-jitter-of-fixed dctcp-without-ecn
        event-action-and-change flows-without-interval group-host-twice group-of-the-receiver group-rest
        ip-without-addresses kept-connections-over-mptcp long-receiver-and-receivers matrix-seed-twice
        roce-mtu roce-traffic
        matrix-value-that-cannot-run
        probe-connections-nobody program-all-serve program-circle hadoop-disk hadoop-jobs-off hadoop-two-clusters
        matrix-value-twice missing-buffer pairs-hot-share-of-random pairs-hot-spot-everybody
        pairs-hot-spot-missing pairs-only-receiver pairs-out-of-rack pause-storm-without-pfc query-asks-itself
        receiver-among-senders rounds-that-push senders-twice shuffle-on-one-host shuffle-source-is-the-mapper
        sharing-with-limit trimming-together trimming-without
        switch-alpha-and-limit switch-alpha-without-pool switch-group-lossy-headroom switch-keys-without-pools
        switch-lossless-without-pfc switch-map-ranges switch-memory-without-bound switch-neither-kind
        switch-pfc-without-priorities switch-pool-mistyped switch-pool-unused switch-pool-without-size
        switch-profile-and-buffer switch-queue-ranges switch-scale-without-profile switch-schedulers-mixed
        switch-settings-in-a-matrix switch-settings-twice switch-two-kinds switch-watchdog-without-detection
        switch-weight-of-strict switch-wred-nothing switch-wred-without-min too-many-senders
        traffic-all-disabled layer2-addresses layer2-members layer2-mptcp layer2-one-host-twice
        layer2-port-names layer2-same-address layer2-unlike-links profile-against-the-experiment
    """,
    "the value's unit is the metric's": """
        check-value
    """,
    "YAML itself is wrong, or another file": """
        duplicate-key key-no-word recursive-anchor profile-body profile-format profile-head profile-syntax
        topology-missing
    """,
}
"""Names of cases, with blanks between them; a new case is found by the schema or stands here."""
