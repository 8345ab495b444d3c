// A program that answers as fabriclab does, for tests; it writes what it was asked for into FAKE_LOG.
"use strict";

const fs = require("node:fs");
const http = require("node:http");
const os = require("node:os");
const path = require("node:path");

const LAB = {
  name: "incast",
  lab: "incast",
  directory: "/runs/incast",
  nodes: ["s1", "h1"],
  ports: { s1: ["eth1"], h1: ["eth1"] },
};

function answer([verb, ...rest]) {
  fs.appendFileSync(process.env.FAKE_LOG, `${JSON.stringify([verb, ...rest])}\n`);
  if (verb === "labs") process.stdout.write("[]");
  else if (verb === "ps")
    process.stdout.write(JSON.stringify(fs.existsSync(`${process.env.FAKE_LOG}.up`) ? [LAB] : []));
  else if (verb === "check") process.stdout.write(checked(rest[0]));
  else if (verb === "ui") serve(rest[1]);
  else if (verb === "capture") process.stdout.write("pcapng of " + rest[0]);
  else (process.stderr.write("what is that?\n"), (process.exitCode = 2));
}

/** Every line of a lab's experiment with the word `wrong` is a mistake. */
function checked(lab) {
  const file = path.join(lab, "experiment.yml");
  const findings = fs
    .readFileSync(file, "utf8")
    .split("\n")
    .flatMap((text, index) =>
      text.includes("wrong")
        ? [
            {
              severity: "error",
              file,
              line: index + 1,
              key: "title",
              value: "wrong",
              message: `wrong in ${file}`,
              remedy: null,
            },
          ]
        : [],
    );
  return JSON.stringify({ format: "fabriclab-check-1", lab, ok: !findings.length, findings, contents: null });
}

function serve(socket) {
  const policy = "default-src 'none'; frame-ancestors 'none'";
  const server = http.createServer((request, response) =>
    response.writeHead(200, { "Content-Security-Policy": policy }).end(request.url),
  );
  process.on("SIGINT", () => process.exit(0));
  server.listen(socket);
}

/** Write the program into a directory; returns its path and its log. */
function fakeProgram() {
  const place = fs.mkdtempSync(path.join(os.tmpdir(), "fabriclab-test-"));
  const file = path.join(place, "fabriclab");
  const log = path.join(place, "log");
  fs.writeFileSync(
    file,
    [
      `#!${process.execPath}`,
      `process.env.FAKE_LOG = ${JSON.stringify(log)};`,
      `require(${JSON.stringify(__filename)}).answer(process.argv.slice(2));\n`,
    ].join("\n"),
    { mode: 0o755 },
  );
  const asked = () =>
    fs.existsSync(log)
      ? fs
          .readFileSync(log, "utf8")
          .trim()
          .split("\n")
          .map((line) => JSON.parse(line))
      : [];
  return {
    place,
    file,
    asked,
    bringUp: () => fs.writeFileSync(`${log}.up`, ""),
    remove: () => fs.rmSync(place, { recursive: true, force: true }),
  };
}

/** Write a lab into a directory, and return its path. */
function fakeLab(place, title = "right") {
  const lab = path.join(place, "mine");
  fs.mkdirSync(path.join(lab, "stories"), { recursive: true });
  fs.writeFileSync(path.join(lab, "experiment.yml"), `title: ${title}\nquestion: "Why: so?"\n`);
  fs.writeFileSync(path.join(lab, "topology.clab.yml"), "name: mine\n");
  fs.writeFileSync(path.join(lab, "stories", "one.yml"), "title: One\n");
  return lab;
}

module.exports = { answer, fakeLab, fakeProgram };
