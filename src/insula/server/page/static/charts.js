// Lines over time, drawn from the tables that say the same to who cannot see them. One window and one cursor for all.
const drawn = new Map();
let moments = []; // of all charts, in order
let span = null; // the first and the last that are shown; all where there is none
let other = ""; // the chart that each is compared with

export function draw() {
  if (!window.uPlot) return;
  drawn.forEach((chart) => chart.destroy());
  drawn.clear();
  const places = [...document.querySelectorAll("[data-chart]")];
  moments = [...new Set(places.flatMap((place) => read(place).map((one) => one.at)))].sort((a, b) => a - b);
  for (const place of places) drawn.set(place, plot(place, read(place)));
}

export function zooms(bar) {
  if (!bar) return;
  bar.addEventListener("click", (event) => event.target.dataset.zoom && move(event.target.dataset.zoom));
  bar.querySelector("select").addEventListener("change", (event) => {
    other = event.target.value;
    draw();
  });
}

function move(way) {
  const [first, last] = span ?? [0, moments.length - 1];
  const size = last - first;
  const to = { in: [first + Math.ceil(size / 2), last], out: [first - size - 1, last], all: [0, moments.length], earlier: [first - Math.ceil(size / 2), last - Math.ceil(size / 2)], later: [first + Math.ceil(size / 2), last + Math.ceil(size / 2)] }[way];
  show(...to);
}

function show(first, last) {
  const end = moments.length - 1;
  const size = Math.max(1, last - first);
  const from = Math.min(Math.max(0, first), Math.max(0, end - size));
  span = size >= end ? null : [from, from + size];
  draw();
  const [a, b] = span ?? [0, end];
  document.getElementById("window").textContent = span ? `${b - a + 1} of ${end + 1} moments shown` : "all of it shown";
}

function read(place) {
  return [...document.querySelectorAll(`#${place.dataset.chart}-table tbody tr`)].map((row) => ({
    at: Number(row.dataset.at),
    label: row.cells[0].textContent,
    short: row.dataset.short,
    text: row.cells[1].textContent,
    value: Number(row.cells[1].dataset.value),
  }));
}

const middle = (rows) => [...rows].sort((a, b) => a.value - b.value)[Math.floor(rows.length / 2)].text;
const until = (rows, at) => rows.findLast((one) => one.at <= at);

function plot(place, every) {
  const rows = span ? every.filter((one) => one.at >= moments[span[0]] && one.at <= moments[span[1]]) : every;
  const before = span ? every.filter((one) => one.at < moments[span[0]]) : [];
  const beside = other && other !== place.dataset.chart && document.querySelector(`[data-chart=${other}]`);
  const theirs = beside ? read(beside) : [];
  const values = rows.map((one) => one.value);
  const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const top = Number(place.dataset.top) || Math.max(...every.map((one) => one.value)) * 1.15 || 1;
  const marks = place.dataset.marks.split(" ").filter(Boolean).map(Number);
  const axis = { stroke: () => colour("--soft"), grid: { show: false }, ticks: { show: false }, font: "12px system-ui, sans-serif" };
  const said = place.parentElement.querySelector("h2 small");
  said.dataset.summary ??= said.textContent;
  const here = rows.length ? `here ${middle(rows)}` : "nothing here";
  const summary = span ? `${here}${before.length ? `, before ${middle(before)}` : ""} (middle)` : said.dataset.summary;
  said.textContent = summary;
  const tell = (at) => {
    const one = at === null ? null : until(rows, at);
    const second = one && beside ? until(theirs, one.at) : null;
    said.textContent = one ? `${one.label}: ${one.text}${second ? ` · ${name(beside)} ${second.text}` : ""}` : summary;
  };
  place.tell = tell;
  const scale = beside ? Number(beside.dataset.top) || Math.max(...theirs.map((one) => one.value)) * 1.15 || 1 : 1;
  return new uPlot(
    {
      ...size(place),
      legend: { show: false },
      cursor: { y: false, drag: { x: true, y: false, setScale: false }, points: { size: 8 } },
      scales: { x: { time: false, range: [-0.4, Math.max(values.length, 1) - 0.6] }, y: { range: [0, top] }, z: { range: [0, scale] } },
      axes: [
        { ...axis, size: 22, space: 76, values: (_, at) => at.map((one, place) => (rows[one]?.short === rows[at[place - 1]]?.short ? "" : (rows[one]?.short ?? ""))) },
        { ...axis, size: 56, space: 36, grid: { show: true, stroke: () => colour("--line"), width: 1 }, values: (_, at) => at.map((one) => (place.dataset.top ? `${Math.round(100 * one)} %` : top < 1 ? `${Math.round(1000 * one)} ms` : `${+one.toFixed(1)} s`)) },
      ],
      series: [
        {},
        { stroke: () => colour("--meta"), width: 2, points: { show: values.length < 60, size: 5, fill: () => colour("--meta") } },
        ...(beside ? [{ scale: "z", stroke: () => colour("--doubt"), width: 1.5, dash: [2, 3], points: { show: false } }] : []),
      ],
      hooks: {
        drawAxes: [(chart) => marks.forEach((mark) => line(chart, mark, colour("--doubt")))],
        setCursor: [(chart) => drawn.forEach((_, one) => one.tell(chart.cursor.idx == null ? null : (rows[chart.cursor.idx]?.at ?? null)))],
        setSelect: [(chart) => chart.select.width > 4 && pick(chart, rows)],
      },
    },
    [values.map((_, at) => at), values, ...(beside ? [rows.map((one) => until(theirs, one.at)?.value ?? null)] : [])],
    place,
  );
}

const name = (place) => place.parentElement.querySelector("h2").firstChild.textContent.trim();

function pick(chart, rows) {
  const at = (x) => moments.indexOf(rows[chart.posToIdx(x)]?.at);
  show(at(chart.select.left), at(chart.select.left + chart.select.width));
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
