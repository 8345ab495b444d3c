//! The tables that samples of switches fill.

use std::path::Path;

use crate::config::SwitchOutputs;
use crate::series::Series;

/// One table each for ports, queues, priority groups and pools, and for the packets that queues trimmed.
pub struct Tables {
    pub ports: Series,
    pub queues: Series,
    pub groups: Series,
    pub pools: Series,
    pub trimming: Option<Series>,
}

impl Tables {
    pub fn create(outputs: &SwitchOutputs) -> Result<Self, String> {
        Ok(Self {
            ports: Series::create(
                &outputs.ports,
                "fabriclab-switch-ports-1",
                "time_ns,port,marks,drops,lost,pauses_sent,pauses_received",
            )?,
            queues: Series::create(
                &outputs.queues,
                "fabriclab-switch-queues-1",
                "time_ns,port,queue,bytes,packets,watermark_bytes,sent_bytes,sent_packets,dropped_queue_limit,\
                 dropped_queue_pool,dropped_ingress,dropped_voq,dropped_wred,dropped_storm,dropped_reset,marked_wred,\
                 marked_phantom,pauses_received,paused_ns,storms",
            )?,
            groups: Series::create(
                &outputs.groups,
                "fabriclab-priority-groups-1",
                "time_ns,port,group,bytes,headroom_bytes,watermark_bytes,received_bytes,received_packets,discards,\
                 xoffs,xoff_ns",
            )?,
            pools: Series::create(
                &outputs.pools,
                "fabriclab-pools-1",
                "time_ns,switch,pool,size_bytes,reserved_bytes,used_bytes,watermark_bytes,headroom_bytes,\
                 headroom_watermark_bytes",
            )?,
            trimming: outputs.trimming.as_deref().map(create_trimming).transpose()?,
        })
    }

    fn all(&mut self) -> impl Iterator<Item = &mut Series> {
        [
            &mut self.ports,
            &mut self.queues,
            &mut self.groups,
            &mut self.pools,
        ]
        .into_iter()
        .chain(&mut self.trimming)
    }

    pub fn flush_by_time(&mut self, now_ns: u64) -> Result<(), String> {
        self.all()
            .try_for_each(|series| series.flush_by_time(now_ns))
    }

    /// Even if one of them fails, the others are written.
    pub fn flush(&mut self) -> Result<(), String> {
        self.all().map(Series::flush).fold(Ok(()), Result::and)
    }
}

fn create_trimming(path: &Path) -> Result<Series, String> {
    Series::create(
        path,
        "fabriclab-trimming-1",
        "time_ns,port,queue,trimmed_packets,trimmed_bytes,trimmed_drops",
    )
}
