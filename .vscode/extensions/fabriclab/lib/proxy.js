// Brings the live page into a panel of the editor.
//
// The page itself may not be framed, and knows its user by a cookie, which a frame of another site does not send. Both
// are right for a browser. So fabriclab serves the page on a Unix socket of this user's (`ui --socket`), as it does for
// JupyterHub, and this proxy on loopback lets in who knows a secret path, which the panel alone is told.
"use strict";

const crypto = require("node:crypto");
const http = require("node:http");

const HOP = new Set(["connection", "keep-alive", "proxy-connection", "transfer-encoding", "upgrade"]);

/** Start the proxy before a page's socket; resolves to {port, address(path), close()}. */
async function startProxy(socketPath) {
  const secret = crypto.randomBytes(32).toString("base64url");
  const sockets = new Set();
  let hosts = [];

  /** Return the path behind the secret; null for whoever does not know it, or asks for another name (DNS rebinding). */
  function admitted(request) {
    const [, given = "", ...rest] = request.url.split("/");
    const wanted = Buffer.from(secret);
    const said = Buffer.from(given);
    const isSame = said.length === wanted.length && crypto.timingSafeEqual(said, wanted);
    return isSame && hosts.includes(request.headers.host) ? `/${rest.join("/")}` : null;
  }

  const server = http.createServer((request, response) => {
    const path = admitted(request);
    if (path === null) {
      response.writeHead(403, { "Content-Type": "text/plain" }).end("This is the page of an editor's panel.\n");
      return;
    }
    const asking = http.request({ socketPath, path, method: request.method, headers: passed(request.headers) });
    asking.on("response", (answer) => {
      response.writeHead(answer.statusCode, framed(passed(answer.headers)));
      answer.pipe(response);
    });
    asking.on("error", () =>
      response.headersSent ? response.destroy() : response.writeHead(502).end("The page has ended.\n"),
    );
    request.pipe(asking);
  });
  server.on("connection", (socket) => {
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
  });
  server.on("upgrade", (request, socket, head) => {
    const path = admitted(request);
    socket.on("error", () => socket.destroy());
    if (path === null) {
      socket.end("HTTP/1.1 403 Forbidden\r\nConnection: close\r\n\r\n");
      return;
    }
    const asking = http.request({ socketPath, path, headers: request.headers });
    asking.on("upgrade", (answer, other, first) => {
      const lines = [];
      for (let index = 0; index < answer.rawHeaders.length; index += 2) {
        lines.push(`${answer.rawHeaders[index]}: ${answer.rawHeaders[index + 1]}`);
      }
      socket.write(`HTTP/1.1 101 Switching Protocols\r\n${lines.join("\r\n")}\r\n\r\n`);
      other.on("error", () => socket.destroy());
      socket.on("close", () => other.destroy());
      other.on("close", () => socket.destroy());
      other.write(head);
      socket.write(first);
      other.pipe(socket).pipe(other);
    });
    asking.on("response", () => socket.end("HTTP/1.1 403 Forbidden\r\nConnection: close\r\n\r\n"));
    asking.on("error", () => socket.destroy());
    asking.end();
  });
  await new Promise((resolve, reject) => server.once("error", reject).listen(0, "127.0.0.1", resolve));
  const { port } = server.address();
  hosts = [`127.0.0.1:${port}`, `localhost:${port}`];
  return {
    port,
    address: (path) => `http://127.0.0.1:${port}/${secret}${path}`,
    close() {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}

function passed(headers) {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !HOP.has(name)));
}

/** Return an answer's headers without what forbids to frame it: only who knows the path can. */
function framed(headers) {
  const policy = headers["content-security-policy"];
  if (policy === undefined) return headers;
  const rules = policy.split(";").filter((rule) => !rule.trim().startsWith("frame-ancestors"));
  return { ...headers, "content-security-policy": rules.join(";") };
}

module.exports = { framed, startProxy };
