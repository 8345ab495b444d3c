// Checks a lab with the text that stands in the editor, saved or not, by `fabriclab check --format json`.
"use strict";

const fs = require("node:fs");
const os = require("node:os");
const path = require("node:path");
const { json } = require("./program");

const EXPERIMENT = "experiment.yml";
const FORMAT = "fabriclab-check-1";
const LARGEST_COPY = 32 * 2 ** 20;
/** Directories that no lab reads: what it publishes, and its runs. */
const LEFT_OUT = new Set(["published", "runs", ".git", "node_modules"]);

/** Return the directory of the lab that a file belongs to; null where it is no lab's. */
function labOf(file, exists = fs.existsSync) {
  const directory = path.dirname(file);
  const name = path.basename(file);
  const lab = path.basename(directory) === "stories" && name.endsWith(".yml") ? path.dirname(directory) : directory;
  const isLabs = lab !== directory || name === EXPERIMENT || name.endsWith(".clab.yml");
  return isLabs && exists(path.join(lab, EXPERIMENT)) ? lab : null;
}

/** Copy a lab, links as links; returns false, and leaves a part, where it is too large to copy for each key stroke. */
async function copy(from, to, left) {
  await fs.promises.mkdir(to);
  for (const entry of await fs.promises.readdir(from, { withFileTypes: true })) {
    const source = path.join(from, entry.name);
    const target = path.join(to, entry.name);
    if (entry.isSymbolicLink()) await fs.promises.symlink(await fs.promises.readlink(source), target);
    else if (entry.isDirectory()) {
      if (!LEFT_OUT.has(entry.name) && !(await copy(source, target, left))) return false;
    } else if (entry.isFile()) {
      left.bytes -= (await fs.promises.stat(source)).size;
      if (left.bytes < 0) return false;
      await fs.promises.copyFile(source, target);
    }
  }
  return true;
}

/**
 * Check a lab. `unsaved` maps paths of its files to the text that replaces theirs.
 *
 * Unsaved texts go into a copy of the lab, which is removed again: the lab itself is never written to. A lab that is
 * too large to be copied is checked as it is saved.
 */
async function check(command, lab, unsaved = new Map(), signal = undefined) {
  if (unsaved.size === 0) return asked(command, lab, signal);
  const place = await fs.promises.mkdtemp(path.join(os.tmpdir(), "fabriclab-check-"));
  try {
    const twin = path.join(place, path.basename(lab));
    if (!(await copy(lab, twin, { bytes: LARGEST_COPY }))) return await asked(command, lab, signal);
    for (const [file, text] of unsaved) {
      const target = path.join(twin, path.relative(lab, file));
      await fs.promises.rm(target, { force: true }); // A link would lead out of the copy.
      await fs.promises.writeFile(target, text);
    }
    const found = await asked(command, twin, signal);
    for (const finding of found) {
      finding.message = finding.message.replaceAll(twin, lab);
      if (finding.file) finding.file = finding.file.replace(twin, lab);
    }
    return found;
  } finally {
    await fs.promises.rm(place, { recursive: true, force: true });
  }
}

async function asked(command, lab, signal) {
  const document = await json(command, ["check", lab, "--format", "json"], { cwd: path.dirname(lab), signal });
  if (document.format !== FORMAT) {
    throw new Error(`fabriclab check answers in the format ${document.format}; this extension reads ${FORMAT}`);
  }
  return document.findings;
}

/** Return a finding's file: what has no place is told at the lab's experiment. */
function fileOf(finding, lab) {
  return finding.file && path.isAbsolute(finding.file) ? finding.file : path.join(lab, EXPERIMENT);
}

/** Return where a finding is underlined: [line, first column, column after the last], from 0. */
function rangeOf(finding, lines) {
  const line = Math.min(Math.max((finding.line ?? 1) - 1, 0), Math.max(lines.length - 1, 0));
  const text = lines[line] ?? "";
  const key = finding.key
    ?.split(".")
    .pop()
    ?.replace(/\[\d+\]$/, "");
  for (const word of [finding.value, key]) {
    const at = word ? text.indexOf(word) : -1;
    if (at >= 0) return [line, at, at + word.length];
  }
  const first = text.length - text.trimStart().length;
  return [line, first, Math.max(text.trimEnd().length, first)];
}

module.exports = { EXPERIMENT, check, fileOf, labOf, rangeOf };
