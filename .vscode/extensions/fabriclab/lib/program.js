// The program fabriclab: where it is, and what it answers. Nothing here goes through a shell.
"use strict";

const { spawn } = require("node:child_process");
const fs = require("node:fs");
const path = require("node:path");

const INSTALL =
  "fabriclab was not found. Install it (`pip install fabriclab`, or `make venv` in a checkout), or write the " +
  "program's path into the setting fabriclab.command.";
const MOST_BYTES = 16 * 2 ** 20;

/** The program cannot be started; the message says what to do. */
class NotFoundError extends Error {
  constructor(command, reason) {
    super(command === "fabriclab" ? INSTALL : `${command}: ${reason}. ${INSTALL}`);
  }
}

/** The workspace is not trusted; nothing may be started. */
class UntrustedError extends Error {
  constructor() {
    super(
      "This workspace is not trusted, so nothing of it is started. Trust it first: Workspaces: Manage Workspace Trust.",
    );
  }
}

/** Return the program: what the setting says, else the workspace's own, else that of the search path. */
function locate(setting, folders, exists = fs.existsSync) {
  if (setting) return setting;
  const own = folders.map((folder) => path.join(folder, ".venv", "bin", "fabriclab"));
  return own.find((file) => exists(file)) ?? "fabriclab";
}

/**
 * Run a program to its end. Resolves to {status, stdout, stderr}; status is null after a signal.
 * Rejects with NotFoundError, or with an AbortError when `signal` is raised.
 */
function run(command, args, { cwd, signal } = {}) {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { cwd, signal, stdio: ["ignore", "pipe", "pipe"] });
    const parts = { stdout: [], stderr: [] };
    let size = 0;
    for (const name of ["stdout", "stderr"]) {
      child[name].on("data", (data) => {
        size += data.length;
        if (size > MOST_BYTES) child.kill();
        else parts[name].push(data);
      });
    }
    child.on("error", (error) => reject(error.name === "AbortError" ? error : explained(command, cwd, error)));
    child.on("close", (status) => {
      const text = (name) => Buffer.concat(parts[name]).toString("utf8");
      resolve({ status, stdout: text("stdout"), stderr: text("stderr") });
    });
  });
}

function explained(command, cwd, error) {
  if (error.code !== "ENOENT" && error.code !== "EACCES") return error;
  if (cwd && !fs.existsSync(cwd)) return new Error(`${cwd}: no such directory`);
  return new NotFoundError(command, error.code === "ENOENT" ? "no such program" : "may not be executed");
}

/** Return the JSON that a command prints. Rejects with what the command said where it printed none. */
async function json(command, args, options) {
  const { status, stdout, stderr } = await run(command, args, options);
  try {
    return JSON.parse(stdout);
  } catch {
    const said = stderr.trim().split("\n").pop() || `it ended with ${status} and printed no JSON`;
    throw new Error(`${path.basename(command)} ${args[0]}: ${said}`);
  }
}

module.exports = { INSTALL, NotFoundError, UntrustedError, explained, json, locate, run };
