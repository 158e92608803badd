// Puts the parts of a page to work.
import { converse } from "./chat.js";
import { GONE, notice, problem } from "./notice.js";
import { listen } from "./signals.js";

document.body.addEventListener("htmx:sendError", () => notice(GONE));
document.body.addEventListener("htmx:responseError", async (event) => {
  const { responseText, status } = event.detail.xhr;
  notice(await problem(new Response(responseText, { status })));
});
for (const kind of ["load", "hashchange"]) {
  addEventListener(kind, () => {
    const meant = location.hash && document.getElementById(location.hash.slice(1))?.querySelector("th details[hx-get]");
    if (meant) meant.open = true;
    for (const one of document.querySelectorAll("details[open][hx-get]")) htmx.trigger(one, "toggle"); // opened too early
  });
}
addEventListener("click", (event) => {
  const button = event.target.closest("button.copy");
  if (button) copy(button, button.dataset.copy ?? button.parentElement.querySelector("pre").textContent);
  const menu = document.getElementById("me");
  if (menu && menu.open && !menu.contains(event.target)) menu.open = false;
});
let lost = false; // whether what has the keyboard is about to be replaced
document.body.addEventListener("htmx:beforeRequest", (event) => (lost ||= event.detail.elt.contains(document.activeElement)));
document.body.addEventListener("htmx:load", (event) => {
  if (lost && document.activeElement === document.body) land(event.detail.elt);
  lost = false;
});
const said = document.querySelector(".notice.good[role=status]");
const meant = location.hash && document.getElementById(location.hash.slice(1));
if (said && meant) (meant.cells?.[0] ?? meant).prepend(said); // what was done, where the page is scrolled to
else if (said) land(said); // or where the form that did it is gone
document.querySelector("form[action='/sign-out']")?.addEventListener("submit", () => sessionStorage.clear());
addEventListener("keydown", (event) => {
  const menu = document.getElementById("me");
  const open = menu?.open ? menu : document.activeElement.closest("details.edit[open]");
  if (event.key === "Escape" && open) {
    open.open = false;
    open.querySelector("summary").focus();
  }
});
const sessions = document.getElementById("sessions");
if (sessions) sessions.open = !matchMedia("(max-width: 900px)").matches;
converse(document.getElementById("composer"));
listen(document.getElementById("signals"));

/** Puts the keyboard there, so that the next key goes on from it and not from the top of the page. */
function land(place) {
  if (!place.matches("a, button, input, summary, textarea, [tabindex]")) place.tabIndex = -1;
  place.focus({ preventScroll: true });
}

async function copy(button, text) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    const box = Object.assign(document.createElement("textarea"), { value: text });
    button.after(box); // a page without TLS has no clipboard of its own
    box.select();
    document.execCommand("copy");
    box.remove();
    button.focus();
  }
  button.textContent = "Copied";
  setTimeout(() => (button.textContent = "Copy"), 2000);
}
