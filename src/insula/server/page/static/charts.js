// Lines over time, drawn from the tables that say the same to who cannot see them.
const drawn = new Map();

export function draw() {
  for (const [place, chart] of drawn) {
    if (place.isConnected) continue;
    chart.destroy();
    drawn.delete(place);
  }
  if (!window.uPlot) return;
  for (const place of document.querySelectorAll("[data-chart]")) if (!drawn.has(place)) drawn.set(place, plot(place));
}

function plot(place) {
  const rows = [...document.querySelectorAll(`#${place.dataset.chart}-table tbody tr`)];
  const labels = rows.map((row) => row.cells[0].textContent);
  const short = (at) => rows[at]?.dataset.short ?? "";
  const texts = rows.map((row) => row.cells[1].textContent);
  const values = rows.map((row) => Number(row.cells[1].dataset.value));
  const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const top = Number(place.dataset.top) || Math.max(...values) * 1.15 || 1;
  const marks = place.dataset.marks.split(" ").filter(Boolean).map(Number);
  const axis = { stroke: () => colour("--soft"), grid: { show: false }, ticks: { show: false }, font: "12px system-ui, sans-serif" };
  const said = place.parentElement.querySelector("h3 small");
  const summary = said.textContent;
  return new uPlot(
    {
      ...size(place),
      legend: { show: false },
      cursor: { y: false, drag: { x: false, y: false }, points: { size: 8 } },
      scales: { x: { time: false, range: [-0.4, values.length - 0.6] }, y: { range: [0, top] } },
      axes: [
        { ...axis, size: 22, space: 76, values: (_, at) => at.map((one, place) => (short(one) === short(at[place - 1]) ? "" : short(one))) },
        { ...axis, size: 56, space: 36, grid: { show: true, stroke: () => colour("--line"), width: 1 }, values: (_, at) => at.map((one) => (place.dataset.top ? `${Math.round(100 * one)} %` : top < 1 ? `${Math.round(1000 * one)} ms` : `${+one.toFixed(1)} s`)) },
      ],
      series: [{}, { stroke: () => colour("--meta"), width: 2, points: { show: values.length < 60, size: 5, fill: () => colour("--meta") } }],
      hooks: {
        drawAxes: [(chart) => marks.forEach((mark) => line(chart, mark, colour("--doubt")))],
        setCursor: [(chart) => { said.textContent = chart.cursor.idx == null ? summary : `${labels[chart.cursor.idx]}: ${texts[chart.cursor.idx]}`; }],
      },
    },
    [values.map((_, at) => at), values],
    place,
  );
}

function line(chart, value, colour) {
  const y = Math.round(chart.valToPos(value, "y", true));
  chart.ctx.save();
  chart.ctx.strokeStyle = colour;
  chart.ctx.setLineDash([4, 4]);
  chart.ctx.beginPath();
  chart.ctx.moveTo(chart.bbox.left, y);
  chart.ctx.lineTo(chart.bbox.left + chart.bbox.width, y);
  chart.ctx.stroke();
  chart.ctx.restore();
}

function size(place) {
  return { width: place.clientWidth, height: place.clientHeight };
}

const fit = () => drawn.forEach((chart, place) => chart.setSize(size(place)));
addEventListener("resize", fit);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => drawn.forEach((chart) => chart.redraw(false)));
