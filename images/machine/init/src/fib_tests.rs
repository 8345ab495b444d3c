use super::*;

/// One attribute with its header.
fn attribute(kind: u16, payload: &[u8]) -> Vec<u8> {
    let mut request = Request::new(0, 0, &[]);
    let bare = request.finish(0).len();
    request.attribute(kind, payload).finish(0)[bare..].to_vec()
}

fn next_hop(flags: u8, interface: u32) -> Vec<u8> {
    let gateway = attribute(libc::RTA_GATEWAY, &[10, 0, 0, 1]);
    let mut bytes = ((NEXT_HOP_HEADER_BYTES + gateway.len()) as u16)
        .to_ne_bytes()
        .to_vec();
    bytes.extend([flags, 0]);
    bytes.extend(interface.to_ne_bytes());
    bytes.extend(gateway);
    bytes
}

fn message(kind: u16, payload: &[u8]) -> Vec<u8> {
    Request::new(kind, 0, payload).finish(0).to_vec()
}

fn route(table: u8, length: u8, attributes: &[Vec<u8>]) -> Vec<u8> {
    let mut payload = vec![0; ROUTE_HEADER_BYTES];
    payload[0] = libc::AF_INET as u8;
    payload[1] = length;
    payload[4] = table;
    payload[7] = libc::RTN_UNICAST;
    payload.extend(attributes.concat());
    message(libc::RTM_NEWROUTE, &payload)
}

fn prefix(text: &str) -> Prefix {
    text.parse().expect("a prefix")
}

fn take_messages(answer: &[u8], routes: &mut Routes) -> Result<bool> {
    let mut take = |message: &[u8]| take_route(message, routes);
    answers::take_messages(answer, libc::RTM_NEWROUTE, "the routes", &mut take)
}

#[test]
fn live_next_hops_of_the_main_table_are_found() {
    let hops = [next_hop(0, 3), next_hop(RTNH_F_LINKDOWN, 4), next_hop(0, 5)].concat();
    let answer = [
        route(
            libc::RT_TABLE_MAIN,
            31,
            &[
                attribute(libc::RTA_DST, &[10, 64, 0, 0]),
                attribute(libc::RTA_MULTIPATH, &hops),
            ],
        ),
        route(
            libc::RT_TABLE_MAIN,
            0,
            &[attribute(libc::RTA_OIF, &7u32.to_ne_bytes())],
        ),
        route(
            libc::RT_TABLE_LOCAL,
            32,
            &[attribute(libc::RTA_DST, &[10, 64, 0, 1])],
        ),
    ]
    .concat();
    let mut routes = Routes::new();
    assert_eq!(take_messages(&answer, &mut routes), Ok(false));
    let found: Vec<_> = routes.into_iter().collect();
    assert_eq!(
        found,
        [
            (prefix("0.0.0.0/0"), vec![7]),
            (prefix("10.64.0.0/31"), vec![3, 5])
        ]
    );
}

#[test]
fn routes_of_ipv6_are_found_beside_those_of_ipv4() {
    let network = "fd00:1::".parse::<Ipv6Addr>().expect("an address");
    let mut payload = vec![0; ROUTE_HEADER_BYTES];
    payload[0] = libc::AF_INET6 as u8;
    (payload[1], payload[4], payload[7]) = (127, libc::RT_TABLE_MAIN, libc::RTN_UNICAST);
    let default = payload.clone();
    payload.extend(attribute(libc::RTA_DST, &network.octets()));
    let hops = [next_hop(0, 3), next_hop(RTNH_F_DEAD, 4)].concat();
    payload.extend(attribute(libc::RTA_MULTIPATH, &hops));
    let mut default = [default, attribute(libc::RTA_OIF, &7u32.to_ne_bytes())].concat();
    default[1] = 0;
    let answer = [
        message(libc::RTM_NEWROUTE, &payload),
        message(libc::RTM_NEWROUTE, &default),
        route(libc::RT_TABLE_MAIN, 0, &[]),
    ]
    .concat();
    let mut routes = Routes::new();
    assert_eq!(take_messages(&answer, &mut routes), Ok(false));
    let found: Vec<_> = routes.into_iter().collect();
    assert_eq!(
        found,
        [
            (prefix("0.0.0.0/0"), vec![]),
            (prefix("::/0"), vec![7]),
            (prefix("fd00:1::/127"), vec![3])
        ]
    );
    assert_eq!(prefix("fd00:1::/127").family(), libc::AF_INET6);
}

#[test]
fn the_last_message_ends_the_answer() {
    let answer = message(libc::NLMSG_DONE as u16, &[0; 4]);
    assert_eq!(take_messages(&answer, &mut Routes::new()), Ok(true));
}

#[test]
fn a_refusal_and_a_cut_message_are_failures() {
    let refusal = message(libc::NLMSG_ERROR as u16, &(-libc::EPERM).to_ne_bytes());
    let mut routes = Routes::new();
    let failure = take_messages(&refusal, &mut routes).expect_err("must be refused");
    assert!(failure.message.contains("not permitted"), "{failure:?}");
    let whole = route(libc::RT_TABLE_MAIN, 0, &[]);
    assert!(take_messages(&whole[..whole.len() - 1], &mut routes).is_err());
}

#[test]
fn what_is_no_prefix_is_named() {
    for text in ["10.0.0.0", "10.0.0.0/33", "fd00::/129", "h1/24", ""] {
        let message = text.parse::<Prefix>().expect_err("must be refused");
        assert!(message.contains("is not a prefix"), "{message}");
    }
}
