/** What went wrong, with the server's own sentence on what to do. */
export class InsulaError extends Error {
    /**
     * @param {string} message
     * @param {About} [about]
     */
    constructor(message: string, about?: About);
    /** The status of HTTP; 0 where no server was reached. */
    status: number;
    /** Such as `urn:insula:not-found`. */
    type: string;
    title: string;
    /** Of a request that does not fit: each thing that is wrong with it. */
    faults: Fault[];
    /** Seconds after which another try is worth it; undefined where the server does not say. */
    retryAfter: number | undefined;
}
/** One user's memory and conversations on an Insula server. */
export class Insula {
    /** @param {Settings} [settings] */
    constructor({ url, token, user, fetch }?: Settings);
    /**
     * Say something to the agent of the server; returns its answer with what was checked of it.
     * @param {string} session @param {string} message @param {Options} [options]
     * @returns {Promise<Reply>}
     */
    chat(session: string, message: string, options?: Options): Promise<Reply>;
    /**
     * The same as it comes: `delta` events with pieces, which are provisional, and one `reply` event, which is kept.
     * @param {string} session @param {string} message @param {Options} [options]
     * @returns {AsyncGenerator<StreamEvent, void, void>}
     */
    stream(session: string, message: string, options?: Options): AsyncGenerator<StreamEvent, void, void>;
    /**
     * Begin a turn of an agent of your own: what to put before its model. The message is kept.
     * @param {string} session @param {string} message
     * @param {Options & { model?: string, metadata?: Metadata }} [options]
     * @returns {Promise<Turn>}
     */
    turn(session: string, message: string, { model, metadata, signal }?: Options & {
        model?: string;
        metadata?: Metadata;
    }): Promise<Turn>;
    /**
     * Finish a turn that was begun elsewhere, with the `state` that was kept of it.
     * @param {string} state @param {string} response @param {Options & { usage?: Usage }} [options]
     * @returns {Promise<TurnResult>}
     */
    finish(state: string, response: string, { usage, signal }?: Options & {
        usage?: Usage;
    }): Promise<TurnResult>;
    /**
     * Let the senses feel a tool call; give back `state` with the next one, and put `note` behind the tool's result.
     * @param {Action} action @param {string | null} [state] @param {Options} [options]
     * @returns {Promise<{ state: string, note: Note | null }>}
     */
    feel(action: Action, state?: string | null, { signal }?: Options): Promise<{
        state: string;
        note: Note | null;
    }>;
    /**
     * Remember what was said elsewhere, without answering it; returns the ids of the new memories.
     * @param {string | Message | (string | Message)[]} messages A text of the user's, or messages; up to 200 at once.
     * @param {Options & { session?: string, metadata?: Metadata }} [options]
     * @returns {Promise<number[]>}
     */
    add(messages: string | Message | (string | Message)[], { session, metadata, signal }?: Options & {
        session?: string;
        metadata?: Metadata;
    }): Promise<number[]>;
    /**
     * What answers a question or shares words with it, and how sure that is. Where nothing does, `answered` is false and
     * `nearest` says what comes nearest.
     * @param {string} query @param {Filters & Options & { limit?: number }} [options]
     * @returns {Promise<SearchResult>}
     */
    search(query: string, { limit, signal, ...filters }?: Filters & Options & {
        limit?: number;
    }): Promise<SearchResult>;
    /**
     * A page of what is remembered, newest first.
     * @param {Filters & Options & { before?: number, limit?: number }} [options] `before`: `next` of the page before.
     * @returns {Promise<MemoryPage>}
     */
    list({ before, limit, signal, ...filters }?: Filters & Options & {
        before?: number;
        limit?: number;
    }): Promise<MemoryPage>;
    /**
     * All that is remembered, page by page: `for await (const memory of insula.all())`.
     * @param {Filters & Options} [options]
     * @returns {AsyncGenerator<Memory, void, void>}
     */
    all(options?: Filters & Options): AsyncGenerator<Memory, void, void>;
    /**
     * One memory, also one that was retired.
     * @param {number} id @param {Options} [options] @returns {Promise<Memory>}
     */
    get(id: number, options?: Options): Promise<Memory>;
    /**
     * What became of a memory, oldest first.
     * @param {number} id @param {Options} [options] @returns {Promise<Change[]>}
     */
    history(id: number, options?: Options): Promise<Change[]>;
    /**
     * Let a memory say something else; what it said before stands in its history until it is deleted.
     * @param {number} id @param {string} text @param {Options} [options] @returns {Promise<Memory>}
     */
    update(id: number, text: string, options?: Options): Promise<Memory>;
    /**
     * Pin or mute a memory, or undo the last decision on it.
     * @param {number} id @param {"pin" | "unpin" | "mute" | "unmute" | "undo"} what @param {Options} [options]
     * @returns {Promise<Memory>}
     */
    decide(id: number, what: "pin" | "unpin" | "mute" | "unmute" | "undo", options?: Options): Promise<Memory>;
    /**
     * Erase a memory for good.
     * @param {number} id @param {Options} [options] @returns {Promise<Deleted>}
     */
    delete(id: number, { signal }?: Options): Promise<Deleted>;
    /**
     * Erase for good all memories that the filters want.
     * @param {Filters & Options} filters At least one; to erase all that is kept of the user there is `eraseUser`.
     * @returns {Promise<Deleted>}
     */
    forget({ signal, ...filters }: Filters & Options): Promise<Deleted>;
    /**
     * Erase all that is kept of the user, for good: memories, conversations, what was learned, their tokens.
     * @param {string} name The user's name, written out: that it is meant.
     * @param {Options} [options]
     * @returns {Promise<{ erased: boolean, left: string | null }>}
     */
    eraseUser(name: string, { signal }?: Options): Promise<{
        erased: boolean;
        left: string | null;
    }>;
    /**
     * All that is known of the user, as the text of an archive that `insula user import` takes.
     * @param {Options} [options] @returns {Promise<string>}
     */
    export({ signal }?: Options): Promise<string>;
    /**
     * Say that an answer was right or wrong: it counts for how sure to be with this user. Returns what comes of it.
     * @param {string} session @param {number} turn @param {boolean} right @param {Options} [options]
     * @returns {Promise<string>}
     */
    feedback(session: string, turn: number, right: boolean, { signal }?: Options): Promise<string>;
    /**
     * The user's conversations, those begun last first.
     * @param {Options & { before?: number, limit?: number }} [options] @returns {Promise<SessionPage>}
     */
    sessions({ before, limit, signal }?: Options & {
        before?: number;
        limit?: number;
    }): Promise<SessionPage>;
    /**
     * What was said in a conversation, oldest first; `next` is `before` of the turns before these.
     * @param {string} session @param {Options & { before?: number, limit?: number }} [options]
     * @returns {Promise<Transcript>}
     */
    session(session: string, { before, limit, signal }?: Options & {
        before?: number;
        limit?: number;
    }): Promise<Transcript>;
    #private;
}
/** A turn of an agent of your own: what to tell its model, and where to give its answer. */
export class Turn {
    /**
     * @param {string} message
     * @param {any} begun
     * @param {(response: string, options: Options & { usage?: Usage }) => Promise<TurnResult>} finish
     */
    constructor(message: string, begun: any, finish: (response: string, options: Options & {
        usage?: Usage;
    }) => Promise<TurnResult>);
    message: string;
    /** Its number within the session; 0 where it could not be kept, and `troubles` says why. */
    number: number;
    /** For the system prompt, behind your own: the same from turn to turn. */
    instructions: string;
    /** The message as it should reach the model: what memory says of it stands behind it. */
    prompt: string;
    confidence: Confidence;
    /** To finish the turn later or elsewhere, with `Insula.finish`; it holds memories. */
    state: string;
    troubles: string[];
    /** @type {TurnResult | null} What `finish` returned. */
    result: TurnResult | null;
    /**
     * Give the model's answer; returns it as it should be shown, with what was checked.
     * @param {string} response @param {Options & { usage?: Usage }} [options]
     * @returns {Promise<TurnResult>}
     */
    finish(response: string, options?: Options & {
        usage?: Usage;
    }): Promise<TurnResult>;
    /**
     * Pass on the pieces of an answer as they come, and `finish` with the whole; then `result` is there.
     * @param {AsyncIterable<string> | Iterable<string>} pieces @param {Options & { usage?: Usage }} [options]
     * @returns {AsyncGenerator<string, void, void>}
     */
    stream(pieces: AsyncIterable<string> | Iterable<string>, options?: Options & {
        usage?: Usage;
    }): AsyncGenerator<string, void, void>;
    #private;
}
export type Scalar = string | number | boolean;
/**
 * What you say of a memory, to find it by.
 */
export type Metadata = Record<string, Scalar>;
export type Level = "low" | "medium" | "high";
/**
 * `signal` ends the request.
 */
export type Options = {
    signal?: AbortSignal;
};
export type Settings = {
    /**
     * Where the server is; `http://127.0.0.1:8787` by default.
     */
    url?: string | undefined;
    /**
     * Of `insula token new`; needed where the server has tokens.
     */
    token?: string | undefined;
    /**
     * Whose memory is used. With a token it may be left out: the token says it.
     */
    user?: string | undefined;
    /**
     * Replaces the `fetch` of the runtime.
     */
    fetch?: typeof fetch | undefined;
};
/**
 * Which memories are wanted; what is left out wants any.
 */
export type Filters = {
    /**
     * The conversation that they are of.
     */
    session?: string | undefined;
    kind?: "semantic" | "episodic" | "procedural" | "insight" | "meta_reflection" | undefined;
    /**
     * When they were said at the earliest; a text is read as ISO 8601.
     */
    since?: string | Date | undefined;
    /**
     * Each name with just this value.
     */
    metadata?: Metadata | undefined;
};
/**
 * What was said elsewhere.
 */
export type Message = {
    /**
     * `user` by default; the last two are left out.
     */
    role?: "user" | "assistant" | "tool" | "system" | "developer" | undefined;
    content: string;
    /**
     * Who spoke, where more than one person talks.
     */
    name?: string | undefined;
    /**
     * When; now by default.
     */
    at?: string | Date | undefined;
    /**
     * A message whose id was added to its session before is not added again.
     */
    id?: string | number | undefined;
};
export type Memory = {
    id: number;
    /**
     * Empty where it was erased.
     */
    content: string;
    /**
     * `user`, `assistant`, `tool` or `derived`.
     */
    provenance: string;
    speaker: string;
    kind: string;
    session: string;
    said_at: string;
    /**
     * `long-term`, `working` or `retired`.
     */
    stands: string;
    /**
     * `pinned`, `muted` or empty.
     */
    mode: string;
    uses: number;
    importance: number;
    /**
     * Why it is never shown to a model, if it is not.
     */
    withheld: string[];
    metadata: Metadata;
};
/**
 * What became of a memory.
 */
export type Change = {
    author: string;
    why: string;
    at: string;
};
/**
 * `next` is the next page's `before`.
 */
export type MemoryPage = {
    memories: Memory[];
    next: number | null;
};
export type SearchHit = {
    memory: Memory;
    score: number;
    bearing: "answers" | "history" | "bears" | "other";
};
export type SearchResult = {
    /**
     * How sure it is that memory holds what was asked.
     */
    level: Level;
    /**
     * The same as a probability.
     */
    score: number;
    /**
     * Whether what was asked is likely among the hits.
     */
    answered: boolean;
    /**
     * Best first.
     */
    hits: SearchHit[];
    /**
     * Where there are no hits, the lines that come nearest; they answer nothing.
     */
    nearest: SearchHit[];
};
/**
 * What is gone, and what still holds some of it.
 */
export type Deleted = {
    erased: number[];
    left: string | null;
};
export type Session = {
    id: number;
    session: string;
    turns: number;
    started_at: string;
    last_at: string;
};
export type SessionPage = {
    sessions: Session[];
    next: number | null;
};
export type Line = {
    provenance: string;
    speaker: string;
    content: string;
    at: string;
};
export type Sureness = {
    level: Level;
    score: number;
} | null;
export type Exchange = {
    turn: number;
    lines: Line[];
    confidence: Sureness;
    hedged: boolean;
};
export type Transcript = {
    session: string;
    turns: Exchange[];
    next: number | null;
};
/**
 * How likely memory holds what was asked.
 */
export type Confidence = {
    level: Level;
    score: number;
    reasons: string[];
};
export type Assessment = {
    score: number;
    passed: boolean;
    outcome: string;
    flags: string[];
    unanswered: string[];
};
/**
 * What stands under the answer; mostly an empty text.
 */
export type Verdict = {
    kind: string;
    text: string;
};
export type Reply = {
    /**
     * Its number within the session.
     */
    turn: number;
    session: string;
    message: string;
    /**
     * The text for the user.
     */
    response: string;
    confidence: Confidence;
    assessment: Assessment | null;
    hedged: boolean;
    verdict?: Verdict | null | undefined;
    /**
     * What failed in Insula itself; mostly empty.
     */
    troubles: string[];
};
export type StreamEvent = {
    type: "delta";
    text: string;
} | {
    type: "reply";
    reply: Reply;
};
export type TurnResult = {
    /**
     * The text for the user: hedged where it should be, else as it was given.
     */
    response: string;
    hedged: boolean;
    assessment: Assessment | null;
    verdict: Verdict | null;
    /**
     * The remembered lines that the answer surely says.
     */
    sources: string[];
    /**
     * What of the message was learned, in the user's words.
     */
    saved: string[];
    troubles: string[];
};
export type Usage = {
    input?: number;
    output?: number;
    seconds?: number;
    seconds_to_first_token?: number;
};
export type Action = {
    tool: string;
    input?: unknown;
    output?: unknown;
    ok?: boolean;
    id?: string;
    turn?: string;
};
export type Note = {
    text: string;
    sense: string;
    rung: number;
    impasse: boolean;
};
export type Asked = {
    method?: string;
    query?: object;
    body?: unknown;
    accept?: string;
    signal?: AbortSignal;
};
/**
 * One thing that is wrong with a request.
 */
export type Fault = {
    where: string;
    why: string;
};
export type Told = {
    status?: number;
    type?: string;
    title?: string;
    faults?: Fault[];
    retryAfter?: number;
};
export type About = Told & {
    cause?: unknown;
};
