"use strict";
// Opens what an address points to, tells of the action under the pointer, and filters. The page is whole without it.
// Texts are set as text, never as markup.
(() => {
  const known = new Map();
  const all = (selector, within = document) => [...within.querySelectorAll(selector)];

  function facts(plot) {
    if (!known.has(plot)) known.set(plot, JSON.parse(plot.closest("figure").querySelector("script").textContent));
    return known.get(plot);
  }

  function tell(plot, at) {
    const { texts, bars } = facts(plot);
    const place = Math.max(0, Math.min(bars.length - 1, at));
    const [first, last, head, fine, tool, target, error, felt, said] = bars[place];
    const range = plot.querySelector("input");
    const panel = plot.closest("figure").querySelector(".inspector");
    const put = (selector, text) => { panel.querySelector(selector).textContent = text; };
    const name = first === last ? `Step ${first}` : `Steps ${first} – ${last}`;
    put(".i-head strong", fine ? name : `${name}, failed`);
    put(".i-head span", head);
    put(".i-head em", texts[felt]);
    put(".i-what b", texts[tool]);
    put(".i-what code", texts[target]);
    put(".i-error code", texts[error]);
    put(".i-said span", said ? "Insula would have said" : "Insula would have said nothing here.");
    put(".i-said q", texts[said]);
    panel.querySelector(".i-said").classList.toggle("quiet", !said);
    panel.querySelector(".i-said q").hidden = !said;
    panel.querySelector(".i-error").hidden = !error;
    panel.classList.toggle("bad", !fine);
    range.value = place;
    range.setAttribute("aria-valuetext", `${name}, ${texts[tool]} ${texts[target]}, ${fine ? "" : "failed, "}${head}`);
    plot.querySelector(".cursor").style.left = `${(100 * (place + 0.5)) / range.dataset.cells}%`;
  }

  function under(plot, event) {
    const box = plot.getBoundingClientRect();
    tell(plot, Math.floor(((event.clientX - box.left) / box.width) * plot.querySelector("input").dataset.cells));
  }

  function wake(section) {
    const plot = section.querySelector(".plot");
    if (!plot || plot.dataset.awake) return;
    plot.dataset.awake = "yes";
    const range = plot.querySelector("input");
    all(".cursor, input, .inspector", plot.closest("figure")).forEach((part) => { part.hidden = false; });
    ["pointermove", "pointerdown"].forEach((kind) => plot.addEventListener(kind, (event) => under(plot, event)));
    range.addEventListener("input", () => tell(plot, range.valueAsNumber));
    tell(plot, range.valueAsNumber);
  }

  function point(section, step) {
    const plot = section.querySelector(".plot");
    if (!plot) return;
    const at = facts(plot).bars.findIndex((bar) => bar[1] >= step);
    tell(plot, at < 0 ? Infinity : at);
    all(".band", plot).forEach((band) => band.classList.toggle("here", Number(band.dataset.first) === step));
  }

  function arrive() {
    const found = /^#(session-[0-9a-f]+(?:x\d+)?)(?:-step-(\d+))?$/.exec(location.hash);
    const section = found && document.getElementById(found[1]);
    if (!section) return;
    section.hidden = false;
    section.open = true;
    wake(section);
    if (found[2]) point(section, Number(found[2]));
    show(section, document.getElementById(location.hash.slice(1)) || section);
  }

  function show(section, target) {
    const figure = section.querySelector("figure") || section;
    const together = target.getBoundingClientRect().bottom - figure.getBoundingClientRect().top;
    const fits = target !== section && together > 0 && together < innerHeight - 24;
    const [part, block] = fits ? [figure, "start"] : [target, target === section ? "start" : "center"];
    part.scrollIntoView({ block });
  }

  function filter() {
    const words = document.getElementById("words").value.toLowerCase().split(/\s+/).filter(Boolean);
    const only = document.getElementById("only").checked;
    let shown = 0;
    const sections = all("details.session");
    for (const section of sections) {
      const text = section.querySelector("h3").textContent.toLowerCase();
      section.hidden = (only && !section.classList.contains("stuck")) || !words.every((word) => text.includes(word));
      shown += !section.hidden;
    }
    document.getElementById("count").textContent = shown < sections.length ? `${shown} of ${sections.length}` : "";
  }

  all("details.session").forEach((section) => {
    section.addEventListener("toggle", () => section.open && wake(section));
    if (section.open) wake(section);
  });
  const form = document.getElementById("filter");
  if (form) {
    form.hidden = false;
    form.addEventListener("input", filter);
    form.addEventListener("submit", (event) => event.preventDefault());
  }
  addEventListener("hashchange", arrive);
  // The same address again changes nothing that the browser would tell of.
  addEventListener("click", (event) => {
    const link = event.target.closest && event.target.closest("a[href^='#session-']");
    if (link && link.getAttribute("href") === location.hash) arrive();
  });
  arrive();
})();
