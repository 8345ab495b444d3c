// A story's words: text with paragraphs, lists, **bold**, *emphasis* and `code`. Whatever else there is stays text: it is
// a stranger's, and never HTML.

import { element } from "./elements.js";

const INLINE = /\*\*([^*]+)\*\*|\*([^*]+)\*|`([^`]+)`/g;

// The elements of a text; `plain`: its lines as they are.
export function paragraphs(text, plain = false) {
  if (plain) return text.split("\n").map((line) => element("p", {}, line));
  return text.split(/\n\s*\n/).filter((block) => block.trim()).flatMap(block);
}

function block(text) {
  const lines = text.split("\n").filter((line) => line.trim());
  const first = lines.findIndex((line) => /^\s*[-*]\s/.test(line));
  if (first < 0) return [element("p", {}, ...inline(lines.join(" ")))];
  const items = [];
  for (const line of lines.slice(first)) {
    if (/^\s*[-*]\s/.test(line)) items.push(line.replace(/^\s*[-*]\s+/, ""));
    else items[items.length - 1] += ` ${line.trim()}`;
  }
  const list = element("ul", {}, ...items.map((item) => element("li", {}, ...inline(item))));
  return first > 0 ? [element("p", {}, ...inline(lines.slice(0, first).join(" "))), list] : [list];
}

function inline(text) {
  const found = [];
  let end = 0;
  for (const match of text.matchAll(INLINE)) {
    found.push(text.slice(end, match.index));
    const [whole, bold, emphasis, code] = match;
    found.push(element(bold ? "strong" : emphasis ? "em" : "code", {}, bold ?? emphasis ?? code));
    end = match.index + whole.length;
  }
  return [...found, text.slice(end)];
}
