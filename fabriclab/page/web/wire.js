// The WebSocket to the page's server: what a lab says, and questions with their answers.

export class Wire {
  constructor(lab, handlers) {
    this.handlers = handlers;
    this.waiting = new Map();
    this.next = 1;
    this.socket = new WebSocket(address("feed", lab ? { lab } : {}));
    this.socket.onmessage = (event) => this.heard(JSON.parse(event.data));
    this.socket.onclose = () => {
      for (const { reject } of this.waiting.values()) reject(new Error("the page's server has gone"));
      this.waiting.clear();
      handlers.closed();
    };
  }

  heard({ kind, body, ...rest }) {
    const waiting = kind === "answer" || kind === "error" ? this.waiting.get(body.id) : undefined;
    if (waiting) {
      this.waiting.delete(body.id);
      if (kind === "answer") waiting.resolve(body.answer);
      else waiting.reject(new Error(body.message));
      return;
    }
    this.handlers[kind]?.(body ?? rest);
  }

  // What is said before the socket is open, as by a click that comes early, waits for it.
  send(said) {
    const text = JSON.stringify(said);
    if (this.socket.readyState === WebSocket.OPEN) this.socket.send(text);
    else if (this.socket.readyState === WebSocket.CONNECTING)
      this.socket.addEventListener("open", () => this.socket.send(text), { once: true });
  }

  ask(question) {
    return new Promise((resolve, reject) => {
      const id = this.next++;
      this.waiting.set(id, { resolve, reject });
      this.send({ id, ask: question });
    });
  }

  close() {
    this.handlers.closed = () => {};
    this.socket.close();
  }
}

export function address(path, asked) {
  const found = new URL(`${path}?${new URLSearchParams(asked)}`, location.href);
  found.protocol = location.protocol === "https:" ? "wss:" : "ws:";
  return found;
}
