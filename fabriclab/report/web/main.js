// Begins when the page is read: what is drawn comes from the document in it, nothing from anywhere else.

import { Chart, drawn, whenSeen } from "./chart.js";
import { startExplorer } from "./explorer.js";
import { watchTheme } from "./theme.js";

const page = JSON.parse(document.getElementById("report-data").textContent);
document.documentElement.classList.add("interactive");
watchTheme(() => drawn.forEach((chart) => chart.instance && chart.draw()));
for (const element of document.querySelectorAll("[data-chart]")) {
  const chart = new Chart(element, page.charts[element.dataset.chart]);
  whenSeen(element, () => chart.draw());
}
const explorer = document.getElementById("explorer");
// Its height depends on what it shows, so it begins before it is seen, when nothing else is to do.
if (explorer) {
  const begin = () => startExplorer(page.explorer);
  (window.requestIdleCallback ?? setTimeout)(() => (explorer.clientWidth ? begin() : whenSeen(explorer, begin)));
}
