// What is known of a lab's ports: how they are now, how fast they go, and how that was of late.

const KEPT = 1200;
const FRAMES = 20;
const FRAME_BITS = 12_112;
export const MEASURES = ["queue", "rate", "marks", "drops"];

export class Model {
  constructor(drawing) {
    this.names = drawing.links.flatMap((link) => [link.a, link.b]);
    this.rates = new Map(drawing.links.flatMap((link) => [[link.a, link.rates_bps[0]], [link.b, link.rates_bps[1]]]));
    this.nodes = new Set(this.names.map((name) => name.split(":")[0]));
    this.index = new Map(this.names.map((name, index) => [name, index]));
    this.ports = new Map();
    this.speeds = new Map();
    this.moved = new Map();
    this.kept = new Map();
    this.passed = { virtual: 0, wall: 0 };
    this.longest = new Map();
    this.times = [];
    this.samples = [];
    this.now = null;
  }

  // Take an answer to `look`; returns whether time has gone on.
  take(look) {
    const passed = this.now === null ? 0 : look.now_ns - this.now;
    const wall = performance.now();
    this.passed = { virtual: passed, wall: wall - (this.heard ?? wall) };
    this.heard = wall;
    this.moved.clear();
    const sample = new Float64Array(MEASURES.length * this.names.length).fill(NaN);
    for (const port of look.ports) {
      const name = `${port.node}:${port.interface}`;
      const before = this.ports.get(name);
      port.queued = port.queues.reduce((sum, queue) => sum + queue.bytes, 0);
      this.longest.set(name, Math.max(port.queued, this.longest.get(name) ?? 0));
      if (before && passed > 0 && before.at === this.now) {
        this.moved.set(name, moved(before, port));
        const from = this.base(name, look.now_ns);
        this.speeds.set(name, speeds(from, port, look.now_ns - from.at));
      }
      port.at = look.now_ns;
      this.ports.set(name, port);
      if (passed > 0 || !this.kept.has(name)) this.kept.set(name, [...(this.kept.get(name) ?? []), port]);
      const place = this.index.get(name);
      if (place === undefined) continue;
      const speed = this.speeds.get(name);
      sample.set([port.queued, speed?.rate ?? NaN, speed?.marks ?? NaN, speed?.drops ?? NaN], place * MEASURES.length);
    }
    this.now = look.now_ns;
    if (passed <= 0 && this.times.length) return false;
    this.times.push(look.now_ns / 1e9);
    this.samples.push(sample);
    if (this.times.length > KEPT) {
      this.times.shift();
      this.samples.shift();
    }
    return true;
  }

  // The look that a speed is counted from: the last before a time in which a port sends some frames. From one look to the next a
  // frame has left or not, where time goes slowly, and a rate would be of no frame or of many times the line's.
  base(name, now) {
    const kept = this.kept.get(name);
    const rate = this.rates.get(name) || 1e9;
    const until = now - (FRAMES * FRAME_BITS * 1e9) / rate;
    while (kept.length > 1 && kept[1].at <= until) kept.shift();
    return kept[0];
  }

  series(name, measure) {
    const place = this.index.get(name) * MEASURES.length + MEASURES.indexOf(measure);
    return this.samples.map((sample) => (Number.isNaN(sample[place]) ? null : sample[place]));
  }

  // The port whose counter has gone up most between the last two looks, of those that are meant.
  grown(measure, isMeant) {
    const speed = (name) => this.speeds.get(name)?.[measure] ?? 0;
    const found = this.names.filter((name) => isMeant(name) && speed(name) > 0);
    return found.toSorted((a, b) => speed(b) - speed(a))[0];
  }

  // The switch ports at which the longest queues stood.
  busiest(most, hosts) {
    const found = [...this.longest].filter(([name, bytes]) => bytes > 0 && !hosts.has(name.split(":")[0]));
    return found.sort((a, b) => b[1] - a[1]).slice(0, most).map(([name]) => name);
  }

  utilisation(name) {
    const speed = this.speeds.get(name);
    const rate = this.ports.get(name)?.rate_bps ?? this.rates.get(name);
    return speed && rate ? Math.min(1, speed.rate / rate) : null;
  }
}

// How many packets a port sent, marked and dropped between two looks.
function moved(before, port) {
  const [sent, marked, dropped] = ["tx_packets", "marks", "drops"].map((key) => (port[key] ?? 0) - (before[key] ?? 0));
  return { sent, marked, dropped };
}

function speeds(before, port, passed) {
  const difference = (key) => (port[key] == null || before[key] == null ? null : ((port[key] - before[key]) * 1e9) / passed);
  const sent = difference("tx_bytes");
  return { rate: sent === null ? null : sent * 8, marks: difference("marks"), drops: difference("drops") };
}
