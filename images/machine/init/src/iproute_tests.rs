use std::collections::HashMap;

use super::*;

fn interfaces() -> Interfaces {
    Interfaces(HashMap::from([
        ("eth1".to_owned(), 2),
        ("eth2".to_owned(), 3),
    ]))
}

fn is_interpreted(tool: Tool, text: &str) -> bool {
    compile(tool, text, &mut interfaces()).unwrap().is_some()
}

#[test]
fn what_our_compilers_write_is_interpreted() {
    for line in [
        "address add 10.0.0.1/31 dev eth1",
        "neighbour replace 10.0.0.0 lladdr 02:fa:00:00:00:01 dev eth1 nud permanent",
        "route add 10.0.0.4/32 rto_min 5ms initcwnd 10 quickack 1 window 29200 via 10.0.0.0 dev eth1",
        "route add default via fe80::1 dev eth1",
        "route replace 10.1.0.0/16 nexthop via 10.0.0.0 dev eth1 nexthop via 10.0.0.2 dev eth2 weight 2",
        "link set dev eth1 up mtu 9000",
        "route add default table 101 rto_min 10ms initcwnd 10 via 10.0.0.0 dev eth1",
        "rule add from 10.64.0.8/29 table 101 priority 101",
        "mptcp limits set subflow 7 add_addr_accepted 8",
        "mptcp endpoint add 10.64.0.8 dev eth1 id 2 subflow fullmesh",
        "",
        "# a comment",
    ] {
        assert!(is_interpreted(Tool::Ip, line), "{line}");
    }
    for line in [
        "qdisc add dev eth1 root handle 1: tbf rate 1000000000bit burst 1514 limit 64000 overhead 24 mpu 84",
        "qdisc add dev eth1 parent 1:1 handle 2: netem limit 1000000 delay 25000ns",
        "qdisc add dev eth1 parent 2:1 handle 3: red limit 64000 min 30000 max 30001 probability 1 avpkt 1000 burst 30 \
         bandwidth 1000000000bit ecn nodrop",
        "qdisc replace dev eth1 parent 2:1 handle 3: bfifo limit 64000",
        "qdisc change dev eth1 parent 3:1 handle 4: bfifo limit 64000",
        "qdisc change dev eth1 parent 2:1 handle 3: red limit 0 min 30000 max 30001 probability 1 avpkt 1000 burst 30 \
         bandwidth 1000000000bit ecn nodrop",
        "qdisc add dev eth1 parent 2:1 handle 3: codel limit 42 target 5000us interval 100000us ecn",
        "qdisc add dev eth1 parent 2:1 handle 3: fq_codel limit 42 memory_limit 256000 target 5ms interval 100ms noecn \
         flows 64 quantum 1514",
        "qdisc add dev eth1 parent 2:1 handle 3: pie limit 42 target 15ms tupdate 15ms ecn",
        "qdisc add dev eth1 parent 1:21 handle 21: fq limit 9906 flow_limit 100 quantum 3028 pacing",
    ] {
        assert!(is_interpreted(Tool::Tc, line), "{line}");
    }
}

#[test]
fn everything_else_belongs_to_the_real_tool() {
    for line in [
        "address add 10.0.0.1/33 dev eth1",
        "address add 10.0.0.1/24 dev eth9",
        "address add 10.0.0.1/24 dev eth1 scope link",
        "address add 010.0.0.1/24 dev eth1",
        "route add 10.1.0.0/16 via 10.0.0.0 dev eth1 table 254",
        "route add 10.1.0.0/16 table local via 10.0.0.0 dev eth1",
        "route add 10.1.0.0/16 via fe80::1 dev eth1",
        "route add 10.1.0.0/16 via 10.0.0.0 dev eth1 rto_min 5",
        "route add 10.1.0.0/16 mtu 0x10 via 10.0.0.0",
        "neighbour add 10.0.0.0 lladdr 02:fa:00:00:00:01 dev eth1",
        "neighbour add 10.0.0.0 dev eth1 nud permanent",
        "link set eth1 down",
        "rule add from 10.0.0.0/8 table 7",
        "rule add from 10.0.0.0/8 table 7 priority 7 prohibit",
        "mptcp limits set add_addr_accepted 8",
        "mptcp limits set subflow 7 add_addr_accepted 8 subflow 7",
        "mptcp endpoint add 10.64.0.8 dev eth9 id 2 subflow",
        "mptcp endpoint add 10.64.0.8 dev eth1 id 256 subflow",
        "mptcp endpoint add 10.64.0.8 dev eth1 id 2 laminar",
        "mptcp endpoint add fe80::1 dev eth1 id 2 subflow",
        "mptcp endpoint show",
        "address add 10.0.0.1/24 dev eth1 # why",
        "address add 10.0.0.1/24 \\",
    ] {
        assert!(!is_interpreted(Tool::Ip, line), "{line}");
    }
    for line in [
        "qdisc add dev eth1 root handle 1: tbf rate 1gbit burst 1514 latency 1ms",
        "qdisc add dev eth1 root handle 1: tbf rate 1gbit burst 1514 burst 1514 limit 64000",
        "qdisc add dev eth1 root handle 1: tbf rate 1.5gbit burst 1514 limit 64000",
        "qdisc add dev eth1 root handle 1: tbf rate 0bit burst 1514 limit 64000",
        "qdisc add dev eth1 root netem delay 25us 5us",
        "qdisc add dev eth1 root bfifo limit 64k",
        "qdisc add dev eth1 root fq maxrate 1gbit",
        "qdisc add dev eth1 root red limit 64000 min 30000 max 30001 avpkt 1000 burst 2 bandwidth 1gbit",
        "qdisc add dev eth1 root red limit 64000 min 30000 max 30001 avpkt 1000 burst 30",
        "qdisc add dev eth1 root red limit 64000 min 30000 max 30001 avpkt 1000 burst 30 bandwidth 100gbit",
        "qdisc add dev eth1 root codel limit 0",
        "qdisc add dev eth1 root codel limit 1 limit 2",
        "qdisc add dev eth1 root codel target 500ns",
        "qdisc add dev eth1 root codel ecn noecn",
        "qdisc add dev eth1 root codel ce_threshold 1ms",
        "qdisc add dev eth1 root fq_codel memory_limit 32Mb",
        "qdisc add dev eth1 root pie interval 15ms",
        "qdisc change dev eth1 root netem delay 25us",
        "qdisc change dev eth1 root red limit 64000 min 30000 max 30001 avpkt 1000 burst 30 bandwidth 1gbit",
        "qdisc add dev eth1 root red limit 0 min 30000 max 30001 avpkt 1000 burst 30 bandwidth 1gbit",
        "class add dev eth1 parent 1: classid 1:1 htb rate 1gbit",
    ] {
        assert!(!is_interpreted(Tool::Tc, line), "{line}");
    }
}

#[test]
fn one_strange_line_leaves_the_whole_file_to_the_tool() {
    assert!(!is_interpreted(
        Tool::Ip,
        "address add 10.0.0.1/24 dev eth1\nrule add from all table 7\n"
    ));
}

#[test]
fn a_refusal_reads_as_the_tools_print_it() {
    let refusal = |message: Option<&str>| Refusal {
        errno: nix::errno::Errno::EEXIST,
        message: message.map(str::to_owned),
    };
    assert_eq!(
        words_of_tool(&refusal(None)),
        "RTNETLINK answers: File exists"
    );
    assert_eq!(
        words_of_tool(&refusal(Some("Nexthop has invalid gateway."))),
        "Error: Nexthop has invalid gateway."
    );
    assert_eq!(
        words_of_tool(&refusal(Some("Exclusivity flag on, cannot modify"))),
        "Error: Exclusivity flag on, cannot modify."
    );
}

#[test]
fn lines_with_our_own_qdisc_are_never_left_to_the_tool() {
    let port = "qdisc add dev eth1 root handle 1: switch_port rate 1gbit";
    let failure = |text: &str| compile(Tool::Tc, text, &mut interfaces()).err().unwrap();
    assert_eq!(
        Tool::Tc.parts(&format!(
            "{port}\n# a comment\nqdisc add dev eth2 root cake\n"
        )),
        [
            format!("{port}\n"),
            "\n# a comment\nqdisc add dev eth2 root cake\n".to_owned()
        ]
    );
    assert_eq!(Tool::Ip.parts(port), [port]);
    let wrong = failure(&format!(
        "{port}\n  qdisc add dev eth2 root switch_port rate 1 \n"
    ));
    assert_eq!(
        wrong.text.as_deref(),
        Some("qdisc add dev eth2 root switch_port rate 1")
    );
    assert_eq!(
        (wrong.line, wrong.message.as_str()),
        (Some(2), "rate \"1\": must be a rate such as 1000000000bit")
    );
    assert!(is_interpreted(Tool::Tc, port));
    assert!(Tool::Tc.lacks_words_of(port) && !Tool::Ip.lacks_words_of(port));
    assert!(!Tool::Tc.lacks_words_of("# switch_port\nqdisc add dev eth1 root fq\n"));
}

#[test]
fn a_users_own_qdisc_is_told_its_words_as_one_text() {
    let own = "qdisc add dev eth1 parent 1:1 handle 3: own mine buffer 64000 limit 7";
    assert!(is_interpreted(Tool::Tc, own) && Tool::Tc.lacks_words_of(own));
    let requests = compile(Tool::Tc, own, &mut interfaces()).unwrap().unwrap();
    let (_, _, Command::Route(mut request)) = requests.into_iter().next().unwrap() else {
        panic!("of tc all is routing netlink");
    };
    let bytes = request.finish(1);
    let has = |text: &[u8]| bytes.windows(text.len()).any(|part| part == text);
    assert!(has(b"mine\0") && has(b"buffer 64000 limit 7\0"));
    let failure = compile(Tool::Tc, "qdisc add dev eth1 own", &mut interfaces()).err();
    assert!(failure.unwrap().message.starts_with("must be qdisc add"));
}
