// The live page in a panel: the program that serves it, the proxy before it, and the panel's own document.
"use strict";

const { spawn } = require("node:child_process");
const fs = require("node:fs");
const os = require("node:os");
const path = require("node:path");
const { explained } = require("./program");
const { startProxy } = require("./proxy");

const PATIENCE_MS = 30_000;
const AGAIN_MS = 50;

/** Serve the page of the labs that are up; resolves to {port, address(lab), ended, close()}. */
async function servePage(command, cwd, patienceMs = PATIENCE_MS) {
  const place = await fs.promises.mkdtemp(path.join(os.tmpdir(), "fabriclab-page-")); // mode 0700
  const socket = path.join(place, "page.sock");
  const child = spawn(command, ["ui", "--socket", socket], { cwd, stdio: ["ignore", "ignore", "pipe"] });
  let said = "";
  child.stderr.on("data", (data) => (said = `${said}${data}`.slice(-2000)));
  let failure = null;
  const ended = new Promise((resolve) => {
    child.on("error", (error) => resolve((failure = explained(command, cwd, error))));
    child.on("close", (status) =>
      resolve((failure ??= new Error(`the live page ended (${status}): ${said.trim() || "it said nothing"}`))),
    );
  });
  const clean = () => {
    child.kill("SIGINT");
    fs.rmSync(place, { recursive: true, force: true });
  };
  try {
    for (const until = Date.now() + patienceMs; !fs.existsSync(socket);) {
      if (failure) throw failure;
      if (Date.now() > until) throw new Error("the live page did not start; `fabriclab ui` in a terminal says why");
      await new Promise((resolve) => setTimeout(resolve, AGAIN_MS));
    }
    const proxy = await startProxy(socket);
    return {
      port: proxy.port,
      address: (lab) => proxy.address(`/?${new URLSearchParams({ lab })}`),
      ended,
      close() {
        proxy.close();
        clean();
      },
    };
  } catch (error) {
    clean();
    throw error;
  }
}

/** Return the panel's document: a frame with the page, and nothing else. */
function panelDocument(address, title) {
  const origin = new URL(address).origin;
  const escaped = (text) => text.replace(/[&<>"']/g, (one) => `&#${one.charCodeAt(0)};`);
  const policy = `default-src 'none'; style-src 'unsafe-inline'; frame-src ${origin}`;
  const style =
    "html,body,iframe{margin:0;padding:0;border:0;width:100%;height:100%}body{height:100vh;overflow:hidden}";
  return [
    "<!doctype html>",
    `<meta http-equiv="Content-Security-Policy" content="${policy}">`,
    `<style>${style}</style>`,
    `<iframe title="${escaped(title)}" src="${escaped(address)}" allow="clipboard-read; clipboard-write"></iframe>`,
  ].join("\n");
}

module.exports = { panelDocument, servePage };
