// Short words for what the page is made of. Text is always text: nothing of a lab is ever read as HTML.

export const byId = (id) => document.getElementById(id);

export function element(name, attributes = {}, ...children) {
  const made = name.startsWith("svg:") ? document.createElementNS("http://www.w3.org/2000/svg", name.slice(4)) : document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
    else if (value !== undefined && value !== null && value !== false) made.setAttribute(key, value);
  }
  made.append(...children);
  return made;
}

export function setText(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

export function fill(select, values, chosen = select.value) {
  select.replaceChildren(...values.map((value) => element("option", { value }, value)));
  if (values.includes(chosen)) select.value = chosen;
}

// Make a table show rows: objects with `key` and `cells`. Rows that stay keep their elements.
export class Table {
  constructor(table, columns) {
    this.body = element("tbody");
    table.append(element("thead", {}, element("tr", {}, ...columns.map((name) => element("th", { scope: "col" }, name)))), this.body);
    this.rows = new Map();
  }

  show(rows) {
    const kept = new Set(rows.map((row) => row.key));
    for (const [key, row] of this.rows) {
      if (!kept.has(key)) {
        row.remove();
        this.rows.delete(key);
      }
    }
    let place = this.body.firstElementChild;
    for (const { key, cells, mark } of rows) {
      let row = this.rows.get(key);
      if (!row) {
        row = element("tr", { "data-key": key }, ...cells.map((_, index) => element(index ? "td" : "th", index ? {} : { scope: "row" })));
        this.rows.set(key, row);
      }
      if (row === place) place = place.nextElementSibling;
      else this.body.insertBefore(row, place);
      cells.forEach((cell, index) => setText(row.cells[index], cell));
      row.className = mark || "";
    }
  }
}
