use super::*;

/// What the controller answers, with these groups.
fn answer(groups: &[(&str, u32)]) -> Vec<u8> {
    let nested: Vec<u8> = groups
        .iter()
        .map(|(name, number)| {
            let mut group = attribute(libc::CTRL_ATTR_MCAST_GRP_ID, &number.to_ne_bytes());
            let name = [name.as_bytes(), &[0]].concat();
            group.extend(attribute(libc::CTRL_ATTR_MCAST_GRP_NAME, &name));
            attribute(1, &group)
        })
        .collect::<Vec<_>>()
        .concat();
    let mut payload = Family::header(libc::CTRL_CMD_GETFAMILY as u8, 1).to_vec();
    payload.extend(attribute(libc::CTRL_ATTR_FAMILY_ID, &23u16.to_ne_bytes()));
    payload.extend(attribute(libc::CTRL_ATTR_MCAST_GROUPS, &nested));
    payload
}

fn attribute(kind: i32, payload: &[u8]) -> Vec<u8> {
    let length = 4 + payload.len() as u16;
    let mut bytes = [&length.to_ne_bytes(), &(kind as u16).to_ne_bytes(), payload].concat();
    bytes.resize(bytes.len().next_multiple_of(4), 0);
    bytes
}

#[test]
fn family_and_group_are_found_by_name() {
    assert_eq!(
        read_family(&answer(&[("other", 8), ("events", 9)])),
        Some((23, 9))
    );
    assert_eq!(read_family(&answer(&[("other", 8)])), None);
    assert_eq!(read_family(&[]), None);
}
