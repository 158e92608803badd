// The client against a server of a few lines: what it sends, and what it makes of what comes back.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { test } from "node:test";

import { Insula, InsulaError, Turn } from "../index.js";

/** Run `body` with a client of a server that answers with `answer`; returns the requests that reached it. */
async function against(answer, body, settings = {}) {
  const seen = [];
  const server = createServer((request, response) => {
    let text = "";
    request.on("data", (piece) => (text += piece));
    request.on("end", () => {
      seen.push({ method: request.method, url: request.url, headers: request.headers, body: text && JSON.parse(text) });
      answer(response, request);
    });
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${server.address().port}`;
  try {
    await body(new Insula({ url, ...settings }));
  } finally {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
  return seen;
}

const say = (status, told, headers = {}) => (response) => {
  response.writeHead(status, { "Content-Type": "application/json", ...headers }).end(JSON.stringify(told));
};

/** Answer with a stream, cut into pieces of so many bytes. */
const streaming = (text, size) => async (response) => {
  response.writeHead(200, { "Content-Type": "text/event-stream" });
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; at += size) {
    response.write(bytes.subarray(at, at + size));
    await new Promise(setImmediate);
  }
  response.end();
};

const collect = async (stream) => {
  const all = [];
  for await (const one of stream) all.push(one);
  return all;
};

test("a stream is read alike wherever it is cut", async () => {
  const reply = { turn: 1, response: "São Paulo, 東京 🎻." };
  const text =
    `: keepalive\n\nevent: delta\ndata: ${JSON.stringify({ text: "São Paulo, " })}\n\n` +
    `event: delta\r\ndata: ${JSON.stringify({ text: "東京 🎻." })}\r\n\r\n` +
    `event: reply\ndata: ${JSON.stringify(reply)}\n\n`;
  for (const size of [1, 2, 3, 7, 1000]) {
    await against(streaming(text, size), async (insula) => {
      const events = await collect(insula.stream("monday", "Where?"));
      assert.deepEqual(events, [
        { type: "delta", text: "São Paulo, " },
        { type: "delta", text: "東京 🎻." },
        { type: "reply", reply },
      ]);
    });
  }
});

test("a stream that ends early, or with a problem, raises", async () => {
  await against(streaming('event: delta\ndata: {"text": "half"}\n\n', 9), async (insula) => {
    await assert.rejects(collect(insula.stream("monday", "Where?")), /ended before the answer was whole/);
  });
  const problem = { type: "urn:insula:model-error", title: "Model error", status: 502, detail: "The model failed." };
  await against(streaming(`event: error\ndata: ${JSON.stringify(problem)}\n\n`, 9), async (insula) => {
    const expected = { message: problem.detail, status: 502, type: problem.type };
    await assert.rejects(collect(insula.stream("monday", "Where?")), expected);
  });
});

test("whoever leaves a stream early closes it", async () => {
  let closed;
  const gone = new Promise((resolve) => (closed = resolve));
  const forever = (response) => {
    response.on("close", closed);
    response.writeHead(200, { "Content-Type": "text/event-stream" }).write('event: delta\ndata: {"text": "a"}\n\n');
  };
  await against(forever, async (insula) => {
    for await (const event of insula.stream("monday", "Where?")) {
      assert.equal(event.text, "a");
      break;
    }
    await gone;
  });
});

test("an error says what the server says", async () => {
  const told = { type: "urn:insula:not-found", title: "Not found", status: 404, detail: "There is no memory 9." };
  await against(say(404, told), async (insula) => {
    const error = await insula.get(9).catch((caught) => caught);
    assert.ok(error instanceof InsulaError);
    assert.deepEqual([error.message, error.status, error.type], [told.detail, 404, told.type]);
  });
  await against(say(429, { detail: "Wait." }, { "Retry-After": "5" }), async (insula) => {
    await assert.rejects(insula.chat("monday", "Hello"), { message: "Wait.", retryAfter: 5 });
  });
  await against((response) => response.writeHead(502).end("<html>"), async (insula) => {
    await assert.rejects(insula.list(), { status: 502, message: /answered with 502 and no word on why/ });
  });
});

test("where no server is, a sentence says how to start one", async () => {
  const insula = new Insula({ url: "http://127.0.0.1:9/" });
  const message = "No Insula server answers at http://127.0.0.1:9; start one with: insula serve";
  await assert.rejects(insula.list(), { status: 0, message });
});

test("the token goes in the header, and the user where there is one", async () => {
  const page = say(200, { memories: [], next: null });
  const [named] = await against(page, (insula) => insula.list({ metadata: { app: "a & b" }, since: new Date(0) }), {
    user: "Zoë 🎻",
  });
  const query = new URL(named.url, "http://x").searchParams;
  assert.deepEqual(
    [query.get("user"), query.get("metadata"), query.get("since"), named.headers.authorization],
    ["Zoë 🎻", '{"app":"a & b"}', "1970-01-01T00:00:00.000Z", undefined],
  );
  const [signed] = await against(page, (insula) => insula.list(), { token: "secret" });
  assert.deepEqual([signed.headers.authorization, signed.url.includes("user")], ["Bearer secret", false]);
});

test("what cannot be used is refused before anything is sent", async () => {
  const none = say(500, {});
  const seen = await against(none, async (insula) => {
    const wrong = [
      [() => insula.chat(5, "Hello"), /The session 5 cannot be used/],
      [() => insula.chat("monday", " "), /The message " " cannot be used/],
      [() => insula.turn("monday", null), /The message null/],
      [() => insula.search(7), /The query 7/],
      [() => insula.search("x", { limit: -1 }), /The limit -1 cannot be used; give a number from 1 to 200/],
      [() => insula.list({ limit: 1.5 }), /The limit 1\.5/],
      [() => insula.list({ colour: "red" }), /The filter "colour" cannot be used; give one of session, kind/],
      [() => insula.list({ since: new Date("x") }), /The since null cannot be used; give a Date/],
      [() => insula.add([{ role: "user" }]), /The message \{"role":"user"\}/],
      [() => insula.get("1"), /The number "1"/],
      [() => insula.update(1, ""), /The text ""/],
      [() => insula.forget({}), /eraseUser\(name\) takes everything/],
      [() => insula.forget({ session: undefined }), /eraseUser\(name\) takes everything/],
      [() => insula.forget({ session: "" }), /eraseUser\(name\) takes everything/],
      [() => insula.forget({ metadata: {} }), /eraseUser\(name\) takes everything/],
      [() => insula.feedback("monday", 1, "yes"), /The right "yes"/],
    ];
    for (const [call, said] of wrong) await assert.rejects(call, { name: "TypeError", message: said });
  });
  assert.deepEqual(seen, []);
  assert.throws(() => new Insula({ url: "localhost:8787" }), /The url "localhost:8787" cannot be used/);
  assert.throws(() => new Insula({ user: 5 }), /The user 5/);
});

test("a request can be ended", async () => {
  await against(() => {}, async (insula) => {
    await assert.rejects(insula.chat("monday", "Hello", { signal: AbortSignal.timeout(50) }), { name: "TimeoutError" });
  });
});

test("the declarations name the methods that there are", () => {
  const declared = readFileSync(new URL("../index.d.ts", import.meta.url), "utf8");
  for (const { name, prototype } of [Insula, Turn]) {
    const body = declared.match(new RegExp(`export class ${name} \\{.*?\\n\\}`, "s"))[0];
    const named = [...body.matchAll(/^ {4}(\w+)\(/gm)].map((found) => found[1]).sort();
    assert.deepEqual(named, Object.getOwnPropertyNames(prototype).sort());
  }
});
