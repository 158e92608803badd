// The conversation: what comes is provisional until the assessed turn, which the server renders, takes its place.
import { GONE, notice, problem } from "./notice.js";

const STOPPED = "Stopped. Reload the page to see what is kept.";
const LATEST = 120; // pixels from the end within which the page follows what is written

export function converse(form) {
  if (!form) return;
  const box = form.querySelector("textarea");
  const button = document.getElementById("send");
  const turns = document.getElementById("turns");
  const spoken = document.getElementById("spoken");
  let stop = null;

  form.addEventListener("submit", (event) => event.preventDefault());
  button.addEventListener("click", () => (stop ? stop.abort() : box.value.trim() && send(box.value)));
  box.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    if (!stop) button.click();
  });
  for (const one of document.querySelectorAll("[data-try]")) {
    one.addEventListener("click", () => {
      box.value = one.textContent;
      box.focus();
    });
  }
  if (turns.children.length > 1 && !document.getElementById(location.hash.slice(1))) turns.lastElementChild.scrollIntoView({ block: "start" });

  async function send(message) {
    notice("");
    const pending = document.getElementById("pending").content.firstElementChild.cloneNode(true);
    const [said, answer] = pending.querySelectorAll(".said p");
    const state = pending.querySelector(".state");
    said.textContent = message;
    answer.parentElement.hidden = true;
    turns.append(pending);
    box.value = "";
    busy(new AbortController());
    follow(true);
    let failure = "";
    try {
      const response = await ask(message);
      if (!response.ok) throw new Error(await problem(response));
      for await (const [kind, data] of events(response.body)) {
        if (kind === "error") throw new Error(data.detail);
        if (kind === "reply") await settle(pending, data);
        if (kind !== "delta") continue;
        const near = isNear();
        answer.parentElement.hidden = false;
        answer.textContent += data.text;
        state.textContent = "writing; this is not checked yet";
        follow(near);
      }
      if (pending.isConnected) throw new TypeError("cut");
    } catch (error) {
      failure = error.name === "AbortError" ? STOPPED : error instanceof TypeError ? GONE : error.message;
      fail(pending, state, failure, message, error.name !== "AbortError");
    } finally {
      busy(null);
      box.focus();
      htmx.trigger(document.body, "answered");
    }
  }

  function ask(message) {
    const { user, session } = form.dataset;
    return fetch("/agent/chat", {
      method: "POST",
      headers: { "Content-Type": "application/json", Accept: "text/event-stream" },
      body: JSON.stringify({ user, session, message }),
      signal: stop.signal,
    });
  }

  async function settle(pending, record) {
    const response = await fetch(form.dataset.turn, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify(record),
    });
    if (!response.ok) throw new Error(await problem(response));
    const near = isNear();
    htmx.swap(pending, await response.text(), { swapStyle: "outerHTML" });
    pending.remove();
    const verdicts = [...turns.lastElementChild.querySelectorAll(".told")].map((one) => one.textContent.replace(/\s+/g, " "));
    spoken.textContent = `Answered. ${verdicts.join(". ")}`;
    follow(near);
  }

  function fail(pending, state, text, message, again) {
    pending.classList.remove("provisional");
    state.className = "notice bad";
    state.setAttribute("role", "alert");
    state.textContent = text;
    if (again && !box.value) box.value = message;
  }

  function busy(controller) {
    stop = controller;
    button.textContent = controller ? "Stop" : "Send";
  }
}

function isNear() {
  return document.body.scrollHeight - innerHeight - scrollY < LATEST;
}

function follow(near) {
  if (near) scrollTo(0, document.body.scrollHeight);
}

/** The events of a stream, each as its kind and its data. */
async function* events(body) {
  let held = "";
  for await (const chunk of pieces(body.pipeThrough(new TextDecoderStream()))) {
    held += chunk.replaceAll("\r\n", "\n");
    for (let end = held.indexOf("\n\n"); end >= 0; end = held.indexOf("\n\n")) {
      const lines = held.slice(0, end).split("\n");
      held = held.slice(end + 2);
      const of = (name) => lines.filter((line) => line.startsWith(`${name}:`)).map((line) => line.slice(name.length + 1).trim());
      if (of("data").length) yield [of("event")[0] || "message", JSON.parse(of("data").join("\n"))];
    }
  }
}

async function* pieces(stream) {
  const reader = stream.getReader();
  for (let next = await reader.read(); !next.done; next = await reader.read()) yield next.value;
}
