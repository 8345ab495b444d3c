"""What the report of a large run costs: to build it, and to show it. Prints figures, judges nothing.

    python3 tests/bench/report.py [--flows N] [--hosts N]

A run of random flows is made (as in results.py) and ingested; then `write_report` runs in a process of its own, and
Debian's Chromium opens the page and scrolls to its explorer. Meant for a million flows: under 5 s to build, under 3 s
to show.
"""

from __future__ import annotations

import argparse
import multiprocessing
import shutil
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from results import make_run

from fabriclab.report import write_report
from fabriclab.results import ingest_run

BROWSERS = ("chromium", "chromium-browser")


def build(run: Path, queue: multiprocessing.Queue[tuple[float, float]]) -> None:
    begun, computed = time.perf_counter(), time.process_time()
    write_report([run], run / "report.html")
    queue.put((time.perf_counter() - begun, time.process_time() - computed))


def shown(page: Path) -> dict[str, float]:
    """Return when the page's first chart and its explorer were drawn, seconds after it was opened."""
    from playwright.sync_api import sync_playwright

    path = next(filter(None, map(shutil.which, BROWSERS)), None)
    if path is None:
        return {}
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        found = browser.new_page(viewport={"width": 1100, "height": 900})
        begun = time.perf_counter()
        found.goto(page.as_uri())
        found.locator(".chart svg path").first.wait_for(state="attached")
        first = time.perf_counter() - begun
        begun = time.perf_counter()
        found.locator("#explorer").scroll_into_view_if_needed()
        found.locator("#slowest tbody tr").first.wait_for(state="attached")
        explorer = time.perf_counter() - begun
        browser.close()
    return {"first chart": first, "explorer": explorer}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--flows", type=int, default=1_000_000)
    parser.add_argument("--hosts", type=int, default=64)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        run = Path(place) / "run"
        make_run(run, options.flows, options.hosts)
        ingest_run(run)
        context = multiprocessing.get_context("spawn")
        queue = context.Queue()
        process = context.Process(target=build, args=(run, queue))
        process.start()
        wall, cpu = queue.get()
        process.join()
        size = (run / "report.html").stat().st_size
        print(f"report of {options.flows:,} flows: {wall:.1f} s, {cpu:.1f} s CPU, {size / 1e6:.2f} MB")
        for what, took in shown(run / "report.html").items():
            print(f"shown, {what}: {took:.2f} s")


if __name__ == "__main__":
    main()
