"""The workers of a cluster during a sweep: which may have points, which are left out and why, and which are gone."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future as Awaited
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Literal

from fabriclab.cluster.admission import Admission, major_versions
from fabriclab.cluster.messages import DaskClient, UnfitError, WorkerFacts
from fabriclab.engine.artefacts import EngineError

_AT_ONCE = 16
"""So many workers join at a time."""
_TRIES = 3
"""So often a worker that stays there may fail to join without a reason of its own."""
_SAY_AGAIN = 1.5


@dataclass(eq=False)
class Worker:
    """A worker."""

    address: str
    threads: int
    state: Literal["joining", "ready", "out"] = "joining"
    host: str = ""
    shares: bool = False
    """Whether it sees the sweep's directory."""
    has: int = 0
    """How many points it has."""
    tries: int = 0
    reason: str = ""
    """Why it is left out."""

    def __str__(self) -> str:
        return f"worker {self.address}{f' on {self.host}' if self.host else ''}"


class Workers:
    """The workers that are there, by their addresses."""

    def __init__(self, client: DaskClient, admission: Admission, say: Callable[[str], None]) -> None:
        self.by_address: dict[str, Worker] = {}
        self._client, self._admission, self._say = client, admission, say
        self._pool = ThreadPoolExecutor(_AT_ONCE, thread_name_prefix="fabriclab-admit")
        self._joining: dict[Awaited[WorkerFacts], Worker] = {}
        self._told = -1

    @property
    def ready(self) -> list[Worker]:
        """Those that may have points."""
        return [worker for worker in self.by_address.values() if worker.state == "ready"]

    @property
    def threads(self) -> int:
        """How many points run at a time."""
        return sum(worker.threads for worker in self.ready)

    def addresses(self) -> list[str]:
        """Return the addresses of those that have joined, with their points or without."""
        return [address for address, worker in self.by_address.items() if worker.host]

    def look(self, present: Mapping[str, int]) -> list[Worker]:
        """See which workers have come, and return those that are gone; `present` has each one's threads.

        Raises EngineError where nobody can join.
        """
        gone = [self.by_address.pop(address) for address in list(self.by_address) if address not in present]
        self._welcome()
        if new := [address for address in present if address not in self.by_address]:
            versions = self._versions()
            for address in new:
                self.by_address[address] = Worker(address, present[address])
                self._admit(self.by_address[address], versions.get(address))
        if not self._joining:
            self._admission.rest()
        self._tell(len(present))
        return gone

    def _versions(self) -> dict[str, dict[str, str]]:
        told = self._client.get_versions(packages=["fabriclab"])["workers"]
        return {address: major_versions(each) for address, each in told.items() if isinstance(each, Mapping)}

    def _admit(self, worker: Worker, versions: Mapping[str, str] | None) -> None:
        worker.state = "joining"
        worker.tries += 1
        self._joining[self._pool.submit(self._admission.admit, worker.address, versions)] = worker

    def _welcome(self) -> None:
        """Take note of who has joined by now, and of who can't."""
        for future in [future for future in self._joining if future.done()]:
            worker = self._joining.pop(future)
            if self.by_address.get(worker.address) is not worker:
                continue  # gone meanwhile
            error = future.exception()
            if error is None:
                looked = future.result()
                worker.state, worker.host, worker.shares = "ready", looked.host, looked.shares
            elif isinstance(error, EngineError):
                raise error
            elif isinstance(error, UnfitError):
                self.leave_out(worker, str(error))
            elif worker.tries < _TRIES:
                self._admit(worker, None)
            else:
                self.leave_out(worker, f"{type(error).__name__}: {error}")

    def _tell(self, present: int) -> None:
        ready = len(self.ready)
        if not present and not self._joining:
            self._once(0, "there are no workers yet; waiting for them (Ctrl-C stops the waiting, and nothing is lost)")
        elif ready > self._told * _SAY_AGAIN or (not self._joining and ready > self._told):
            self._once(ready, f"{_workers(ready)}, {self.threads} at a time" if ready else "")

    def _once(self, told: int, text: str) -> None:
        if told != self._told:
            self._told = told
            if text:
                self._say(text)

    def can_go_on(self, present: Mapping[str, int]) -> bool:
        """Return whether points can run, or will when somebody comes; not where all that are there are left out."""
        return not present or any(worker.state != "out" for worker in self.by_address.values())

    def reasons(self) -> list[str]:
        """Return why workers are left out."""
        return [f"{worker}: {worker.reason}" for worker in self.by_address.values() if worker.state == "out"]

    def free(self, *, ahead: bool) -> Iterator[Worker]:
        """Yield who may have one more point, again and again, until nobody may or takes one.

        `ahead`: each may have one that waits there.
        """
        passed: set[Worker] = set()
        while True:
            free = [one for one in self.ready if one.has < one.threads + ahead and one not in passed]
            if not free:
                return
            worker = min(free, key=lambda one: one.has / one.threads)
            had = worker.has
            yield worker
            if worker.has == had:
                passed.add(worker)

    def leave_out(self, worker: Worker, reason: str) -> None:
        """Give a worker no more points."""
        if worker.state != "out":
            worker.state, worker.reason = "out", reason
            self._say(f"{worker} is left out: {reason}")

    def start_again(self, worker: Worker) -> None:
        """Let a worker join again that was started anew."""
        if worker.state == "ready":
            worker.tries = 0
            self._admit(worker, None)

    def close(self) -> None:
        """End what is under way."""
        self._admission.close()
        self._pool.shutdown(wait=True, cancel_futures=True)


def _workers(count: int) -> str:
    return "1 worker has joined" if count == 1 else f"{count} workers have joined"
