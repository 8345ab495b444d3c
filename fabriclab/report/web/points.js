// Which points of a sweep are shown: a row of selectors a point, one for each setting.

const MOST = 4;

function nearest(explorer, choice, changed) {
  const agree = (point) => point.choice.filter((value, index) => value === choice[index]).length;
  const fitting = explorer.points.filter((point) => changed < 0 || point.choice[changed] === choice[changed]);
  return fitting.reduce((best, point) => (agree(point) > agree(best) ? point : best), fitting[0]);
}

function selector(setting, value, name, change) {
  const label = document.createElement("label");
  const select = document.createElement("select");
  setting.values.forEach((text, index) => select.add(new Option(text, index, false, index === value)));
  select.setAttribute("aria-label", `${name}: ${setting.title}`);
  select.addEventListener("change", () => change(Number(select.value)));
  label.append(`${setting.title} `, select);
  return label;
}

function button(text, name, act) {
  const made = document.createElement("button");
  made.type = "button";
  made.textContent = text;
  made.setAttribute("aria-label", name);
  made.addEventListener("click", act);
  return made;
}

export function choosePoints(explorer, show) {
  const place = document.getElementById("points");
  let chosen = explorer.points.filter((point) => point.start);
  const update = (focus) => {
    place.replaceChildren();
    if (explorer.settings.length) chosen.forEach((point, row) => place.append(rowOf(point, row)));
    const others = explorer.points.filter((point) => !chosen.includes(point));
    if (others.length && chosen.length < MOST) {
      place.append(button("Add a point", "Add a point", () => {
        chosen = [...chosen, others[0]];
        update(`${chosen.length - 1}/0`);
      }));
    }
    if (focus) place.querySelector(`[data-place="${focus}"] select`)?.focus();
    show(chosen);
  };
  const rowOf = (point, row) => {
    const line = document.createElement("div");
    line.className = `point point-${row}`;
    explorer.settings.forEach((setting, index) => {
      const made = selector(setting, point.choice[index], `Point ${row + 1}`, (value) => {
        const wanted = point.choice.with(index, value);
        chosen = chosen.with(row, nearest(explorer, wanted, index));
        update(`${row}/${index}`);
      });
      made.dataset.place = `${row}/${index}`;
      line.append(made);
    });
    if (chosen.length > 1) {
      line.append(button("Remove", `Remove point ${row + 1}`, () => {
        chosen = chosen.toSpliced(row, 1);
        update(`${Math.max(row - 1, 0)}/0`);
      }));
    }
    return line;
  };
  update();
}
