use super::*;
use crate::fixtures::LINK_STATISTICS;

#[test]
fn counters_are_those_that_the_kernel_told() {
    // What the sampler of that run and `tc -s` on its root qdisc agreed on for the sent side.
    let shown = [1340954, 20239, 0, 51962678, 34339, 0].map(Some);
    assert_eq!(InterfaceQuery.read(&LINK_STATISTICS), Some(shown));
}

#[test]
fn an_answer_without_counters_is_no_answer() {
    assert_eq!(InterfaceQuery.read(&LINK_STATISTICS[..HEADER_BYTES]), None);
    assert_eq!(InterfaceQuery.read(&[]), None);
}

#[test]
fn each_column_has_its_own_counter() {
    let mut answer = vec![0; HEADER_BYTES];
    let counters: Vec<u8> = (100u64..124).flat_map(u64::to_ne_bytes).collect();
    answer.extend_from_slice(&(4 + counters.len() as u16).to_ne_bytes());
    answer.extend_from_slice(&IFLA_STATS_LINK_64.to_ne_bytes());
    answer.extend_from_slice(&counters);
    assert_eq!(
        InterfaceQuery.read(&answer),
        Some([102, 100, 106, 103, 101, 107].map(Some))
    );
}
