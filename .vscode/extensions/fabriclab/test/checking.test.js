"use strict";

const assert = require("node:assert/strict");
const fs = require("node:fs");
const os = require("node:os");
const path = require("node:path");
const test = require("node:test");
const { check, fileOf, labOf, rangeOf } = require("../lib/checking");
const { INSTALL, json, locate, run } = require("../lib/program");
const { fakeLab, fakeProgram } = require("./fake");

/** The checkout's own program, by which the tests in `make test` check what a user would. */
const REAL = process.env.FABRICLAB_PROGRAM;

function copies() {
  return fs.readdirSync(os.tmpdir()).filter((name) => name.startsWith("fabriclab-check-"));
}

test("a file belongs to the lab beside or above it", (t) => {
  const fake = fakeProgram();
  t.after(fake.remove);
  const lab = fakeLab(fake.place);
  for (const name of ["experiment.yml", "topology.clab.yml", "stories/one.yml"])
    assert.equal(labOf(path.join(lab, name)), lab);
  assert.equal(labOf(path.join(lab, "published.yml")), null);
  assert.equal(labOf(path.join(fake.place, "stories", "one.yml")), null);
});

test("unsaved text is checked, and the lab stays as it is", async (t) => {
  const fake = fakeProgram();
  t.after(fake.remove);
  const lab = fakeLab(fake.place);
  const file = path.join(lab, "experiment.yml");
  assert.deepEqual(await check(fake.file, lab), []);
  const [finding, ...more] = await check(fake.file, lab, new Map([[file, "title: a\ntitle: wrong\n"]]));
  assert.deepEqual(more, []);
  assert.equal(finding.file, file);
  assert.equal(finding.message, `wrong in ${file}`);
  assert.equal(fs.readFileSync(file, "utf8"), 'title: right\nquestion: "Why: so?"\n');
  assert.deepEqual(copies(), []);
});

test("a link out of the lab is not written through", async (t) => {
  const fake = fakeProgram();
  t.after(fake.remove);
  const lab = fakeLab(fake.place);
  const outside = path.join(fake.place, "outside.yml");
  fs.renameSync(path.join(lab, "experiment.yml"), outside);
  fs.symlinkSync("../outside.yml", path.join(lab, "experiment.yml"));
  const found = await check(fake.file, lab, new Map([[path.join(lab, "experiment.yml"), "title: wrong\n"]]));
  assert.equal(found.length, 1);
  assert.match(fs.readFileSync(outside, "utf8"), /right/);
});

test("a check that is not wanted any more is ended", async (t) => {
  const fake = fakeProgram();
  t.after(fake.remove);
  const stop = new AbortController();
  stop.abort();
  await assert.rejects(check(fake.file, fakeLab(fake.place), new Map(), stop.signal), { name: "AbortError" });
});

test("the value is underlined, else the key, else the line", () => {
  const lines = ["title: x", "  buffer: much  # too much"];
  assert.deepEqual(rangeOf({ line: 2, value: "much", key: "switches.default.buffer" }, lines), [1, 10, 14]);
  assert.deepEqual(rangeOf({ line: 2, value: null, key: "switches.default.buffer" }, lines), [1, 2, 8]);
  assert.deepEqual(rangeOf({ line: 1, value: "gone", key: "steps[3]" }, lines), [0, 0, 8]);
  assert.deepEqual(rangeOf({ line: null, value: null, key: null }, []), [0, 0, 0]);
  assert.deepEqual(rangeOf({ line: 9, value: null, key: null }, lines), [1, 2, 26]);
});

test("what has no place is told at the experiment", () => {
  assert.equal(fileOf({ file: null }, "/labs/mine"), "/labs/mine/experiment.yml");
  assert.equal(fileOf({ file: "--set x=1" }, "/labs/mine"), "/labs/mine/experiment.yml");
  assert.equal(fileOf({ file: "/labs/mine/a.yml" }, "/labs/mine"), "/labs/mine/a.yml");
});

test("the program is the setting's, else the workspace's, else the search path's", () => {
  assert.equal(
    locate("/opt/fabriclab", ["/w"], () => true),
    "/opt/fabriclab",
  );
  assert.equal(
    locate("", ["/w", "/v"], (file) => file.startsWith("/v")),
    "/v/.venv/bin/fabriclab",
  );
  assert.equal(
    locate("", ["/w"], () => false),
    "fabriclab",
  );
});

test("who has no fabriclab is told how to get it", async () => {
  await assert.rejects(run("/nowhere/fabriclab", ["ps"]), (error) => {
    assert.equal(error.message, `/nowhere/fabriclab: no such program. ${INSTALL}`);
    return true;
  });
});

test("a program that prints no JSON is told by its own words", async (t) => {
  const fake = fakeProgram();
  t.after(fake.remove);
  await assert.rejects(json(fake.file, ["nonsense"]), /fabriclab nonsense: what is that\?/);
});

test(
  "the program of the checkout underlines what is wrong",
  { skip: REAL ? false : "FABRICLAB_PROGRAM names none" },
  async (t) => {
    const place = fs.mkdtempSync(path.join(os.tmpdir(), "fabriclab-test-"));
    t.after(() => fs.rmSync(place, { recursive: true }));
    const lab = path.join(place, "mine");
    fs.cpSync(path.join(process.env.FABRICLAB_CHECKOUT, "labs", "incast"), lab, { recursive: true });
    assert.deepEqual(await check(REAL, lab), []);
    const file = path.join(lab, "stories", "collapse.yml");
    const text = fs.readFileSync(file, "utf8").replace("start: sru", "start: srv");
    const [finding, ...more] = await check(REAL, lab, new Map([[file, text]]));
    assert.deepEqual(more, []);
    assert.equal(finding.file, file);
    const [line, first, last] = rangeOf(finding, text.split("\n"));
    assert.equal(text.split("\n")[line].slice(first, last), "srv");
    assert.match(finding.message, /did you mean 'sru'\?/);
  },
);
