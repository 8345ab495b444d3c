//! The flow log: `# fabriclab-flows-2`, one row a flow and side, in the order in which flows end.

use std::fmt::{self, Write as _};
use std::fs::File;
use std::io::{self, Write as _};
use std::path::Path;

use crate::counters::TcpCounters;
use crate::errno;
use crate::trace::Side;

const HEADER: &str = "# fabriclab-flows-2\n\
    flow,side,status,start_ns,connected_ns,first_byte_ns,end_ns,bytes,retransmits,timeouts,marks,delivered,\
    min_rtt_us,srtt_us,transport,subflows\n";
/// Rows wait at most this long for their way to the file.
const FLUSH_INTERVAL_NS: i64 = 500_000_000;
/// Rows go to the file when this much waits.
const FLUSH_BYTES: usize = 64 * 1024;

/// How a flow ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    Complete,
    Stopped,
    Unstarted,
    /// The error's number.
    Failed(i32),
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Complete => f.write_str("complete"),
            Self::Stopped => f.write_str("stopped"),
            Self::Unstarted => f.write_str("unstarted"),
            Self::Failed(number) => write!(f, "failed: {}", errno::Name(*number)),
        }
    }
}

/// What a connection really was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Carried {
    Tcp,
    Mptcp,
    /// MPTCP was asked for, and plain TCP came of it.
    Fallback,
    /// A queue pair of the host's NIC.
    Roce,
    /// A remote procedure call.
    Homa,
}

impl fmt::Display for Carried {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Tcp => "tcp",
            Self::Mptcp => "mptcp",
            Self::Fallback => "fallback",
            Self::Roce => "roce",
            Self::Homa => "homa",
        })
    }
}

/// One row; times are nanoseconds after the epoch.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    pub flow: u32,
    pub side: Side,
    pub status: Status,
    pub start_ns: Option<i64>,
    pub connected_ns: Option<i64>,
    pub first_byte_ns: Option<i64>,
    pub end_ns: Option<i64>,
    pub bytes: u64,
    /// The sender's.
    pub tcp: TcpCounters,
    /// `None`: there was no connection.
    pub transport: Option<Carried>,
    /// Most subflows that were established at one time.
    pub subflows: Option<u32>,
}

pub struct FlowLog {
    file: File,
    buffer: String,
    flush_at_ns: Option<i64>,
}

impl FlowLog {
    pub fn create(path: &Path) -> io::Result<Self> {
        let mut file = File::create(path)?;
        file.write_all(HEADER.as_bytes())?;
        Ok(Self {
            file,
            buffer: String::with_capacity(2 * FLUSH_BYTES),
            flush_at_ns: None,
        })
    }

    /// Adds a row; it reaches the file with the next flush.
    pub fn write(&mut self, entry: &Entry, now_ns: i64) -> io::Result<()> {
        append_row(&mut self.buffer, entry).map_err(io::Error::other)?;
        self.flush_at_ns
            .get_or_insert(now_ns.saturating_add(FLUSH_INTERVAL_NS));
        if self.buffer.len() >= FLUSH_BYTES {
            self.flush()?;
        }
        Ok(())
    }

    /// When the rows that wait are due in the file; `None` if none waits.
    pub fn flush_at_ns(&self) -> Option<i64> {
        self.flush_at_ns
    }

    pub fn flush(&mut self) -> io::Result<()> {
        self.file.write_all(self.buffer.as_bytes())?;
        self.buffer.clear();
        self.flush_at_ns = None;
        Ok(())
    }
}

fn append_row(row: &mut String, entry: &Entry) -> fmt::Result {
    let side = match entry.side {
        Side::Src => "src",
        Side::Dst => "dst",
    };
    write!(row, "{},{side},{},", entry.flow, entry.status)?;
    for time_ns in [
        entry.start_ns,
        entry.connected_ns,
        entry.first_byte_ns,
        entry.end_ns,
    ] {
        append(row, time_ns)?;
    }
    write!(row, "{},", entry.bytes)?;
    append(row, entry.tcp.retransmits)?;
    append(row, entry.tcp.timeouts)?;
    append(row, entry.tcp.marks)?;
    append(row, entry.tcp.delivered)?;
    append(row, entry.tcp.min_rtt_us)?;
    append(row, entry.tcp.srtt_us)?;
    append(row, entry.transport)?;
    append(row, entry.subflows)?;
    row.pop();
    row.push('\n');
    Ok(())
}

/// A field and the comma behind it; an absent one is empty.
fn append(row: &mut String, field: Option<impl fmt::Display>) -> fmt::Result {
    match field {
        Some(value) => write!(row, "{value},"),
        None => row.write_char(','),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(status: Status) -> Entry {
        Entry {
            flow: 7,
            side: Side::Dst,
            status,
            start_ns: None,
            connected_ns: Some(-5),
            first_byte_ns: Some(10),
            end_ns: Some(20),
            bytes: 4096,
            tcp: TcpCounters::default(),
            transport: None,
            subflows: None,
        }
    }

    fn row(entry: &Entry) -> String {
        let mut text = String::new();
        append_row(&mut text, entry).expect("a string takes all");
        text
    }

    #[test]
    fn absent_is_empty() {
        assert_eq!(
            row(&entry(Status::Complete)),
            "7,dst,complete,,-5,10,20,4096,,,,,,,,\n"
        );
        let tcp = TcpCounters {
            retransmits: Some(1),
            srtt_us: Some(55),
            ..TcpCounters::default()
        };
        let sent = Entry {
            side: Side::Src,
            start_ns: Some(3),
            tcp,
            transport: Some(Carried::Mptcp),
            subflows: Some(8),
            ..entry(Status::Failed(libc::ECONNREFUSED))
        };
        assert_eq!(
            row(&sent),
            "7,src,failed: ECONNREFUSED,3,-5,10,20,4096,1,,,,,55,mptcp,8\n"
        );
    }

    #[test]
    fn every_row_has_the_columns_of_the_header() {
        let columns = HEADER
            .lines()
            .nth(1)
            .expect("column names")
            .split(',')
            .count();
        assert_eq!(row(&entry(Status::Stopped)).split(',').count(), columns);
    }

    #[test]
    fn rows_reach_the_file_with_a_flush() {
        let file = tempfile::NamedTempFile::new().expect("temporary file");
        let mut log = FlowLog::create(file.path()).expect("create");
        log.write(&entry(Status::Complete), 1_000).expect("write");
        assert_eq!(log.flush_at_ns(), Some(500_001_000));
        assert_eq!(std::fs::read_to_string(file.path()).expect("read"), HEADER);
        log.flush().expect("flush");
        assert_eq!(log.flush_at_ns(), None);
        assert_eq!(
            std::fs::read_to_string(file.path())
                .expect("read")
                .lines()
                .count(),
            3
        );
    }
}
