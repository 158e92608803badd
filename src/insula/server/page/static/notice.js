// Bad news, in the place that every page has for it.
export const GONE = "The server cannot be reached. It may have been stopped; what is on this page stays. Try again once it is back.";

export function notice(text) {
  const place = document.getElementById("notice");
  place.replaceChildren();
  if (!text) return;
  const said = document.createElement("p");
  said.className = "notice bad";
  said.textContent = text;
  place.append(said);
}

/** What a server that answered with a problem says of it. */
export async function problem(response) {
  if (response.status === 401) return "You are signed out. Reload the page and sign in: what you wrote stays in its box.";
  const told = await response.json().catch(() => ({}));
  return told.detail || `The server answered with ${response.status}. Try again.`;
}
