"""How long flows take that share one link evenly, and what it costs that only a part of the link is used.

An M/G/1 queue with processor sharing: a flow of size x on a link of rate C, to whose load rho it belongs, takes
x / C / (1 - rho) on average, whatever the sizes of the others (Kleinrock, Queueing Systems II, section 4.4). A phantom
queue that drains at gamma C leaves gamma C to the flows, and their load of that is rho / gamma (Alizadeh et al., HULL,
NSDI 2012, section 7).
"""

from __future__ import annotations


def slowdown(load: float, drain: float = 1.0) -> float:
    """Return the mean completion time of a flow over that of the same flow alone on the whole link.

    `load` is the flows' share of the link's rate, `drain` the share of it that they may use (gamma). Raises ValueError
    where the flows are more than that share carries, or the share is none.
    """
    if not 0 < drain <= 1:
        raise ValueError(f"a drain rate of {drain:g} of the link's: it is above 0 and at most 1")
    if not 0 <= load < drain:
        raise ValueError(f"a load of {load:g} on {drain:g} of a link: it is at least 0 and below that")
    return 1 / (drain - load)
