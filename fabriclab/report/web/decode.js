// Numbers as the page's document has them: a list, or 32-bit floats in base64.

export function numbers(packed) {
  if (!packed) return [];
  if (Array.isArray(packed)) return packed;
  const bytes = Uint8Array.from(atob(packed.f32), (letter) => letter.charCodeAt(0));
  return new Float32Array(bytes.buffer);
}

// Pairs for ECharts; "-" is its word for a value that is not there.
export function pairs(x, y) {
  return Array.from(x, (place, index) => [place, Number.isFinite(y[index]) ? y[index] : "-"]);
}
