// Insula's plugin for OpenCode; written by `insula install opencode`, removed by `insula uninstall opencode`.
// It tells a hook what happens and appends what the hook says; whatever goes wrong, OpenCode goes on as without it.
import { spawn } from "node:child_process"

const COMMAND = "$command"
const PATIENCE = 5000
const LONGEST = 64 * 1024 // characters of an answer
const LARGEST = 1024 * 1024 // characters of an output that the hook is told
const MOST = 1000 // sessions, and tools that threw, that are remembered
const SHOWN = { bytes: 48_000, lines: 1_900 } // of a result, before OpenCode cuts off its end

// Runs the hook on one event; its text, or nothing.
const tell = (event) =>
  new Promise((resolve) => {
    try {
      const told = JSON.stringify(event)
      const child = spawn(COMMAND, { shell: true, detached: true, stdio: ["pipe", "pipe", "ignore"] })
      const timer = setTimeout(() => end(leave(child)), PATIENCE)
      const end = (text) => (clearTimeout(timer), resolve(text))
      child.on("error", () => end("")) // first of all: where there are no pipes, the next lines throw
      child.stdin.on("error", () => {})
      child.stdout.on("error", () => {})
      let said = ""
      child.stdout.setEncoding("utf8").on("data", (data) => {
        said += data
        if (said.length > LONGEST) end(leave(child))
      })
      child.on("close", () => end(read(said)))
      child.stdin.end(told)
    } catch {
      resolve("")
    }
  })

// Ends a hook and whatever it has started, which is a group of its own; there is nothing that it said.
const leave = (child) => {
  try {
    child.stdin.destroy()
    child.stdout.destroy()
    child.unref()
    child.kill("SIGKILL")
    if (child.pid > 1) process.kill(-child.pid, "SIGKILL")
  } catch {}
  return ""
}

const read = (said) => {
  try {
    return said ? String(JSON.parse(said).text ?? "") : ""
  } catch {
    return ""
  }
}

// A callback that never throws into OpenCode.
const safe = (callback) => async (input, output) => {
  try {
    await callback(input, output)
  } catch {}
}

// Puts a value into a map behind the others; the oldest goes where there are too many.
const keep = (map, key, value) => {
  map.delete(key)
  map.set(key, value)
  if (map.size > MOST) map.delete(map.keys().next().value)
  return value
}

// The text in what an MCP server gave back; a picture has none.
const texts = (content) =>
  content
    .map((part) => (part?.type === "text" ? part.text : part?.resource?.text))
    .filter((text) => typeof text === "string")
    .join("\n\n")

// Both ends of a text: the hook looks at no more, and takes in 8 MB.
const ends = (said) =>
  said?.length > LARGEST && typeof said === "string" ? said.slice(0, LARGEST / 2) + said.slice(-LARGEST / 2) : said

const isLong = (said) => Buffer.byteLength(said) > SHOWN.bytes || said.split("\n").length > SHOWN.lines

export const Insula = async ({ directory }) => {
  const sessions = new Map() // whether each was told that it starts, and its parent where it is a subagent's
  const answers = new Map() // to tools that threw, by their call

  const about = (id) => keep(sessions, id, sessions.get(id) ?? { started: false, parent: "" })

  const told = (event, id, rest = {}) => {
    const { parent } = about(id)
    return tell({ event, session: parent || id, agent: parent ? id : "", cwd: directory, ...rest })
  }

  const onMessage = async ({ sessionID }, { message, parts }) => {
    const session = about(sessionID)
    if (session.parent || !parts) return // a subagent's task is no message of the user's
    const isFirst = !session.started
    session.started = true // before anything is awaited: another message may come meanwhile
    const said = isFirst ? [await told("session.start", sessionID)] : []
    said.push(await told("chat.message", sessionID))
    const last = parts.at(-1)?.id ?? message.id.replace(/^msg/, "prt")
    for (const [number, text] of said.entries())
      if (text)
        parts.push({ id: `${last}${number}`, sessionID, messageID: message.id, type: "text", text, synthetic: true })
  }

  const onTool = async ({ tool, sessionID, callID, args }, output) => {
    const { content, isError, metadata } = output
    const isMcp = Array.isArray(content) // OpenCode makes the output of it afterwards
    const said = isMcp ? texts(content) : output.output
    const text = await told("tool.execute.after", sessionID, {
      input: { tool, callID, args },
      output: { output: ends(said), isError, metadata: { exit: metadata?.exit } },
      drops_output: isMcp && /\/\d+$/.test(callID), // a program of the model's has called it, and reads the result
    })
    if (!text) return
    if (isMcp) content[isLong(said) ? "unshift" : "push"]({ type: "text", text })
    else if (typeof (said ?? "") === "string") output.output = `${said ?? ""}\n\n${text}`
  }

  const onEvent = async ({ event: { type, properties } }) => {
    if (type === "session.created" || type === "session.updated") onSession(properties.info)
    if (type === "session.deleted") forget(properties.info.id)
    if (type === "session.idle" && !about(properties.sessionID).parent) await told("session.idle", properties.sessionID)
    if (type === "message.part.updated" && properties.part.type === "tool") onPart(properties.part)
  }

  const onSession = ({ id, parentID }) => {
    if (parentID) about(id).parent = sessions.get(parentID)?.parent || parentID
  }

  const forget = (id) => {
    sessions.delete(id)
    for (const [call, { session }] of answers) if (session === id) answers.delete(call)
  }

  // A tool that the user interrupted has not failed.
  const onPart = ({ tool, sessionID, callID, state }) => {
    if (state.status !== "error" || state.metadata?.interrupted || answers.has(callID)) return
    const rest = { input: { tool, callID, args: state.input }, output: { error: ends(state.error) } }
    keep(answers, callID, { session: sessionID, text: told("tool.error", sessionID, rest) })
  }

  // A tool that threw ends no tool.execute.after: what is said of it goes behind its error, in each request anew.
  const onRequest = async (_, { messages }) => {
    for (const { type, callID, state } of messages.flatMap((message) => message.parts)) {
      const text = type === "tool" && state.status === "error" && (await answers.get(callID)?.text)
      if (text && !state.error.endsWith(text)) state.error += `\n\n${text}`
    }
  }

  return {
    event: safe(onEvent),
    "chat.message": safe(onMessage),
    "tool.execute.after": safe(onTool),
    "experimental.chat.messages.transform": safe(onRequest),
  }
}
