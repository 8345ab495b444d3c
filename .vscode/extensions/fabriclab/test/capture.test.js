"use strict";

const assert = require("node:assert/strict");
const fs = require("node:fs");
const path = require("node:path");
const test = require("node:test");
const { MissingViewerError, capture } = require("../lib/capture");
const { fakeProgram } = require("./fake");

function viewer(fake, lines) {
  const file = path.join(fake.place, "wireshark");
  fs.writeFileSync(file, `#!/bin/sh\n${lines}\n`, { mode: 0o755 });
  return file;
}

test("packets go into Wireshark", async (t) => {
  const fake = fakeProgram();
  t.after(fake.remove);
  const seen = path.join(fake.place, "seen");
  const { status } = await capture(fake.file, "incast:s1:eth1", viewer(fake, `echo "$@" >'${seen}'; cat >>'${seen}'`));
  assert.equal(status, 0);
  assert.deepEqual(fake.asked(), [["capture", "incast:s1:eth1", "-w", "-"]]);
  for (let tries = 0; tries < 100 && !/pcapng/.test(fs.readFileSync(seen, "utf8")); tries += 1) {
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  assert.equal(fs.readFileSync(seen, "utf8"), "-k -i -\npcapng of incast:s1:eth1");
});

test("without Wireshark no capture begins, and the message says what to do", async (t) => {
  const fake = fakeProgram();
  t.after(fake.remove);
  await assert.rejects(capture(fake.file, "s1:eth1", "/nowhere/wireshark"), (error) => {
    assert.ok(error instanceof MissingViewerError);
    assert.match(error.message, /Install Wireshark, .* or save the capture as a file/);
    return true;
  });
  assert.deepEqual(fake.asked(), []);
});

test("without fabriclab Wireshark is ended again", async (t) => {
  const fake = fakeProgram();
  t.after(fake.remove);
  await assert.rejects(capture("/nowhere/fabriclab", "s1:eth1", viewer(fake, "exec cat >/dev/null")), /was not found/);
});

test("only a port is captured at", () => {
  for (const place of ["", "s1", "--help", "s1:eth1; rm -r /", "-w:x y"]) {
    assert.throws(() => capture("fabriclab", place, "wireshark"), /write a port as NODE:PORT/);
  }
});
