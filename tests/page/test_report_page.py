"""The report in a browser: what is drawn are the numbers of the run, and a reader can choose, brush, toggle, zoom."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from laid_out import comes_to, fits
from page_fixtures import new_context
from playwright.sync_api import Browser, Locator, Page, expect
from synthetic_run import incast_sweep

from fabriclab.browser_bundles import BrowserBundleError
from fabriclab.report import write_report
from fabriclab.report.assets import CHARTS
from fabriclab.results import coflow_table, read_sweep

pytestmark = pytest.mark.xdist_group("report-page")
SENDERS = (2, 8, 16)


@pytest.fixture(scope="module")
def swept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A sweep of six points with its report."""
    try:
        CHARTS.load()
    except BrowserBundleError as error:
        pytest.skip(f"not tried in a browser: {error}")
    directory = incast_sweep(tmp_path_factory.mktemp("report") / "sweep", senders=SENDERS)
    write_report([directory], directory / "report.html")
    return directory


@pytest.fixture
def report(browser: Browser, swept: Path) -> Iterator[Page]:
    """The report as a file on a disk, without a network; nothing may be said on its console."""
    complaints: list[str] = []
    context = new_context(browser, viewport={"width": 1100, "height": 900}, offline=True, color_scheme="light")
    found = context.new_page()
    found.on("console", lambda message: complaints.append(f"{message.type}: {message.text}"))
    found.on("pageerror", lambda error: complaints.append(str(error)))
    found.on("request", lambda request: None if request.url.startswith("file:") else complaints.append(request.url))
    found.goto((swept / "report.html").as_uri())
    yield found
    context.close()
    assert complaints == []


def chart_below(report: Page, heading: str) -> Locator:
    """Return the chart of the figure with this heading, drawn."""
    chart = report.locator("figure", has=report.get_by_role("heading", name=heading, exact=True)).locator(".chart")
    chart.scroll_into_view_if_needed()
    expect(chart.locator("svg path").first).to_be_attached()
    return chart


def vertices(path: str) -> np.ndarray:
    """Return the corners of an SVG path, shaped (corners, 2), in pixels."""
    return np.array(re.findall(r"[ML]?(-?[\d.]+)[ ,](-?[\d.]+)", path), dtype=float)


def line_of(chart: Locator, ink: str, corners: int) -> np.ndarray:
    """Return the corners of the line with this colour."""
    for path in chart.locator(f"path[stroke='{ink}'][fill='none']").all():
        found = vertices(path.get_attribute("d") or "")
        if len(found) == corners:
            return found
    raise AssertionError(f"no line of {corners} corners in {ink}")


def has_line(chart: Locator, ink: str, corners: int) -> bool:
    """Return whether the line with this colour is drawn by now."""
    try:
        return line_of(chart, ink, corners).shape == (corners, 2)
    except AssertionError:
        return False


def test_what_is_drawn_are_the_numbers_of_the_sweep(report: Page, swept: Path) -> None:
    chart = chart_below(report, "Goodput against senders")
    runs = [run for run in read_sweep(swept).runs if run.congestion_control == "cubic"]
    ink = report.evaluate("getComputedStyle(document.documentElement).getPropertyValue('--c-0072b2').trim()")
    comes_to(report, lambda: has_line(chart, ink, len(SENDERS)), lambda: f"no line of {len(SENDERS)} corners in {ink}")
    drawn = line_of(chart, ink, len(SENDERS))
    measured = np.array([float(run.summary["goodput_bps"] or 0) for run in runs])
    # Both axes are known but for where they begin and how long they are: a straight line through what is measured.
    for pixels, values in ((drawn[:, 1], measured), (drawn[:, 0], np.log(SENDERS))):
        slope, begin = np.polyfit(values, pixels, 1)
        assert begin + slope * values == pytest.approx(pixels, abs=0.6)
    assert np.ptp(drawn[:, 1]) > 50


def test_bars_begin_and_end_where_the_coflows_did(report: Page, swept: Path) -> None:
    title = report.get_by_role("heading", name=re.compile("^Coflows over time: ")).inner_text()
    chart = chart_below(report, title)
    told = re.search(r"over time: (CUBIC|DCTCP), (\d+) senders", title)
    assert told is not None
    wanted = {"variant": told[1].lower(), "senders": int(told[2])}
    (run,) = (run for run in read_sweep(swept).runs if run.settings == wanted)
    measured = coflow_table(run.flows).filter(pl.col("level") == "coflow").select("start_ns", "end_ns")
    ink = report.evaluate("getComputedStyle(document.documentElement).getPropertyValue('--c-0072b2').trim()")
    drawn = []
    for path in chart.locator(f"path[fill='{ink}']").all():
        left, along = re.match(r"M([\d.]+) [\d.]+l([\d.]+) 0", path.get_attribute("d") or "").groups()  # type: ignore[union-attr]
        drawn += [float(left), float(left) + float(along)]
    every = measured.to_numpy().flatten().astype(float)
    assert len(drawn) == len(every)
    slope, begin = np.polyfit(every, drawn, 1)
    assert begin + slope * every == pytest.approx(drawn, abs=0.6)


def test_a_series_is_hidden_and_shown_with_the_mouse_and_with_keys(report: Page) -> None:
    chart = chart_below(report, "Goodput against senders")
    ink = report.evaluate("getComputedStyle(document.documentElement).getPropertyValue('--c-0072b2').trim()")
    lines = chart.locator(f"path[fill='none'][stroke='{ink}']")
    expect(lines.first).to_be_attached()
    before = lines.count()
    chart.locator("text", has_text="CUBIC").click()
    expect(lines).to_have_count(0)
    chart.focus()
    report.keyboard.press("1")
    expect(lines).to_have_count(before)


def test_keys_zoom(report: Page) -> None:
    chart = report.locator("#explorer-queue")
    chart.scroll_into_view_if_needed()
    expect(chart.locator("svg path").first).to_be_attached()

    def labels() -> set[str]:
        return set(chart.locator("text").all_text_contents())

    before = labels()
    chart.focus()
    report.keyboard.press("+")
    comes_to(report, lambda: labels() != before, labels)
    report.keyboard.press("0")
    comes_to(report, lambda: labels() == before, labels)


def test_without_samples_of_a_queue_a_span_is_written(browser: Browser, swept: Path, tmp_path: Path) -> None:
    """And there is no empty panel in which nothing could be brushed."""
    unsampled = tmp_path / "unsampled"
    shutil.copytree(swept, unsampled)
    for samples in unsampled.glob("points/*/queues.parquet"):
        samples.unlink()
    write_report([unsampled], unsampled / "report.html")
    context = new_context(browser, viewport={"width": 1100, "height": 900}, offline=True)
    found = context.new_page()
    found.goto((unsampled / "report.html").as_uri())
    section = found.locator("#explorer")
    section.scroll_into_view_if_needed()
    expect(section.locator(".caption").first).to_contain_text("Write times to choose a span")
    expect(found.locator("#flows-said")).to_contain_text("In the whole run.")
    expect(found.locator("#explorer-queue")).to_be_hidden()
    found.locator("#span-to").fill("0.000001")
    found.locator("#span button[type=submit]").click()
    expect(found.locator("#flows-said")).not_to_contain_text("In the whole run.")
    context.close()


def flows_within(swept: Path, variant: str, senders: int, span: tuple[float, float] | None) -> int:
    """Return how many flows of a point were under way in a span of seconds, by its results."""
    (run,) = (run for run in read_sweep(swept).runs if run.settings == {"variant": variant, "senders": senders})
    flows = run.flows.select("start_ns", end=pl.col("start_ns") + pl.col("fct_ns")).collect()
    if span is None:
        return flows.height
    begin, end = (value * 1e9 for value in span)
    return flows.filter(pl.col("start_ns") <= end, pl.col("end") >= begin).height


def told_counts(report: Page) -> dict[str, int]:
    text = report.locator("#flows-said").text_content() or ""
    return {name: int(count.replace(",", "")) for name, count in re.findall(r"([\w, ]+): ([\d,]+) flows", text)}


def has_told(report: Page, count: int) -> None:
    """Need the first point's count of flows to come to this one."""
    comes_to(report, lambda: next(iter(told_counts(report).values()), None) == count, lambda: told_counts(report))


def test_a_span_of_time_is_brushed_and_has_its_flows(report: Page, swept: Path) -> None:
    chart = report.locator("#explorer-queue")
    chart.scroll_into_view_if_needed()
    expect(chart.locator("svg path").first).to_be_attached()
    report.locator("#points select").nth(1).select_option(label="8")
    expect(report.locator("#flows-said")).to_contain_text("In the whole run.")
    has_told(report, flows_within(swept, "cubic", 8, None))
    box = chart.bounding_box()
    assert box is not None
    middle = box["y"] + 110
    report.mouse.move(box["x"] + 250, middle)
    report.mouse.down()
    report.mouse.move(box["x"] + 400, middle, steps=8)
    report.mouse.up()
    expect(report.locator("#flows-said")).to_contain_text("From ")
    unit = report.locator("#span label").first.inner_text().split()[-1]
    scale = {"s": 1.0, "ms": 1e-3}[unit]
    begin, end = (float(report.locator(f"#span-{name}").input_value()) * scale for name in ("from", "to"))
    assert 0 < begin < end
    has_told(report, flows_within(swept, "cubic", 8, (begin, end)))
    expect(report.locator("#slowest tbody tr").first).to_be_visible()
    report.locator("#span-all").click()
    expect(report.locator("#flows-said")).to_contain_text("In the whole run.")
    # The same without a mouse.
    report.locator("#span-from").fill("0")
    report.locator("#span-to").fill(str(0.1 / scale))
    report.keyboard.press("Enter")
    expect(report.locator("#flows-said")).to_contain_text("From 0 to")
    has_told(report, flows_within(swept, "cubic", 8, (0, 0.1)))


def test_points_are_added_changed_and_taken_away(report: Page) -> None:
    report.locator("#explorer").scroll_into_view_if_needed()
    rows = report.locator("#points .point")
    expect(rows.first).to_be_visible()
    before = rows.count()
    report.get_by_role("button", name="Add a point").click()
    expect(rows).to_have_count(before + 1)
    last = report.get_by_label(f"Point {before + 1}: variant")
    last.select_option(label="DCTCP")
    expect(last).to_be_focused()
    expect(report.locator("#flows-said")).to_contain_text("DCTCP")
    report.get_by_role("button", name=f"Remove point {before + 1}").click()
    expect(rows).to_have_count(before)


@pytest.mark.slow("may be the last one on a worker, and then waits for the browser's end")
def test_the_page_fits_a_phone_and_turns_dark(report: Page) -> None:
    report.set_viewport_size({"width": 400, "height": 800})
    fits(report, 400)
    body = report.locator("body")
    light = report.evaluate("getComputedStyle(document.body).backgroundColor")
    report.locator("#theme").click()
    expect(body).not_to_have_css("background-color", light)


@pytest.mark.slow("the last one waits for the browser's end")
@pytest.mark.parametrize("width", [1100, 400])
def test_nothing_moves_when_a_chart_is_drawn(report: Page, width: int) -> None:
    """Every chart has its room before it comes near the window."""
    report.set_viewport_size({"width": width, "height": 900})
    expect(report.locator("#explorer-queue svg").first).to_be_attached()
    fits(report, width)
    # What hears of the new width takes its room in the next frame.
    report.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
    height = "document.documentElement.scrollHeight"
    before = report.evaluate(height)
    charts = report.locator("[data-chart]")
    for index in range(charts.count()):
        charts.nth(index).scroll_into_view_if_needed()
        expect(charts.nth(index).locator("svg").first).to_be_attached()
    assert report.evaluate(height) == before


def test_print_has_pictures_instead_of_what_moves(report: Page) -> None:
    report.emulate_media(media="print")
    charts = report.locator(".chart")
    expect(charts.first).to_be_attached()
    expect(charts.locator("visible=true")).to_have_count(0)
    expect(report.locator(".drawn svg").first).to_be_visible()


# Texts that leave the chart's element, or of which one covers another.
MISPLACED = """element => {
  const bound = element.getBoundingClientRect();
  const every = [...element.querySelectorAll("svg text")]
    .map(each => [each.textContent.trim(), each.getBoundingClientRect()])
    .filter(([text, box]) => text && box.width);
  const wrong = every.filter(([, box]) => box.left < bound.left - 1 || box.right > bound.right + 1
    || box.top < bound.top - 1 || box.bottom > bound.bottom + 1).map(([text]) => `${text} leaves it`);
  every.forEach(([one, a], index) => every.slice(index + 1).forEach(([two, b]) => {
    const wide = Math.min(a.right, b.right) - Math.max(a.left, b.left);
    const high = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
    if (wide > 1 && high > 3) wrong.push(`${one} covers ${two}`);
  }));
  return wrong;
}"""


@pytest.mark.parametrize("width", [390, 1100])
def test_no_text_of_a_chart_covers_another_or_is_cut_off(report: Page, width: int) -> None:
    report.set_viewport_size({"width": width, "height": 900})
    fits(report, width)
    charts = report.locator("[data-chart]")
    found: dict[str, list[str]] = {}
    for chart in charts.all():
        if chart.evaluate("each => each.closest('details:not([open])') === null"):
            chart.scroll_into_view_if_needed()
            expect(chart.locator("svg path").first).to_be_attached()
            found[str(chart.evaluate("each => each.closest('figure').querySelector('h2, h3')?.textContent"))] = (
                chart.evaluate(MISPLACED)
            )
    assert len(found) > 3
    assert {title: wrong for title, wrong in found.items() if wrong} == {}


def test_side_by_side_panels_need_no_legend_and_lines_show_their_dash_in_one(report: Page) -> None:
    beside = chart_below(report, "Queue over time, side by side")
    assert not beside.get_by_text("CUBIC, 8 senders", exact=True).count()
    distribution = chart_below(report, "How long the queue was")
    expect(distribution.get_by_text("CUBIC, 8 senders", exact=True)).to_be_visible()


def test_colours_change_and_a_zoom_stays(report: Page) -> None:
    chart = chart_below(report, "How long the queue was")
    texts = "element => [...element.querySelectorAll('svg text')].map(each => each.textContent).join()"
    whole = chart.evaluate(texts)
    chart.focus()
    chart.press("+")
    chart.press("+")
    comes_to(report, lambda: chart.evaluate(texts) != whole, lambda: whole)
    zoomed = chart.evaluate(texts)
    report.locator("#theme").click()
    assert chart.evaluate(texts) == zoomed
    chart.focus()
    chart.press("0")
    comes_to(report, lambda: chart.evaluate(texts) == whole, lambda: chart.evaluate(texts))
