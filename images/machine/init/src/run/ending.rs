//! How the traffic of a lab ends: in all of its machines at one instant, and when what programs have sent has arrived.

use crate::clock;
use crate::drain::Drain;
use crate::events::{self, Phase, Status};
use crate::failure::Result;
use crate::job::Job;
use crate::looks::Looks;
use crate::supervisor::Role;
use crate::ticks::TICK_NS;
use crate::timeline::Timeline;
use crate::wires;

use super::Run;

impl Run<'_> {
    /// The traffic has ended here; until it has in all machines, which go on at one instant. Returns when the last of
    /// it ended.
    pub(super) fn wait_for_parts(
        &mut self,
        epoch_ns: i64,
        job: &Job,
        timeline: &mut Timeline,
    ) -> Result<i64> {
        if job.wires.is_none() {
            return Ok(clock::monotonic_ns());
        }
        self.supervisor.terminate(Role::Traffic)?;
        let mut now_ns = clock::monotonic_ns();
        wires::end_traffic(now_ns)?;
        loop {
            if let Some(last_ns) = wires::last_end_ns()? {
                self.pass_until(wires::all_know_ns(last_ns), timeline)?;
                return Ok(last_ns);
            }
            now_ns = clock::whole_millisecond_after(now_ns, 1);
            self.pass_until(now_ns, timeline)?;
            if (now_ns - epoch_ns) % TICK_NS == 0 {
                events::progress();
            }
        }
    }

    /// Until no datagram has been in any machine's queues for long enough: nobody acknowledges them.
    pub(super) fn drain(
        &mut self,
        drain: &Drain,
        mut looks: Looks,
        timeline: &mut Timeline,
        limit_ns: i64,
    ) -> Result<()> {
        let mut look_ns = clock::monotonic_ns();
        let mut busy_ns = look_ns;
        let mut is_quiet = !drain.was_sent();
        let mut still_ns = 0;
        while look_ns < limit_ns {
            looks.tell(look_ns, is_quiet)?;
            self.pass_until(look_ns + wires::KNOWN_NS, timeline)?;
            if self.status == Status::Failed || looks.any_left()? {
                return Ok(());
            }
            if !looks.all_saw(look_ns)? {
                (busy_ns, still_ns) = (look_ns, drain.still_ns);
            }
            if look_ns - busy_ns >= still_ns {
                return Ok(());
            }
            look_ns += wires::KNOWN_NS;
            is_quiet = !drain.is_queued()?;
        }
        self.status = Status::Limit;
        Ok(())
    }

    /// Lets time pass, with the events that come due.
    fn pass_until(&mut self, until_ns: i64, timeline: &mut Timeline) -> Result<()> {
        while clock::monotonic_ns() < until_ns {
            let next_ns = timeline.next_ns().unwrap_or(until_ns).min(until_ns);
            let ended = self.supervisor.wait(Some(next_ns))?;
            self.check(Phase::Traffic, &ended);
            let ended = timeline.advance(self.lab, &mut self.supervisor)?;
            self.check(Phase::Traffic, &ended);
        }
        Ok(())
    }
}
