// Insula's plugin for OpenCode; written by `insula install opencode`, removed by `insula uninstall opencode`.
// It tells a hook what happens and appends what the hook says; whatever goes wrong, OpenCode goes on as without it.
import { spawn } from "node:child_process"

const COMMAND = "$command"
const PATIENCE = 5000

// Runs the hook on one event; its text, or nothing.
const tell = (event) =>
  new Promise((resolve) => {
    try {
      const child = spawn(COMMAND, { shell: true, stdio: ["pipe", "pipe", "ignore"] })
      const end = (text) => (clearTimeout(timer), resolve(text))
      const timer = setTimeout(() => (child.kill(), end("")), PATIENCE)
      let said = ""
      child.stdout.on("data", (data) => (said += data))
      child.stdin.on("error", () => {})
      child.on("error", () => end(""))
      child.on("close", () => end(read(said)))
      child.stdin.end(JSON.stringify(event))
    } catch {
      resolve("")
    }
  })

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

export const Insula = async ({ directory }) => {
  const parents = new Map() // of the sessions of subagents
  const started = new Set()
  const answers = new Map() // to tools that threw, by their call

  const told = (event, id, rest = {}) => {
    const parent = parents.get(id)
    return tell({ event, session: parent ?? id, agent: parent ? id : "", cwd: directory, ...rest })
  }

  const onMessage = async (input, output) => {
    const id = input.sessionID
    if (parents.has(id)) return // a subagent's task is no message of the user's
    const texts = started.has(id) ? [] : [await told("session.start", id)]
    started.add(id)
    texts.push(await told("chat.message", id))
    const last = output.parts.findLast((part) => part.type === "text")
    for (const [number, text] of texts.entries())
      if (text && last) output.parts.push({ ...last, id: `${last.id}${number}`, text, synthetic: true })
  }

  const onTool = async (input, output) => {
    const { tool, callID, args } = input
    const { output: said, metadata } = output
    const result = { output: said, metadata: { exit: metadata?.exit } }
    const text = await told("tool.execute.after", input.sessionID, { input: { tool, callID, args }, output: result })
    if (text) output.output = `${said ?? ""}\n\n${text}`
  }

  const onEvent = async ({ event: { type, properties } }) => {
    if (type === "session.created" && properties.info.parentID) parents.set(properties.info.id, root(properties.info))
    if (type === "session.idle" && !parents.has(properties.sessionID)) await told("session.idle", properties.sessionID)
    const part = type === "message.part.updated" ? properties.part : undefined
    if (part?.type !== "tool" || part.state.status !== "error" || answers.has(part.callID)) return
    const input = { tool: part.tool, callID: part.callID, args: part.state.input }
    answers.set(part.callID, told("tool.error", part.sessionID, { input, output: { error: part.state.error } }))
  }

  // A tool that threw ends no tool.execute.after: what is said of it goes behind its error, in each request anew.
  const onRequest = async (_, { messages }) => {
    for (const { type, callID, state } of messages.flatMap((message) => message.parts)) {
      const text = type === "tool" && state.status === "error" && (await answers.get(callID))
      if (text && !state.error.endsWith(text)) state.error += `\n\n${text}`
    }
  }

  const root = ({ parentID }) => parents.get(parentID) ?? parentID

  return {
    event: safe(onEvent),
    "chat.message": safe(onMessage),
    "tool.execute.after": safe(onTool),
    "experimental.chat.messages.transform": safe(onRequest),
  }
}
