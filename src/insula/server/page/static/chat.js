// The conversation: what comes is provisional until the assessed turn, which the server renders, takes its place.
import { GONE, notice, problem } from "./notice.js";

const STOPPED = "Stopped. Reload the page to see what is kept.";
const LONGEST = 400_000; // characters of an answer that the page shows, as after a reload
const LATEST = 120; // pixels from the end within which the page follows what is written
const PAUSE = 150; // milliseconds between two looks of an answer that is being written, and three times what one took

export function converse(form) {
  if (!form) return;
  const box = form.querySelector("textarea");
  const button = document.getElementById("send");
  const turns = document.getElementById("turns");
  const spoken = document.getElementById("spoken");
  const draft = `draft of ${form.dataset.user}`; // outlives a sign-in, and goes with the tab
  let stop = null;

  box.value ||= sessionStorage.getItem(draft) || "";
  box.addEventListener("input", () => sessionStorage.setItem(draft, box.value));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    if (stop) stop.abort();
    else if (box.value.trim()) send(box.value);
  });
  box.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    if (!stop) form.requestSubmit();
  });
  document.getElementById("tries")?.addEventListener("submit", (event) => {
    event.preventDefault();
    write(event.submitter.value);
    box.focus();
  });
  if (turns.children.length > 1 && !document.getElementById(location.hash.slice(1))) turns.lastElementChild.scrollIntoView({ block: "start" });

  async function send(message) {
    notice("");
    const pending = document.getElementById("pending").content.firstElementChild.cloneNode(true);
    const answer = pending.querySelector(".agent");
    const state = pending.querySelector(".state");
    pending.querySelector(".user p").textContent = message;
    answer.hidden = true;
    turns.append(pending);
    const written = writing(answer);
    write("");
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
        answer.hidden = false;
        state.textContent = "writing; this is not checked yet";
        written(data.text);
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

  /** Takes pieces of an answer and shows all of them, laid out by the server as often as it keeps up. */
  function writing(place) {
    let text = "";
    let asked = false;
    return async function take(piece) {
      text += piece;
      if (!place.firstChild) place.textContent = text;
      if (asked) return;
      asked = true;
      const before = performance.now();
      const near = isNear();
      const shown = text;
      const response = await fetch(form.dataset.prose, { method: "POST", body: shown }).catch(() => null);
      if (response?.ok) htmx.swap(place, await response.text(), { swapStyle: "innerHTML" });
      else place.textContent = text;
      follow(near);
      setTimeout(() => {
        asked = false;
        if (place.isConnected && text !== shown) take("");
      }, PAUSE + 3 * (performance.now() - before));
    };
  }

  async function settle(pending, record) {
    const response = await fetch(form.dataset.turn, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ ...record, response: record.response.slice(0, LONGEST) }),
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
    if (again && !box.value) write(message);
  }

  function write(text) {
    box.value = text;
    if (text) sessionStorage.setItem(draft, text);
    else sessionStorage.removeItem(draft);
  }

  function busy(controller) {
    stop = controller;
    button.textContent = controller ? "Stop" : "Send";
    box.required = !controller; // or the browser would not let an empty form say that it is to stop
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
