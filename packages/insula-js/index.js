/**
 * Client of an Insula server (`insula serve`).
 *
 * ```js
 * import { Insula } from "insula";
 *
 * const insula = new Insula({ user: "ana" });
 * const reply = await insula.chat("monday", "Where does my sister live?");
 * console.log(reply.response, reply.confidence.level);
 * ```
 */

/** @typedef {string | number | boolean} Scalar */
/** @typedef {Record<string, Scalar>} Metadata What you say of a memory, to find it by. */
/** @typedef {"low" | "medium" | "high"} Level */
/** @typedef {{ signal?: AbortSignal }} Options `signal` ends the request. */

/**
 * @typedef {object} Settings
 * @property {string} [url] Where the server is; `http://127.0.0.1:8787` by default.
 * @property {string} [token] Of `insula token new`; needed where the server has tokens.
 * @property {string} [user] Whose memory is used. With a token it may be left out: the token says it.
 * @property {typeof globalThis.fetch} [fetch] Replaces the `fetch` of the runtime.
 */

/**
 * @typedef {object} Filters Which memories are wanted; what is left out wants any.
 * @property {string} [session] The conversation that they are of.
 * @property {"semantic" | "episodic" | "procedural" | "insight" | "meta_reflection"} [kind]
 * @property {Date | string} [since] When they were said at the earliest; a text is read as ISO 8601.
 * @property {Metadata} [metadata] Each name with just this value.
 */

/**
 * @typedef {object} Message What was said elsewhere.
 * @property {"user" | "assistant" | "tool" | "system" | "developer"} [role] `user` by default; the last two are left out.
 * @property {string} content
 * @property {string} [name] Who spoke, where more than one person talks.
 * @property {Date | string} [at] When; now by default.
 * @property {string | number} [id] A message whose id was added to its session before is not added again.
 */

/**
 * @typedef {object} Memory
 * @property {number} id
 * @property {string} content Empty where it was erased.
 * @property {string} provenance `user`, `assistant`, `tool` or `derived`.
 * @property {string} speaker
 * @property {string} kind
 * @property {string} session
 * @property {string} said_at
 * @property {string} stands `long-term`, `working` or `retired`.
 * @property {string} mode `pinned`, `muted` or empty.
 * @property {number} uses
 * @property {number} importance
 * @property {string[]} withheld Why it is never shown to a model, if it is not.
 * @property {Metadata} metadata
 */

/** @typedef {{ author: string, why: string, at: string }} Change What became of a memory. */
/** @typedef {{ memories: Memory[], next: number | null }} MemoryPage `next` is the next page's `before`. */
/** @typedef {{ memory: Memory, score: number, bearing: "answers" | "history" | "bears" | "other" }} SearchHit */
/**
 * @typedef {object} SearchResult
 * @property {Level} level How sure it is that memory holds what was asked.
 * @property {number} score The same as a probability.
 * @property {boolean} answered Whether what was asked is likely among the hits.
 * @property {SearchHit[]} hits Best first.
 * @property {SearchHit[]} nearest Where there are no hits, the lines that come nearest; they answer nothing.
 */
/** @typedef {{ erased: number[], left: string | null }} Deleted What is gone, and what still holds some of it. */
/** @typedef {{ id: number, session: string, turns: number, started_at: string, last_at: string }} Session */
/** @typedef {{ sessions: Session[], next: number | null }} SessionPage */
/** @typedef {{ provenance: string, speaker: string, content: string, at: string }} Line */
/** @typedef {{ level: Level, score: number } | null} Sureness */
/** @typedef {{ turn: number, lines: Line[], confidence: Sureness, hedged: boolean }} Exchange */
/** @typedef {{ session: string, turns: Exchange[], next: number | null }} Transcript */
/** @typedef {{ level: Level, score: number, reasons: string[] }} Confidence How likely memory holds what was asked. */
/** @typedef {{ score: number, passed: boolean, outcome: string, flags: string[], unanswered: string[] }} Assessment */
/** @typedef {{ kind: string, text: string }} Verdict What stands under the answer; mostly an empty text. */

/**
 * @typedef {object} Reply
 * @property {number} turn Its number within the session.
 * @property {string} session
 * @property {string} message
 * @property {string} response The text for the user.
 * @property {Confidence} confidence
 * @property {Assessment | null} assessment
 * @property {boolean} hedged
 * @property {Verdict | null} [verdict]
 * @property {string[]} troubles What failed in Insula itself; mostly empty.
 */

/** @typedef {{ type: "delta", text: string } | { type: "reply", reply: Reply }} StreamEvent */

/**
 * @typedef {object} TurnResult
 * @property {string} response The text for the user: hedged where it should be, else as it was given.
 * @property {boolean} hedged
 * @property {Assessment | null} assessment
 * @property {Verdict | null} verdict
 * @property {string[]} sources The remembered lines that the answer surely says.
 * @property {string[]} saved What of the message was learned, in the user's words.
 * @property {string[]} troubles
 */

/** @typedef {{ input?: number, output?: number, seconds?: number, seconds_to_first_token?: number }} Usage */
/** @typedef {{ tool: string, input?: unknown, output?: unknown, ok?: boolean, id?: string, turn?: string }} Action */
/** @typedef {{ text: string, sense: string, rung: number, impasse: boolean }} Note */
/** @typedef {{ method?: string, query?: object, body?: unknown, accept?: string, signal?: AbortSignal }} Asked */

/** @typedef {{ where: string, why: string }} Fault One thing that is wrong with a request. */
/** @typedef {{ status?: number, type?: string, title?: string, faults?: Fault[], retryAfter?: number }} Told */
/** @typedef {Told & { cause?: unknown }} About */

const HERE = "http://127.0.0.1:8787";

/** What went wrong, with the server's own sentence on what to do. */
export class InsulaError extends Error {
  /**
   * @param {string} message
   * @param {About} [about]
   */
  constructor(message, about = {}) {
    super(message, { cause: about.cause });
    this.name = "InsulaError";
    /** The status of HTTP; 0 where no server was reached. */
    this.status = about.status ?? 0;
    /** Such as `urn:insula:not-found`. */
    this.type = about.type ?? "about:blank";
    this.title = about.title ?? "";
    /** Of a request that does not fit: each thing that is wrong with it. */
    this.faults = about.faults ?? [];
    /** Seconds after which another try is worth it; undefined where the server does not say. */
    this.retryAfter = about.retryAfter;
  }
}

/** One user's memory and conversations on an Insula server. */
export class Insula {
  #url;
  #token;
  #user;
  #fetch;

  /** @param {Settings} [settings] */
  constructor({ url = HERE, token = "", user = "", fetch = globalThis.fetch } = {}) {
    check(typeof token === "string", "token", token, "a text that `insula token new` showed");
    check(typeof user === "string", "user", user, "a name as text");
    check(typeof fetch === "function", "fetch", fetch, "a function like the one of the runtime");
    check(/^https?:\/\/[^/]/.test(String(url)), "url", url, `an address such as ${HERE}`);
    this.#url = String(url).replace(/\/+$/, "");
    this.#token = token;
    this.#user = user;
    this.#fetch = fetch;
  }

  /**
   * Say something to the agent of the server; returns its answer with what was checked of it.
   * @param {string} session @param {string} message @param {Options} [options]
   * @returns {Promise<Reply>}
   */
  async chat(session, message, options = {}) {
    return (await this.#ask("/agent/chat", this.#said(session, message, options))).json();
  }

  /**
   * The same as it comes: `delta` events with pieces, which are provisional, and one `reply` event, which is kept.
   * @param {string} session @param {string} message @param {Options} [options]
   * @returns {AsyncGenerator<StreamEvent, void, void>}
   */
  async *stream(session, message, options = {}) {
    const asked = { ...this.#said(session, message, options), accept: "text/event-stream" };
    const response = await this.#ask("/agent/chat", asked);
    let ended = false;
    for await (const { event, data } of events(response)) {
      if (event === "error") throw failure(data.status, data);
      ended ||= event === "reply";
      if (event === "delta") yield { type: "delta", text: data.text };
      if (event === "reply") yield { type: "reply", reply: data };
    }
    if (!ended) throw new InsulaError("The stream ended before the answer was whole; the message is kept.");
  }

  /**
   * Begin a turn of an agent of your own: what to put before its model. The message is kept.
   * @param {string} session @param {string} message
   * @param {Options & { model?: string, metadata?: Metadata }} [options]
   * @returns {Promise<Turn>}
   */
  async turn(session, message, { model = "", metadata, signal } = {}) {
    const { body } = this.#said(session, message, {});
    const asked = { ...body, model, metadata };
    const begun = await (await this.#ask("/v1/turns", { method: "POST", body: asked, signal })).json();
    return new Turn(message, begun, (response, given) => this.finish(begun.state, response, given));
  }

  /**
   * Finish a turn that was begun elsewhere, with the `state` that was kept of it.
   * @param {string} state @param {string} response @param {Options & { usage?: Usage }} [options]
   * @returns {Promise<TurnResult>}
   */
  async finish(state, response, { usage, signal } = {}) {
    check(typeof state === "string", "state", state, "the `state` of a turn");
    check(typeof response === "string", "response", response, "the answer as text");
    const body = { user: this.#user || undefined, state, response, usage };
    return (await this.#ask("/v1/turns/finish", { method: "POST", body, signal })).json();
  }

  /**
   * Let the senses feel a tool call; give back `state` with the next one, and put `note` behind the tool's result.
   * @param {Action} action @param {string | null} [state] @param {Options} [options]
   * @returns {Promise<{ state: string, note: Note | null }>}
   */
  async feel(action, state = null, { signal } = {}) {
    check(typeof action?.tool === "string", "action", action, "an object with the name of the `tool`");
    return (await this.#ask("/v1/actions", { method: "POST", body: { ...action, state }, signal })).json();
  }

  /**
   * Remember what was said elsewhere, without answering it; returns the ids of the new memories.
   * @param {string | Message | (string | Message)[]} messages A text of the user's, or messages; up to 200 at once.
   * @param {Options & { session?: string, metadata?: Metadata }} [options]
   * @returns {Promise<number[]>}
   */
  async add(messages, { session, metadata, signal } = {}) {
    const lines = (Array.isArray(messages) ? messages : [messages]).map((one) => {
      const line = typeof one === "string" ? { content: one } : one;
      check(typeof line?.content === "string", "message", one, "a text, or an object with `content`");
      return { ...line, at: moment("at", line.at) };
    });
    const body = { messages: lines, session, metadata };
    const added = await this.#json("/agent/memories", { method: "POST", body, signal });
    return added.ids;
  }

  /**
   * What answers a question or shares words with it, and how sure that is. Where nothing does, `answered` is false and
   * `nearest` says what comes nearest.
   * @param {string} query @param {Filters & Options & { limit?: number }} [options]
   * @returns {Promise<SearchResult>}
   */
  async search(query, { limit = 10, signal, ...filters } = {}) {
    check(typeof query === "string" && query.trim() !== "", "query", query, "a question, or words");
    const body = { query, limit: count(limit), ...wanted(filters) };
    return this.#json("/agent/memories/search", { method: "POST", body, signal });
  }

  /**
   * A page of what is remembered, newest first.
   * @param {Filters & Options & { before?: number, limit?: number }} [options] `before`: `next` of the page before.
   * @returns {Promise<MemoryPage>}
   */
  async list({ before, limit = 50, signal, ...filters } = {}) {
    const { metadata, ...named } = wanted(filters);
    const query = { before, limit: count(limit), ...named, metadata: metadata && JSON.stringify(metadata) };
    return this.#json("/agent/memories", { query, signal });
  }

  /**
   * All that is remembered, page by page: `for await (const memory of insula.all())`.
   * @param {Filters & Options} [options]
   * @returns {AsyncGenerator<Memory, void, void>}
   */
  async *all(options = {}) {
    for (let before; ; ) {
      const page = await this.list({ ...options, before, limit: 200 });
      yield* page.memories;
      if (page.next === null) return;
      before = page.next;
    }
  }

  /**
   * One memory, also one that was retired.
   * @param {number} id @param {Options} [options] @returns {Promise<Memory>}
   */
  async get(id, options = {}) {
    const { history: _, ...memory } = await this.#memory(id, options);
    return memory;
  }

  /**
   * What became of a memory, oldest first.
   * @param {number} id @param {Options} [options] @returns {Promise<Change[]>}
   */
  async history(id, options = {}) {
    return (await this.#memory(id, options)).history;
  }

  /**
   * Let a memory say something else; what it said before stands in its history until it is deleted.
   * @param {number} id @param {string} text @param {Options} [options] @returns {Promise<Memory>}
   */
  async update(id, text, options = {}) {
    check(typeof text === "string" && text.trim() !== "", "text", text, "what the memory should say");
    return this.#decide(id, { do: "correct", text }, options);
  }

  /**
   * Pin or mute a memory, or undo the last decision on it.
   * @param {number} id @param {"pin" | "unpin" | "mute" | "unmute" | "undo"} what @param {Options} [options]
   * @returns {Promise<Memory>}
   */
  async decide(id, what, options = {}) {
    return this.#decide(id, { do: what }, options);
  }

  /**
   * Erase a memory for good.
   * @param {number} id @param {Options} [options] @returns {Promise<Deleted>}
   */
  async delete(id, { signal } = {}) {
    const gone = await this.#json(`/agent/memories/${number(id)}`, { method: "DELETE", signal });
    return { erased: [gone.erased], left: gone.left };
  }

  /**
   * Erase for good all memories that the filters want.
   * @param {Filters & Options} filters At least one; to erase all that is kept of the user there is `eraseUser`.
   * @returns {Promise<Deleted>}
   */
  async forget({ signal, ...filters }) {
    const body = wanted(filters);
    const any = [body.session, body.kind, body.since, ...Object.keys(body.metadata ?? {})].some(Boolean);
    check(any, "filter", filters, "at least one, such as { session: \"import\" }; eraseUser(name) takes everything");
    return this.#json("/agent/memories/forget", { method: "POST", body, signal });
  }

  /**
   * Erase all that is kept of the user, for good: memories, conversations, what was learned, their tokens.
   * @param {string} name The user's name, written out: that it is meant.
   * @param {Options} [options]
   * @returns {Promise<{ erased: boolean, left: string | null }>}
   */
  async eraseUser(name, { signal } = {}) {
    check(typeof name === "string" && name !== "", "name", name, "the name of the user who is to be erased");
    return this.#json("/agent/data/erase", { method: "POST", body: { name }, signal });
  }

  /**
   * All that is known of the user, as the text of an archive that `insula user import` takes.
   * @param {Options} [options] @returns {Promise<string>}
   */
  async export({ signal } = {}) {
    return (await this.#ask("/agent/data/export", { query: this.#whose(), signal })).text();
  }

  /**
   * Say that an answer was right or wrong: it counts for how sure to be with this user. Returns what comes of it.
   * @param {string} session @param {number} turn @param {boolean} right @param {Options} [options]
   * @returns {Promise<string>}
   */
  async feedback(session, turn, right, { signal } = {}) {
    check(typeof right === "boolean", "right", right, "true or false");
    const body = { session, turn: number(turn), right };
    return (await this.#json("/agent/answers/judge", { method: "POST", body, signal })).said;
  }

  /**
   * The user's conversations, those begun last first.
   * @param {Options & { before?: number, limit?: number }} [options] @returns {Promise<SessionPage>}
   */
  async sessions({ before, limit = 50, signal } = {}) {
    return this.#json("/agent/sessions", { query: { before, limit: count(limit) }, signal });
  }

  /**
   * What was said in a conversation, oldest first; `next` is `before` of the turns before these.
   * @param {string} session @param {Options & { before?: number, limit?: number }} [options]
   * @returns {Promise<Transcript>}
   */
  async session(session, { before, limit = 50, signal } = {}) {
    check(typeof session === "string" && session !== "", "session", session, "the name of a conversation");
    const path = `/agent/sessions/${session.split("/").map(encodeURIComponent).join("/")}`;
    return this.#json(path, { query: { before, limit: count(limit) }, signal });
  }

  /** @param {string} session @param {string} message @param {Options} options */
  #said(session, message, { signal }) {
    check(typeof session === "string" && session !== "", "session", session, "the name of a conversation");
    check(typeof message === "string" && message.trim() !== "", "message", message, "what the user says, as text");
    return { method: "POST", body: { user: this.#user || undefined, session, message }, signal };
  }

  /** @param {number} id @param {Options} options @returns {Promise<Memory & { history: Change[] }>} */
  #memory(id, { signal }) {
    return this.#json(`/agent/memories/${number(id)}`, { signal });
  }

  /** @param {number} id @param {object} body @param {Options} options @returns {Promise<Memory>} */
  async #decide(id, body, { signal }) {
    const path = `/agent/memories/${number(id)}`;
    const { history: _, ...memory } = await this.#json(path, { method: "POST", body, signal });
    return memory;
  }

  /** @param {string} path @param {Asked} request @returns {Promise<any>} */
  async #json(path, request) {
    return (await this.#ask(path, { ...request, query: { ...request.query, ...this.#whose() } })).json();
  }

  #whose() {
    return this.#user ? { user: this.#user } : {};
  }

  /** @param {string} path @param {Asked} request @returns {Promise<Response>} */
  async #ask(path, { method = "GET", query = {}, body, accept = "application/json", signal }) {
    const given = Object.entries(query).filter(([, value]) => value !== undefined && value !== "");
    const search = new URLSearchParams(given.map(([name, value]) => [name, String(value)])).toString();
    /** @type {Record<string, string>} */
    const headers = { Accept: accept };
    if (this.#token) headers["Authorization"] = `Bearer ${this.#token}`;
    if (body !== undefined) headers["Content-Type"] = "application/json";
    const init = { method, headers, body: body === undefined ? undefined : JSON.stringify(body), signal };
    let response;
    try {
      response = await this.#fetch(`${this.#url}${path}${search && `?${search}`}`, init);
    } catch (cause) {
      if (signal?.aborted) throw cause;
      throw new InsulaError(`No Insula server answers at ${this.#url}; start one with: insula serve`, { cause });
    }
    if (!response.ok) throw failure(response.status, await problem(response), response.headers.get("retry-after"));
    return response;
  }
}

/** A turn of an agent of your own: what to tell its model, and where to give its answer. */
export class Turn {
  #finish;

  /**
   * @param {string} message
   * @param {any} begun
   * @param {(response: string, options: Options & { usage?: Usage }) => Promise<TurnResult>} finish
   */
  constructor(message, begun, finish) {
    this.#finish = finish;
    this.message = message;
    /** Its number within the session; 0 where it could not be kept, and `troubles` says why. */
    this.number = /** @type {number} */ (begun.turn);
    /** For the system prompt, behind your own: the same from turn to turn. */
    this.instructions = /** @type {string} */ (begun.instructions_stable);
    const behind = /** @type {string} */ (begun.instructions_now);
    /** The message as it should reach the model: what memory says of it stands behind it. */
    this.prompt = behind ? `${message}\n\n${behind}` : message;
    this.confidence = /** @type {Confidence} */ (begun.confidence);
    /** To finish the turn later or elsewhere, with `Insula.finish`; it holds memories. */
    this.state = /** @type {string} */ (begun.state);
    this.troubles = /** @type {string[]} */ (begun.troubles);
    /** @type {TurnResult | null} What `finish` returned. */
    this.result = null;
  }

  /**
   * Give the model's answer; returns it as it should be shown, with what was checked.
   * @param {string} response @param {Options & { usage?: Usage }} [options]
   * @returns {Promise<TurnResult>}
   */
  async finish(response, options = {}) {
    this.result = await this.#finish(response, options);
    return this.result;
  }

  /**
   * Pass on the pieces of an answer as they come, and `finish` with the whole; then `result` is there.
   * @param {AsyncIterable<string> | Iterable<string>} pieces @param {Options & { usage?: Usage }} [options]
   * @returns {AsyncGenerator<string, void, void>}
   */
  async *stream(pieces, options = {}) {
    let whole = "";
    for await (const piece of pieces) {
      whole += piece;
      yield piece;
    }
    await this.finish(whole, options);
  }
}

/**
 * The events of a stream, each with its name and its data (HTML standard, 9.2.6).
 * @param {Response} response
 * @returns {AsyncGenerator<{ event: string, data: any }, void, void>}
 */
async function* events(response) {
  if (!response.body) return;
  const decoder = new TextDecoder();
  const reader = response.body.getReader();
  let rest = "";
  try {
    for (;;) {
      const { value, done } = await reader.read();
      rest += decoder.decode(value, { stream: !done });
      const blocks = rest.split(/\r?\n\r?\n/);
      rest = blocks.pop() ?? "";
      for (const block of blocks) {
        const lines = block.split(/\r?\n/);
        const fields = lines.map((line) => ({ name: line.split(":", 1)[0], text: line.replace(/^[^:]*: ?/, "") }));
        const data = fields.filter(({ name }) => name === "data").map(({ text }) => text).join("\n");
        if (data) yield { event: fields.find(({ name }) => name === "event")?.text ?? "", data: JSON.parse(data) };
      }
      if (done) return;
    }
  } finally {
    await reader.cancel().catch(() => {});
  }
}

/** @param {Response} response @returns {Promise<any>} */
async function problem(response) {
  const text = await response.text();
  try {
    return JSON.parse(text);
  } catch {
    return {};
  }
}

/** @param {number} status @param {any} told @param {string | null} [wait] */
function failure(status, told, wait) {
  const message = told?.detail || `The server answered with ${status} and no word on why; see its log.`;
  const retryAfter = wait ? Number(wait) || undefined : undefined;
  return new InsulaError(message, { status, type: told?.type, title: told?.title, faults: told?.faults, retryAfter });
}

/** @param {Filters} filters @returns {{ session?: string, kind?: string, since?: string, metadata?: Metadata }} */
function wanted(filters) {
  const known = ["session", "kind", "since", "metadata"];
  const unknown = Object.keys(filters).find((name) => !known.includes(name));
  check(unknown === undefined, "filter", unknown, `one of ${known.join(", ")}`);
  return { ...filters, since: moment("since", filters.since) };
}

/** @param {string} name @param {Date | string | undefined} at */
function moment(name, at) {
  if (at === undefined) return undefined;
  const valid = at instanceof Date ? !Number.isNaN(at.getTime()) : typeof at === "string";
  check(valid, name, at, "a Date, or a text such as 2026-01-31");
  return at instanceof Date ? at.toISOString() : at;
}

/** @param {number} limit */
function count(limit) {
  check(Number.isInteger(limit) && limit > 0 && limit <= 200, "limit", limit, "a number from 1 to 200");
  return limit;
}

/** @param {number} id */
function number(id) {
  check(Number.isSafeInteger(id) && id >= 0, "number", id, "a whole number, such as the `id` of a memory");
  return id;
}

/** @param {boolean} fits @param {string} name @param {unknown} given @param {string} remedy */
function check(fits, name, given, remedy) {
  if (fits) return;
  const text = typeof given === "function" ? "function" : (JSON.stringify(given) ?? String(given));
  throw new TypeError(`The ${name} ${text.slice(0, 40)} cannot be used; give ${remedy}.`);
}
