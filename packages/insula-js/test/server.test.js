// The client against a real server, which INSULA_URL names (INSULA_USER, and INSULA_TOKEN where it has tokens).
import assert from "node:assert/strict";
import { test } from "node:test";

import { Insula, InsulaError } from "../index.js";

const { INSULA_URL: url, INSULA_USER: user = "ana", INSULA_TOKEN: token = "" } = process.env;
const options = { skip: url ? false : "INSULA_URL names no server" };
const insula = new Insula({ url, token, ...(token ? {} : { user }) });
const SISTER = "My sister Mia lives in Lisbon.";
const NUT = "I am allergic to peanuts.";

test("what is added is found, and a search says when nothing answers", options, async () => {
  const [first, second] = await insula.add(
    [
      { role: "user", content: SISTER, id: "m-1", at: new Date("2026-05-01") },
      { role: "assistant", content: "Noted.", id: "m-2" },
    ],
    { session: "import", metadata: { app: "notes", n: 1 } },
  );
  assert.ok(first && second > first);
  assert.deepEqual(await insula.add({ content: SISTER, id: "m-1" }, { session: "import" }), []);
  const found = await insula.search("Where does my sister live?");
  assert.deepEqual([found.answered, found.hits[0].memory.id, found.hits[0].bearing], [true, first, "answers"]);
  assert.equal(found.hits[0].memory.said_at.slice(0, 10), "2026-05-01");
  const nothing = await insula.search("boat engine");
  assert.deepEqual([nothing.answered, nothing.level, nothing.hits], [false, "low", []]);
});

test("filters and pages hold for list and search", options, async () => {
  await insula.add(NUT, { session: "other" });
  const contents = async (filters) => (await insula.list(filters)).memories.map((one) => one.content);
  assert.deepEqual(await contents({ session: "other" }), [NUT]);
  assert.deepEqual(await contents({ metadata: { app: "notes", n: 1 } }), ["Noted.", SISTER]);
  assert.deepEqual(await contents({ metadata: { n: "1" } }), []);
  assert.deepEqual(await contents({ since: "2026-06-01", session: "import" }), ["Noted."]);
  const { hits } = await insula.search("sister peanuts", { session: "other" });
  assert.deepEqual(hits.map((hit) => hit.memory.content), [NUT]);
  const page = await insula.list({ limit: 2 });
  const rest = await insula.list({ limit: 2, before: page.next });
  assert.deepEqual([...page.memories, ...rest.memories].map((one) => one.content), [NUT, "Noted.", SISTER]);
  assert.equal(rest.next, null);
  const all = [];
  for await (const memory of insula.all()) all.push(memory.id);
  assert.equal(new Set(all).size, 3);
});

test("a memory is corrected, pinned, looked back on and deleted", options, async () => {
  const { memories } = await insula.list({ session: "import" });
  const memory = memories.find((one) => one.content === SISTER);
  const changed = await insula.update(memory.id, "My sister Mia lives in Porto.");
  assert.equal(changed.content, "My sister Mia lives in Porto.");
  assert.equal((await insula.decide(memory.id, "pin")).mode, "pinned");
  const [first] = await insula.history(memory.id);
  assert.deepEqual([first.why, Number.isNaN(Date.parse(first.at))], ["corrected", false]);
  assert.match(await insula.export(), /Porto/);
  assert.deepEqual((await insula.delete(memory.id)).erased, [memory.id]);
  assert.equal((await insula.get(memory.id)).content, "");
  const missing = await insula.get(99999).catch((error) => error);
  assert.deepEqual([missing instanceof InsulaError, missing.status], [true, 404]);
  assert.match(missing.message, /There is no memory 99999 of 'ana'; the list of memories says/);
});

test("a turn of one's own agent is told, checked and kept", options, async () => {
  await (await insula.turn("a", "My brother Tom lives in Cork.", { metadata: { channel: "mail" } })).finish("Noted.");
  const turn = await insula.turn("b", "Where does my brother live?");
  assert.ok(turn.prompt.startsWith("Where does my brother live?"));
  assert.match(turn.instructions + turn.prompt, /Cork/);
  const answer = "Your brother Tom lives in Cork.";
  const result = await turn.finish(answer, { usage: { input: 100, output: 9, seconds: 0.5 } });
  assert.deepEqual([result.response, result.sources], [answer, ["My brother Tom lives in Cork."]]);
  const told = await insula.list({ metadata: { channel: "mail" } });
  assert.ok(told.memories.some((one) => one.content === "My brother Tom lives in Cork."));
  const streamed = await insula.turn("c", "Where is the castle?");
  const pieces = [];
  for await (const piece of streamed.stream(["In ", "Lisbon."])) pieces.push(piece);
  assert.deepEqual([pieces.join(""), streamed.result.response], ["In Lisbon.", "In Lisbon."]);
  assert.match((await insula.finish(streamed.state, "In Lisbon.")).troubles.join(" "), /was finished before/);
});

test("the server's own agent answers, streams, and takes a word on its answer", options, async () => {
  const reply = await insula.chat("monday", "What is the capital of Mongolia?");
  assert.deepEqual([reply.turn, reply.session, typeof reply.response], [1, "monday", "string"]);
  const events = [];
  for await (const event of insula.stream("monday", "And of France?")) events.push(event);
  const last = events.pop();
  assert.deepEqual([last.type, last.reply.turn, events.every((one) => one.type === "delta")], ["reply", 2, true]);
  assert.match(await insula.feedback("monday", 1, false), /\.$/);
  await assert.rejects(insula.feedback("monday", 1, true), /judged before/);
  assert.ok((await insula.sessions()).sessions.some((one) => one.session === "monday" && one.turns === 2));
  const { turns } = await insula.session("monday");
  assert.deepEqual(turns.map((one) => one.lines[0].content), ["What is the capital of Mongolia?", "And of France?"]);
});

test("the senses feel a tool call that fails again and again", options, async () => {
  let state = null;
  const notes = [];
  for (let n = 0; n < 6; n++) {
    const call = { tool: "query", input: { sql: `select ${n}` }, output: "Error: no such table" };
    const felt = await insula.feel(call, state);
    state = felt.state;
    if (felt.note) notes.push(felt.note.text);
  }
  assert.match(notes.join("\n"), /\[insula\]/);
});

test("what a filter wants is forgotten, and then all of it", options, async () => {
  const { erased } = await insula.forget({ session: "other" });
  assert.equal(erased.length, 1);
  assert.deepEqual((await insula.list({ session: "other" })).memories, []);
  await assert.rejects(insula.eraseUser("somebody else"), /nothing was erased/);
  assert.equal((await insula.eraseUser(user)).erased, true);
  if (token) await assert.rejects(insula.list(), { status: 401 });
  else assert.deepEqual((await insula.list()).memories, []);
});
