//! What tc computes for the kernel: times in scheduler ticks, and RED's constants. Source: iproute2 6.15,
//! tc/{tc_core,tc_red,q_red}.c.

/// Linux, include/net/pkt_sched.h: PSCHED_SHIFT is 6, a tick is 64 ns.
const TICKS_PER_US: f64 = 1000.0 / 64.0;
/// Entries of tc's tables.
pub const TABLE: usize = 256;

/// The ticks that `bytes` take at a rate in bytes a second.
pub fn transmission_ticks(bytes_per_second: u32, bytes: u32) -> u32 {
    (1_000_000.0 * (f64::from(bytes) / f64::from(bytes_per_second)) * TICKS_PER_US).ceil() as u32
}

/// RED's averaging: the smallest n with `burst + 1 - min/avpkt <= (1 - (1 - W)^burst) / W`, W = 2^-n. Nothing when tc
/// would refuse.
pub fn averaging_log(min: u32, burst: u32, average_packet: u32) -> Option<u8> {
    let packets = f64::from(burst) + 1.0 - f64::from(min) / f64::from(average_packet);
    if packets < 1.0 {
        return None;
    }
    let mut weight = 0.5_f64;
    for log in 1..32 {
        if packets <= (1.0 - (1.0 - weight).powf(f64::from(burst))) / weight {
            return Some(log);
        }
        weight /= 2.0;
    }
    None
}

/// RED's probability slope, -log2(probability / (max - min)). Nothing when tc would refuse.
pub fn probability_log(min: u32, max: u32, probability: f64) -> Option<u8> {
    let range = max.checked_sub(min)?;
    if range == 0 {
        return Some(0);
    }
    let mut slope = probability / f64::from(range);
    for log in 0..32 {
        if slope > 1.0 {
            return Some(log);
        }
        slope *= 2.0;
    }
    None
}

/// The table of how the average decays on an idle link, and the logarithm of its step. Nothing when tc would refuse.
pub fn idle_damping(
    averaging_log: u8,
    average_packet: u32,
    bytes_per_second: u32,
) -> Option<(u8, [u8; TABLE])> {
    let packet_ticks = f64::from(transmission_ticks(bytes_per_second, average_packet));
    let decay = -(1.0 - 1.0 / f64::from(1_u32 << averaging_log)).ln() / packet_ticks;
    let longest = 31.0 / decay;
    let step_log = (0..32).find(|log| longest / ((1_u64 << log) as f64) < 512.0)?;
    let mut table = [31; TABLE];
    for (index, entry) in table.iter_mut().enumerate().take(TABLE - 1) {
        // tc converts to a byte before it limits to 31.
        *entry = (((index as u64) << step_log) as f64 * decay) as i32 as u8;
        *entry = (*entry).min(31);
    }
    Some((step_log, table))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn transmission_time_of_a_frame() {
        // 1514 bytes at 1 Gbps: 12.112 us, 189.25 ticks of 64 ns.
        assert_eq!(transmission_ticks(125_000_000, 1514), 190);
    }

    #[test]
    fn a_burst_that_just_fills_the_threshold_weighs_the_newest_sample_most() {
        assert_eq!(averaging_log(30_000, 30, 1000), Some(1));
        assert_eq!(
            averaging_log(30_000, 2, 1000),
            None,
            "tc: burst is too small"
        );
        assert!(averaging_log(30_000, 300, 1000) > Some(5));
    }

    #[test]
    fn probability_one_over_one_byte() {
        assert_eq!(probability_log(30_000, 30_001, 1.0), Some(1));
        assert_eq!(probability_log(30_000, 30_000, 1.0), Some(0));
        assert_eq!(probability_log(30_001, 30_000, 1.0), None);
    }
}
