"use strict";

const assert = require("node:assert/strict");
const fs = require("node:fs");
const http = require("node:http");
const os = require("node:os");
const path = require("node:path");
const test = require("node:test");
const { panelDocument, servePage } = require("../lib/page");
const { startProxy } = require("../lib/proxy");
const { fakeProgram } = require("./fake");

/** A server on a socket that tells what it was asked for, and echoes after an upgrade. */
async function behind(t) {
  const place = fs.mkdtempSync(path.join(os.tmpdir(), "fabriclab-test-"));
  const socket = path.join(place, "page.sock");
  const server = http.createServer((request, response) => {
    const policy = "default-src 'none'; frame-ancestors 'none'; script-src 'self'";
    response.writeHead(200, { "Content-Security-Policy": policy, "Referrer-Policy": "no-referrer" });
    response.end(JSON.stringify({ url: request.url, host: request.headers.host }));
  });
  server.on("upgrade", (request, wire) => {
    wire.write(
      `HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nX-Url: ${request.url}\r\n\r\n`,
    );
    wire.on("error", () => {}).pipe(wire);
  });
  await new Promise((resolve) => server.listen(socket, resolve));
  const proxy = await startProxy(socket);
  t.after(() => {
    proxy.close();
    server.close();
    server.closeAllConnections();
    fs.rmSync(place, { recursive: true });
  });
  return proxy;
}

function get(address, headers = {}) {
  return new Promise((resolve, reject) => {
    const asking = http.get(address, { headers, agent: false }, (answer) => {
      let text = "";
      answer.on("data", (data) => (text += data));
      answer.on("end", () => resolve({ status: answer.statusCode, headers: answer.headers, text }));
    });
    asking.on("error", reject);
  });
}

test("who knows the path gets the page, which a frame may then show", async (t) => {
  const proxy = await behind(t);
  const { status, headers, text } = await get(proxy.address("/?lab=incast"));
  assert.equal(status, 200);
  assert.deepEqual(JSON.parse(text), { url: "/?lab=incast", host: `127.0.0.1:${proxy.port}` });
  assert.equal(headers["content-security-policy"].replaceAll(" ", ""), "default-src'none';script-src'self'");
  assert.equal(headers["referrer-policy"], "no-referrer");
});

test("whoever does not know the path, or asks by another name, gets nothing", async (t) => {
  const proxy = await behind(t);
  for (const url of ["/", "/x/", `/${"A".repeat(43)}/`]) {
    assert.equal((await get(`http://127.0.0.1:${proxy.port}${url}`)).status, 403);
  }
  assert.equal((await get(proxy.address("/"), { Host: "evil.example" })).status, 403);
});

function upgrade(address, headers = {}) {
  return new Promise((resolve, reject) => {
    const asking = http.request(address, {
      agent: false,
      headers: { Connection: "Upgrade", Upgrade: "websocket", ...headers },
    });
    asking.on("upgrade", (answer, socket) => resolve({ answer, socket }));
    asking.on("response", (answer) => resolve({ answer }));
    asking.on("error", reject);
    asking.end();
  });
}

test("a WebSocket goes through, both ways", async (t) => {
  const proxy = await behind(t);
  const { answer, socket } = await upgrade(proxy.address("/feed?lab=incast"));
  assert.equal(answer.headers["x-url"], "/feed?lab=incast");
  const echoed = new Promise((resolve) => socket.once("data", resolve));
  socket.write("frame");
  assert.equal(String(await echoed), "frame");
  socket.destroy();
  assert.equal((await upgrade(`http://127.0.0.1:${proxy.port}/x/feed`)).answer.statusCode, 403);
  assert.equal((await upgrade(proxy.address("/feed"), { Host: "evil.example" })).answer.statusCode, 403);
});

test("the page's program is started and ended, and leaves nothing", async (t) => {
  const fake = fakeProgram();
  t.after(fake.remove);
  const served = await servePage(fake.file, fake.place);
  const [[verb, option, socket]] = fake.asked();
  assert.deepEqual([verb, option], ["ui", "--socket"]);
  assert.equal(fs.statSync(path.dirname(socket)).mode & 0o077, 0);
  assert.equal((await get(served.address("a b"))).text, "/?lab=a+b");
  served.close();
  await served.ended;
  assert.equal(fs.existsSync(path.dirname(socket)), false);
});

test("a page that does not come says why", async (t) => {
  const fake = fakeProgram();
  t.after(fake.remove);
  await assert.rejects(servePage("/nowhere/fabriclab"), /was not found\. Install it/);
  const failing = path.join(fake.place, "failing");
  fs.writeFileSync(failing, "#!/bin/sh\necho 'libraries of the live page are missing' >&2; exit 2\n", { mode: 0o755 });
  await assert.rejects(servePage(failing), /ended \(2\): libraries of the live page are missing/);
});

test("the panel shows one frame, of this page alone", () => {
  const shown = panelDocument("http://127.0.0.1:4711/secret/?lab=a&b", 'a "b"');
  assert.match(shown, /frame-src http:\/\/127\.0\.0\.1:4711"/);
  assert.match(shown, /src="http:\/\/127\.0\.0\.1:4711\/secret\/\?lab=a&#38;b"/);
  assert.match(shown, /title="a &#34;b&#34;"/);
});
