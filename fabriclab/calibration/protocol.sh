#!/bin/bash
# The calibration protocol of fabriclab. It measures two servers and the switch between them, and runs unchanged on
# hardware and on the hosts of a lab. It needs bash 5, ping (iputils), iperf3, ss (iproute2) and Linux 4.20 or later.
#
#   server B:  bash protocol.sh serve
#   server A:  bash protocol.sh measure ADDRESS-OF-B [SECONDS [PHASE...]] > measured.txt
#
# SECONDS (2 to 60, default 2) is how long each phase sends. The phases are idle, one, eight and dctcp. Only root may
# choose DCTCP and ECN: as root, the protocol sets net.ipv4.tcp_ecn on server A while it runs, and restores it. The
# output is text in sections, each begun by a line `== PHASE WHAT`. What could not be measured is a section
# `== PHASE absent`, which holds the reason. docs/calibrate.md explains the numbers.

set -u
export LC_ALL=C
PORT=5201
PHASES=(idle one eight dctcp)
ECN=/proc/sys/net/ipv4/tcp_ecn
SETTLE_S=0.5
TAIL_S=0.1

die() {
    printf 'protocol.sh: %s\n' "$*" >&2
    exit 2
}

need() {
    local program
    for program in "$@"; do
        [[ -n $(type -P "$program") ]] ||
            die "$program is not installed; install it (Debian: iputils-ping, iperf3, iproute2)"
    done
}

absent() {
    printf '== %s absent\n%s\n' "$1" "$2"
}

# pings COUNT: small packets that a switch may mark (ECT(0)), so that it need not drop them above a threshold. Thirty
# pings take turns: one that sends more often waits in busy loops, which in virtual time take minutes.
pings() {
    local each all=()
    for each in {10..39}; do
        ping -n -Q 2 -i 0.2 -c "$1" -W 1 "$ADDRESS" >"$SCRATCH/ping.$each" 2>&1 &
        all+=($!)
        sleep 0.006
    done
    wait "${all[@]}"
    grep -hE '^ping:|bytes from|packets transmitted' "$SCRATCH"/ping.??
}

# connections PHASE WHAT: the kernel's counters of each connection to server B, and the time in microseconds.
connections() {
    printf '== %s %s\n' "$1" "$2"
    printf 'time_us %s\n' "${EPOCHREALTIME/./}"
    ss -H -O -t -i -n state established dst "$ADDRESS" dport = ":$PORT" 2>&1
}

# flows PHASE COUNT CONTROL: sends for SECONDS; from SETTLE_S to TAIL_S before the end it counts, with pings beside it.
flows() {
    local phase=$1 pinging
    iperf3 -c "$ADDRESS" -p "$PORT" -t 0 -i 0 -l 16K -P "$2" -C "$3" >"$SCRATCH/iperf3" 2>&1 &
    SENDING=$!
    sleep "$SETTLE_S"
    connections "$phase" before >"$SCRATCH/before"
    pings "$PINGS" >"$SCRATCH/pings" &
    pinging=$!
    sleep "$COUNTED_S"
    connections "$phase" after >"$SCRATCH/after"
    sleep "$TAIL_S"
    if kill -INT "$SENDING" 2>/dev/null; then
        cat "$SCRATCH/before" "$SCRATCH/after"
        wait "$pinging"
        printf '== %s ping\n' "$phase"
        cat "$SCRATCH/pings"
    else
        kill "$pinging" 2>/dev/null
        absent "$phase" "$(grep -m 1 error "$SCRATCH/iperf3" || echo "iperf3 ended too early and does not say why")"
    fi
    wait "$SENDING" 2>/dev/null
    SENDING=
    # The last data must leave before the next phase begins, and the server must take the next client.
    sleep 0.3
}

# Whether this user can have a congestion control with this value of tcp_ecn, and if not, why.
refusal() {
    local control=$1 ecn=$2
    if [[ " $CONTROLS " != *" $control "* ]]; then
        echo "$control is not available on server A; run modprobe tcp_$control as root on A and B"
    elif ((EUID != 0)) && [[ $control == dctcp ]]; then
        echo "only root may choose DCTCP and ECN on server A; run the protocol as root"
    elif ((EUID != 0)) && [[ $(<"$ECN") != [02] ]]; then
        echo "net.ipv4.tcp_ecn is $(<"$ECN") on server A, so CUBIC would use ECN; set it to $ecn, or be root"
    elif ((EUID == 0)) && [[ $(<"$ECN") != "$ecn" ]] && ! { echo "$ecn" >"$ECN"; } 2>/dev/null; then
        echo "net.ipv4.tcp_ecn cannot be set to $ecn on server A"
    fi
}

# sent PHASE COUNT CONTROL ECN
sent() {
    local why
    why=$(refusal "$3" "$4")
    if [[ -n $why ]]; then
        absent "$1" "$why"
    else
        flows "$1" "$2" "$3"
    fi
}

phase() {
    case $1 in
    idle)
        echo "== idle ping"
        pings 5
        ;;
    one) sent one 1 cubic 2 ;;
    eight) sent eight 8 cubic 2 ;;
    dctcp) sent dctcp 1 dctcp 1 ;;
    esac
}

clean_up() {
    [[ -z $SENDING ]] || kill "$SENDING" 2>/dev/null
    ((EUID != 0)) || [[ $(<"$ECN") == "$OLD_ECN" ]] || echo "$OLD_ECN" >"$ECN"
    rm -rf "$SCRATCH"
}

measure() {
    local each answer
    need ping iperf3 ss cat grep sleep mktemp rm uname
    [[ -n ${EPOCHREALTIME:-} ]] || die "bash is too old; version 5 is needed"
    [[ $SECONDS_EACH =~ ^([2-9]|[1-5][0-9]|60)$ ]] ||
        die "SECONDS is $SECONDS_EACH; write a whole number from 2 to 60"
    for each in "$@"; do
        [[ " ${PHASES[*]} " == *" $each "* ]] || die "$each is not a phase; write some of: ${PHASES[*]}"
    done
    answer=$(ping -n -c 1 -W 2 "$ADDRESS" 2>&1) || die "$ADDRESS does not answer a ping; write the address of server B"
    # ss takes no names.
    [[ $answer =~ ^PING[^\(]*\(([0-9a-fA-F:.]+)\) ]] && ADDRESS=${BASH_REMATCH[1]}
    PINGS=$((SECONDS_EACH * 5 - 4))
    COUNTED_S=$((SECONDS_EACH - 1)).4
    CONTROLS=$(</proc/sys/net/ipv4/tcp_available_congestion_control)
    OLD_ECN=$(<"$ECN")
    SENDING=
    SCRATCH=$(mktemp -d) || die "cannot make a directory for temporary files; set TMPDIR"
    trap clean_up EXIT
    trap 'exit 130' INT TERM
    echo "fabriclab-calibration 1"
    echo "seconds $SECONDS_EACH"
    echo "kernel $(uname -r)"
    for each in "${PHASES[@]}"; do
        if (($# == 0)) || [[ " $* " == *" $each "* ]]; then
            phase "$each"
        fi
    done
    echo "== end"
}

case ${1:-} in
serve)
    need iperf3
    exec iperf3 -s -p "$PORT"
    ;;
measure)
    [[ -n ${2:-} ]] || die "measure needs the address of server B: protocol.sh measure ADDRESS [SECONDS [PHASE...]]"
    ADDRESS=$2
    SECONDS_EACH=${3:-2}
    measure "${@:4}"
    ;;
*)
    die "write \`protocol.sh serve\` on server B, then \`protocol.sh measure ADDRESS\` on server A"
    ;;
esac
