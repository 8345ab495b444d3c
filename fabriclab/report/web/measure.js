// How wide a text of a chart is, as the browser draws it; and a text in lines that are no wider than that.

export const LETTERS = 12;
let context = null;

export function textWidth(text, size = LETTERS) {
  context ??= document.createElement("canvas").getContext("2d");
  context.font = `${size}px system-ui, sans-serif`;
  return context.measureText(text).width;
}

export function wrapped(text, width) {
  const lines = [];
  for (const word of text.split(" ")) {
    const longer = lines.length ? `${lines[lines.length - 1]} ${word}` : word;
    if (lines.length && textWidth(longer) <= width) lines[lines.length - 1] = longer;
    else lines.push(word);
  }
  return lines.join("\n");
}
