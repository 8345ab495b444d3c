// Quantities as the rest of fabriclab writes them.

function scaled(value, units, step = 1000) {
  let unit = 0;
  while (unit < units.length - 1 && Math.abs(value) >= step) {
    value /= step;
    unit += 1;
  }
  const digits = value === 0 || Math.abs(value) >= 100 ? 0 : Math.abs(value) >= 10 ? 1 : 2;
  return `${value.toFixed(digits)} ${units[unit]}`;
}

export const bytes = (value) => (value == null ? "–" : scaled(value, ["B", "KB", "MB", "GB", "TB"]));
export const rate = (value) => (value == null ? "–" : scaled(value, ["bps", "kbps", "Mbps", "Gbps", "Tbps"]));
export const perSecond = (value) => (value == null ? "–" : scaled(value, ["/s", "k/s", "M/s"]));
export const count = (value) => (value == null ? "–" : String(value));
export const duration = (ns) => (ns == null ? "–" : scaled(ns, ["ns", "us", "ms", "s"]));
export const seconds = (ns) => (ns == null ? "–" : `${(ns / 1e9).toFixed(6)} s`);
export const percent = (share) => (share == null ? "–" : `${Math.round(share * 100)} %`);

const UNITS_NS = { ns: 1, us: 1e3, ms: 1e6, s: 1e9, min: 60e9 };

// The nanoseconds of a duration as it is written; null for what is none.
export function parseDuration(text) {
  const found = /^\s*([0-9.]+)\s*(ns|us|ms|s|min)\s*$/.exec(text);
  const value = found ? Number(found[1]) * UNITS_NS[found[2]] : NaN;
  return Number.isFinite(value) && value >= 1 ? Math.round(value) : null;
}

const UNITS_BYTES = { B: 1, KB: 1e3, MB: 1e6, GB: 1e9, KiB: 1024, MiB: 1048576, GiB: 1073741824 };

// The bytes of a size as it is written; null for what is none.
export function parseSize(text) {
  const found = /^\s*([0-9.]+)\s*(B|[KMG]i?B)\s*$/.exec(text);
  const value = found ? Number(found[1]) * UNITS_BYTES[found[2]] : NaN;
  return Number.isFinite(value) && value >= 1 ? Math.round(value) : null;
}
