// A capture of a port: `fabriclab capture PLACE -w -` into Wireshark's standard input, without a shell between them.
"use strict";

const { spawn } = require("node:child_process");
const { NotFoundError, explained } = require("./program");

const PLACE = /^(?:[\w.-]+:)?[\w.-]+:[\w./-]+$/;

/**
 * Start a capture into Wireshark; resolves, when either has ended, to what the capture said last.
 * Rejects with NotFoundError where one of the two programs is not there, and ends the other.
 */
function capture(command, place, wireshark, { cwd } = {}) {
  if (!PLACE.test(place)) throw new Error(`${place}: write a port as NODE:PORT, such as s1:eth1`);
  return new Promise((resolve, reject) => {
    const viewer = spawn(wireshark, ["-k", "-i", "-"], { cwd, stdio: ["pipe", "ignore", "ignore"] });
    viewer.on("error", (error) => reject(error.code === "ENOENT" ? new MissingViewerError(wireshark) : error));
    viewer.on("spawn", () => {
      const source = spawn(command, ["capture", place, "-w", "-"], { cwd, stdio: ["ignore", "pipe", "pipe"] });
      let said = "";
      source.stderr.on("data", (data) => (said = `${said}${data}`.slice(-2000)));
      source.on("error", (error) => {
        viewer.kill();
        reject(explained(command, cwd, error));
      });
      viewer.stdin.on("error", () => source.kill("SIGINT")); // Wireshark was closed.
      viewer.on("close", () => source.kill("SIGINT"));
      source.on("close", (status) => resolve({ status, said: said.trim() }));
      source.stdout.pipe(viewer.stdin);
    });
  });
}

/** Wireshark is not there; a file can be written instead. */
class MissingViewerError extends NotFoundError {
  constructor(wireshark) {
    super(wireshark, "");
    this.message =
      `${wireshark} was not found. Install Wireshark, write its path into the setting fabriclab.wireshark, ` +
      "or save the capture as a file.";
  }
}

module.exports = { MissingViewerError, PLACE, capture };
