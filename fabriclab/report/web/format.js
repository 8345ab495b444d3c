// Numbers in words: five significant digits, as the tables have them.

export function number(value) {
  if (value === null || value === undefined || !Number.isFinite(value)) return "–";
  if (Math.abs(value) >= 1e5) return Math.round(value).toLocaleString("en");
  return String(Number(value.toPrecision(5)));
}

export function tick(value) {
  return Math.abs(value) >= 1000 ? value.toLocaleString("en", { maximumFractionDigits: 3 }) : number(value);
}

export function withUnit(value, unit) {
  return unit ? `${number(value)} ${unit}` : number(value);
}

export function axisTitle(axis) {
  return axis.unit ? `${axis.title} (${axis.unit})` : axis.title;
}

export function escaped(text) {
  return String(text).replace(/[&<>"]/g, (letter) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" })[letter]);
}
