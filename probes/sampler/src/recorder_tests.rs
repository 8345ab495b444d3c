use super::*;

const HEADER: &str = include_str!(concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../../images/machine/kernel/tree/include/uapi/linux/fabriclab_samples.h"
));

fn record(time_ns: u64, item: u32, payload: &[u8]) -> Vec<u8> {
    let mut bytes = time_ns.to_ne_bytes().to_vec();
    bytes.extend(item.to_ne_bytes());
    bytes.extend((payload.len() as u32).to_ne_bytes());
    bytes.extend(payload);
    bytes.resize(bytes.len().next_multiple_of(ALIGNMENT_BYTES), 0);
    bytes
}

#[test]
fn the_numbers_are_those_of_the_kernels_header() {
    for (name, number) in [
        ("SAMPLES_START", SAMPLES_START),
        ("SAMPLES_QUEUE", SAMPLES_QUEUE),
        ("SAMPLES_CONNECTIONS", SAMPLES_CONNECTIONS),
        ("SAMPLES_MARK", SAMPLES_MARK),
        ("SAMPLES_INTERFACE", SAMPLES_INTERFACE),
        ("SAMPLES_SWITCH_PORT", SAMPLES_SWITCH_PORT),
    ] {
        assert!(
            HEADER.contains(&format!("\t{name} = {number},\n")),
            "{name}"
        );
    }
}

#[test]
fn records_are_split_and_an_item_that_is_gone_has_no_bytes() {
    let bytes = [record(7, 3, &[1, 2, 3]), record(8, 0, &[])].concat();
    let (first, rest) = split_record(&bytes).unwrap();
    assert_eq!(
        first,
        Record {
            time_ns: 7,
            item: 3,
            payload: &[1, 2, 3]
        }
    );
    let (second, rest) = split_record(rest).unwrap();
    assert_eq!(
        (second.time_ns, second.item, second.payload.len()),
        (8, 0, 0)
    );
    assert_eq!(split_record(rest), None);
}

#[test]
fn a_record_that_is_not_whole_waits_for_its_end() {
    let bytes = record(7, 3, &[1, 2, 3, 4, 5, 6, 7, 8, 9]);
    for length in 0..bytes.len() {
        assert_eq!(split_record(&bytes[..length]), None, "{length}");
    }
}

/// A file of records, which stands for the kernel's.
fn recorder(bytes: &[u8], buffer: usize) -> Recorder {
    let mut file = tempfile::tempfile().unwrap();
    file.write_all(bytes).unwrap();
    std::io::Seek::rewind(&mut file).unwrap();
    Recorder {
        file,
        buffer: vec![0; buffer],
        kept: 0,
    }
}

#[test]
fn records_that_two_reads_share_are_put_together() {
    let records: Vec<_> = (0..100).map(|time| record(time, 0, &[9; 40])).collect();
    let mut recorder = recorder(&records.concat(), 200);
    let mut times = Vec::new();
    recorder
        .read(|record| {
            assert_eq!(record.payload, [9; 40]);
            times.push(record.time_ns);
            Ok(())
        })
        .unwrap();
    assert_eq!(times, (0..100).collect::<Vec<_>>());
}
