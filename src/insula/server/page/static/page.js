// Puts the parts of a page to work.
import { converse } from "./chat.js";
import { draw, zooms } from "./charts.js";
import { GONE, notice, problem } from "./notice.js";
import { listen } from "./signals.js";

document.body.addEventListener("htmx:sendError", () => notice(GONE));
document.body.addEventListener("htmx:responseError", async (event) => {
  const { responseText, status } = event.detail.xhr;
  notice(await problem(new Response(responseText, { status })));
});
document.body.addEventListener("htmx:afterSwap", (event) => event.detail.target?.id === "figures" && draw());
for (const kind of ["load", "hashchange"]) {
  addEventListener(kind, () => {
    const meant = location.hash && document.getElementById(location.hash.slice(1))?.querySelector("details[hx-get], .soul details");
    if (meant) meant.open = true;
    for (const one of document.querySelectorAll("details[open][hx-get]")) htmx.trigger(one, "toggle"); // opened too early
  });
}
addEventListener("click", (event) => {
  const menu = document.getElementById("me");
  if (menu && menu.open && !menu.contains(event.target)) menu.open = false;
});
addEventListener("keydown", (event) => {
  const menu = document.getElementById("me");
  if (event.key === "Escape" && menu && menu.open) {
    menu.open = false;
    menu.querySelector("summary").focus();
  }
});
const current = document.querySelector(".top nav [aria-current]");
if (current) centre(current.parentElement, current);
const sessions = document.getElementById("sessions");
if (sessions) sessions.open = !matchMedia("(max-width: 900px)").matches;
converse(document.getElementById("composer"));
listen(document.getElementById("signals"));
zooms(document.getElementById("zoom"));
draw();

/** Scroll a row so that a part of it is in its middle. `scrollIntoView` would make some browsers tab on from there. */
function centre(row, part) {
  const [outer, inner] = [row, part].map((one) => one.getBoundingClientRect());
  row.scrollLeft += inner.left + inner.width / 2 - (outer.left + outer.width / 2);
}
