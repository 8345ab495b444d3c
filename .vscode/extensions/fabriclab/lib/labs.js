// Which labs there are: those of the workspace, those that ship with fabriclab, and those that are up.
"use strict";

const fs = require("node:fs");
const path = require("node:path");
const { EXPERIMENT } = require("./checking");
const { json } = require("./program");

/** Return a lab's record: its directory, the question that its experiment asks, its stories. */
function labAt(directory) {
  let question = "";
  try {
    const text = fs.readFileSync(path.join(directory, EXPERIMENT), "utf8");
    const found = /^question: *(?:"((?:[^"\\]|\\.)*)"|'((?:[^']|'')*)'|(.*))$/m.exec(text);
    question = (found?.[1] ?? found?.[2]?.replaceAll("''", "'") ?? found?.[3] ?? "").trim();
  } catch {
    // A lab that cannot be read is listed; `check` says what is wrong with it.
  }
  return { name: path.basename(directory), directory, question, stories: storiesOf(directory) };
}

function storiesOf(directory) {
  try {
    const names = fs.readdirSync(path.join(directory, "stories"));
    return names
      .filter((name) => /^[A-Za-z0-9][\w-]*\.yml$/.test(name))
      .map((name) => name.slice(0, -4))
      .sort();
  } catch {
    return [];
  }
}

/** Return the labs that ship with fabriclab and are not among those of the workspace. */
async function shippedLabs(command, cwd, own) {
  const listed = await json(command, ["labs", "--json"], { cwd });
  const known = new Set(own.map((lab) => real(lab.directory)));
  return listed
    .map((lab) => ({ ...lab, directory: path.resolve(cwd ?? ".", lab.directory) }))
    .filter((lab) => !known.has(real(lab.directory)))
    .map((lab) => ({ ...labAt(lab.directory), question: lab.question ?? lab.problem ?? "" }));
}

function real(directory) {
  try {
    return fs.realpathSync(directory);
  } catch {
    return directory;
  }
}

/** Return the labs that are up: name, directory of the run, nodes with their ports. */
async function labsUp(command, cwd) {
  const found = await json(command, ["ps", "--json"], { cwd });
  return found.map((lab) => ({ name: lab.name, directory: lab.directory, nodes: lab.nodes, ports: lab.ports ?? {} }));
}

/** Return the newest report of a lab's runs below `runs`; null where there is none. */
function newestReport(folder, name) {
  const runs = path.join(folder, "runs", name);
  let names = [];
  try {
    names = fs.readdirSync(runs);
  } catch {
    return null;
  }
  const reports = names
    .map((run) => path.join(runs, run, "report.html"))
    .filter((file) => fs.existsSync(file))
    .map((file) => ({ file, time: fs.statSync(file).mtimeMs }));
  reports.sort((one, other) => other.time - one.time);
  return reports[0]?.file ?? null;
}

module.exports = { labAt, labsUp, newestReport, shippedLabs };
