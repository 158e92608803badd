// Signals as they happen. After a cut it goes on behind the last one that was seen, so that none is lost or told twice.
const MOST = 200; // lines that are kept
const AGAIN = 3000; // milliseconds before a closed stream is opened anew

export function listen(list) {
  if (!list) return;
  const state = document.getElementById("live");
  let seen = Number(list.dataset.after);
  let shown = seen;
  let source;
  let work = Promise.resolve();

  function tell(kind, text) {
    state.className = `state ${kind}`;
    state.textContent = text;
  }

  function open() {
    const address = new URL(list.dataset.source, location.href);
    address.searchParams.set("after", seen);
    source = new EventSource(address);
    source.onopen = () => tell("on", "live");
    source.onmessage = (event) => {
      seen = Math.max(seen, Number(event.lastEventId));
      work = work.then(show).catch(() => {});
    };
    source.onerror = () => {
      tell("wait", "reconnecting …");
      if (source.readyState === EventSource.CLOSED) setTimeout(open, AGAIN);
    };
  }

  /** The lines behind those that are shown, as the server renders them. */
  async function show() {
    if (shown >= seen) return;
    const address = new URL(list.dataset.part, location.href);
    address.searchParams.set("after", shown);
    const response = await fetch(address);
    if (!response.ok) return;
    const lines = await response.text();
    shown = Math.max(shown, ...[...lines.matchAll(/data-id="(\d+)"/g)].map((found) => Number(found[1])));
    htmx.swap(list, lines, { swapStyle: "afterbegin" });
    while (list.children.length > MOST) list.lastElementChild.remove();
    document.getElementById("silent")?.remove();
    htmx.trigger(document.body, "noticed");
  }

  addEventListener("pagehide", () => source.close());
  addEventListener("pageshow", (event) => event.persisted && open());
  addEventListener("load", open);
}
