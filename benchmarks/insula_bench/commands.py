"""The commands of `insula bench`; each imports what it measures when it runs."""

from typing import Annotated

import typer

app = typer.Typer(help="Measure Insula on real data.", no_args_is_help=True)
Json = Annotated[bool, typer.Option("--json", help="Print the figures as JSON.")]


@app.command("turn")
def bench_turn(
    data: Annotated[str, typer.Option(help="A LoCoMo file (locomo.json).")],
    memories: Annotated[int, typer.Option(help="Memories of the one user whose recall is timed.", min=1)] = 100_000,
    recall: Annotated[bool, typer.Option("--recall", help="Time recall alone.")] = False,
    json: Json = False,
) -> None:
    """What a turn costs: recall at 10^5 memories, confidence, the monitor, and a whole turn without its model."""
    from insula_bench.turn import run

    raise typer.Exit(run(data, memories, json, recall))


@app.command("hook")
def bench_hook(
    rounds: Annotated[int, typer.Option(help="Calls of each kind that are timed.", min=1)] = 60,
    data: Annotated[
        list[str] | None,
        typer.Option(help="Recorded sessions, a folder with a folder for each project: what the hook says in them."),
    ] = None,
    json: Json = False,
) -> None:
    """What the hook of a coding agent costs per call and whether hooks at once lose an action, or what it says."""
    if data:
        from insula_bench.spoken import run as listen

        raise typer.Exit(listen(data, json))
    from insula_bench.hook import run

    raise typer.Exit(run(rounds, json))


@app.command("guest")
def bench_guest(
    turns: Annotated[int, typer.Option(help="Turns of the agent, each with three calls of tools.", min=1)] = 300,
    json: Json = False,
) -> None:
    """What an integration adds to an agent of another framework: each model call, the answer, a tool call."""
    from insula_bench.guest import run

    raise typer.Exit(run(turns, json))


@app.command("stuck")
def bench_stuck(
    data: Annotated[list[str], typer.Option(help="A file of recorded runs, or a folder of such files; repeatable.")],
    moments: Annotated[str, typer.Option(metavar="FILE", help="Labelled moments of sessions among the data.")] = "",
    json: Json = False,
) -> None:
    """Whether the senses find agents that are stuck and leave the others alone, beside the rules of others."""
    from insula_bench.stuck import run

    raise typer.Exit(run(data, json, moments))


@app.command("answers")
def bench_answers(
    data: Annotated[str | None, typer.Option(help="A table of your own (JSON Lines) instead of all of ours.")] = None,
    show: Annotated[bool, typer.Option("--show", help="Show each line that is judged otherwise.")] = False,
    embedding: Annotated[
        bool, typer.Option("--embedding", help="With the shipped embedding beside the words.")
    ] = False,
    alone: Annotated[bool, typer.Option("--alone", help="Count what each check alone catches.")] = False,
    json: Json = False,
) -> None:
    """Whether the self-monitor agrees with a person on messages, memory and responses in eight languages."""
    from insula_bench.answers import run

    raise typer.Exit(run(data, json, show, embedding, alone))


@app.command("night")
def bench_night(
    users: Annotated[int, typer.Option(help="Users with a session each.", min=1)] = 1_000,
    scripted: Annotated[
        bool, typer.Option("--scripted/--no-model", help="With a scripted model, or without any.")
    ] = True,
    weeks: Annotated[
        bool, typer.Option("--weeks", help="Let a model reflect on ten weeks written by hand instead.")
    ] = False,
    model: Annotated[
        str | None, typer.Option(help="The model that reflects on the weeks; else that of the settings.")
    ] = None,
    json: Json = False,
) -> None:
    """How many nights a second, inline on SQLite, and whether memory stays flat; or what a model learns from a week."""
    if weeks:
        from insula_bench import weeks as ten

        raise typer.Exit(ten.run(model, json))
    from insula_bench.night import run

    raise typer.Exit(run(users, scripted, json))


@app.command("nights")
def bench_nights(
    days: Annotated[int, typer.Option(help="Days that the person lives; ten are the short form.", min=1)] = 40,
    reflections: Annotated[
        bool, typer.Option("--reflections", help="Count which reflections of a scripted model are kept instead.")
    ] = False,
    fortnights: Annotated[
        bool,
        typer.Option("--fortnights", help="Ask six people's messages of day 15 instead, with a model and without."),
    ] = False,
    json: Json = False,
) -> None:
    """Whether facts, preferences and guidance rot in forty nights; which reflections of a model are kept."""
    from insula_bench import nights

    if fortnights:
        raise typer.Exit(nights.run_fortnights(json))
    raise typer.Exit(nights.run_reflections(json) if reflections else nights.run(days, (), json))


@app.command("guiding")
def bench_guiding(
    write: Annotated[bool, typer.Option("--write", help="Write the heads fitted on all into the package.")] = False,
    json: Json = False,
) -> None:
    """How well two heads tell what guidance may rest on where they were not fitted."""
    from insula_bench.guiding import run

    raise typer.Exit(run(write, json))


@app.command("soul")
def bench_soul(
    texts: Annotated[str | None, typer.Option(help="Texts of your own (JSON Lines); see docs/benchmarks/.")] = None,
    json: Json = False,
) -> None:
    """Whether a poisoned text reaches a later system prompt, and whether a legitimate wish does."""
    from insula_bench.soul import run

    raise typer.Exit(run(texts, json))


@app.command("corrections")
def bench_corrections(
    data: Annotated[list[str], typer.Option(help="A file of labelled messages, or a folder of such; repeatable.")],
    json: Json = False,
) -> None:
    """Whether a message that corrects the assistant is told from one that goes on."""
    from insula_bench.corrections import run

    raise typer.Exit(run(data, json))


@app.command("load")
def bench_load(
    sessions: Annotated[int, typer.Option(help="Sessions that talk, each every 8 to 12 s.", min=1)] = 200,
    seconds: Annotated[float, typer.Option(help="How long, and as long again with listeners.", min=1)] = 60.0,
    store: Annotated[str, typer.Option(help="An empty database of PostgreSQL, as a URL; by default a new file.")] = "",
    json: Json = False,
) -> None:
    """What the server holds: sessions and listeners at once, the highest rate, and how fast it says how it stands."""
    from insula_bench.load import run

    raise typer.Exit(run(sessions, seconds, json, store))


@app.command("rate")
def bench_rate(
    store: Annotated[str, typer.Option(help="An empty database of PostgreSQL, as a URL.")],
    users: Annotated[int, typer.Option(help="Nights of each round, for each worker.", min=2)] = 100,
    workers: Annotated[str, typer.Option(help="How many worker processes, with commas between.")] = "1,2,4",
    model_ms: Annotated[int, typer.Option(help="Also with a model that takes so long; 0 does without.", min=0)] = 200,
    flat: Annotated[int, typer.Option(help="Only what a worker holds in the course of so many nights.", min=0)] = 0,
    json: Json = False,
) -> None:
    """How many nights a second workers do on one PostgreSQL, beside what the bare engine and the model allow."""
    from insula_bench.night_rate import run

    raise typer.Exit(run(store, users, workers, model_ms, json, flat))


@app.command("many")
def bench_many(
    store: Annotated[
        str, typer.Option(help="A database of PostgreSQL, as a URL: an empty one, or one filled by this.")
    ],
    memories: Annotated[int, typer.Option(help="Of all users together.", min=1)] = 1_000_000,
    users: Annotated[int, typer.Option(help="Of whom, beside one with very much.", min=1)] = 10_000,
    heavy: Annotated[int, typer.Option(help="Memories of that one.", min=1)] = 100_000,
    clients: Annotated[int, typer.Option(help="Who ask and write at once, each once a second.", min=1)] = 32,
    seconds: Annotated[float, typer.Option(help="How long, for each kind of question and for writes.", min=1)] = 30.0,
    json: Json = False,
) -> None:
    """What recall and writes take on PostgreSQL with very many memories, of rare words and of common ones."""
    from insula_bench.many import run

    raise typer.Exit(run(store, memories, users, heavy, clients, seconds, json))


@app.command("gsm8k")
def bench_gsm8k(  # noqa: PLR0913, PLR0917 one for each option
    out: Annotated[str, typer.Option(help="A folder for results, replies and the report; it is gone on with.")],
    data: Annotated[
        str | None, typer.Option(help="Problems in GSM8K's form: JSON lines with `question` and `answer`.")
    ] = None,
    methods: Annotated[
        str, typer.Option(help="Methods with commas between; self_consistency@8 has eight chains.")
    ] = "direct,self_consistency,adaptive_self_consistency,insula",
    model: Annotated[str | None, typer.Option(help="As for `insula chat`.")] = None,
    limit: Annotated[
        int | None, typer.Option(help="How many problems; 0 only reports, and needs no data.", min=0)
    ] = None,
    offset: Annotated[int, typer.Option(help="The first problem, counted from 0.", min=0)] = 0,
    seed: Annotated[int, typer.Option(help="Of the replies that are sampled.", min=0)] = 0,
    tokens: Annotated[
        int | None, typer.Option(help="What each method may spend on a problem; by default eight chains.", min=1)
    ] = None,
    parallel: Annotated[
        int, typer.Option(help="Problems at once, for a model that answers several requests at once.", min=1)
    ] = 1,
    json: Json = False,
) -> None:
    """Methods of `insula solve` side by side on the same problems, at equal budgets; killed, it goes on."""
    from insula_bench.gsm8k import TOKENS, run

    raise typer.Exit(run(data, methods, model, limit, offset, seed, out, tokens or TOKENS, json, parallel))


@app.command("attempts")
def bench_attempts(
    out: Annotated[str, typer.Option(help="A folder of results of `insula bench gsm8k`.")],
    json: Json = False,
) -> None:
    """What tells right attempts from wrong ones in results that are kept; no model is asked."""
    from insula_bench.attempts import run

    raise typer.Exit(run(out, json))


@app.command("pairwise")
def bench_pairwise(
    results: Annotated[str, typer.Option(help="A folder of results of `insula bench gsm8k`, with its replies.")],
    out: Annotated[str, typer.Option(help="A folder for what is asked; killed, it goes on.")],
    data: Annotated[str, typer.Option(help="The problems (test.jsonl of GSM8K); without it, it only reports.")] = "",
    model: Annotated[str, typer.Option(help="Who is asked.")] = "qwen-coder-1.5b",
    json: Json = False,
) -> None:
    """Whether a model tells which of two leading answers is right, alone and beside the votes."""
    from insula_bench.pairwise import run

    raise typer.Exit(run(results, data, model, out, json))


@app.command("calibration")
def bench_calibration(
    data: Annotated[str, typer.Option(help="A folder with CoT_svamp.jsonl.xz and CoT_ASDiv.jsonl.xz.")],
    json: Json = False,
) -> None:
    """Whether likelihood and agreement together tell right answers from wrong ones better than either."""
    from insula_bench.calibration import run

    raise typer.Exit(run(data, json))


@app.command("confidence")
def bench_confidence(
    data: Annotated[str, typer.Option(help="A folder with locomo/, mtrag/ and realtalk/, or some of them.")],
    plot: Annotated[str | None, typer.Option(help="Write the reliability plot to this PNG.")] = None,
    fit: Annotated[str | None, typer.Option(help="Write coefficients fitted on the freely licensed set here.")] = None,
    embed: Annotated[str, typer.Option(help="As the setting: use, none or MODULE:FUNCTION.")] = "use",
    json: Json = False,
) -> None:
    """Whether confidence tells what memory holds from what it does not, each kind of not-knowing by itself."""
    from insula_bench.confidence import run

    raise typer.Exit(run(data, plot, fit, json, embed))


@app.command("monitor")
def bench_monitor(
    data: Annotated[str, typer.Option(help="A folder that holds dialogue_quality, language_confusion, …")],
    json: Json = False,
) -> None:
    """Whether the self-monitor agrees with people, and sees wrong languages, corrections and displeasure."""
    from insula_bench.monitor import run

    raise typer.Exit(run(data, json))


@app.command("likelihood")
def bench_likelihood(
    model: Annotated[str, typer.Option(help="As for `insula chat`; it must return log-probabilities.")] = "embedded",
    json: Json = False,
    fit: Annotated[bool, typer.Option("--fit", help="Also fit the curve on the half that is not measured.")] = False,
) -> None:
    """Whether the likelihood of a model's answers tells the right ones from the wrong."""
    from insula_bench.likelihood import run

    raise typer.Exit(run(model, json, fit))


@app.command("newcomer")
def bench_newcomer(
    model: Annotated[str, typer.Option(help="As for `insula chat`.")] = "embedded",
    show: Annotated[bool, typer.Option("--show", help="Show each turn.")] = False,
    json: Json = False,
) -> None:
    """A newcomer's first 61 turns: what is remembered, and whether the verdict says so where it is not."""
    from insula_bench.newcomer import run

    raise typer.Exit(run(model, json, show))


@app.command("conversations")
def bench_conversations(
    data: Annotated[
        str | None, typer.Option(help="Conversations of your own (JSON Lines); see docs/benchmarks/.")
    ] = None,
    held: Annotated[bool, typer.Option("--held", help="The half that was not looked at while building.")] = False,
    embed: Annotated[str, typer.Option(help="As in the settings: use, none or MODULE:FUNCTION.")] = "use",
    show: Annotated[bool, typer.Option("--show", help="Also show those that went wrong.")] = False,
    json: Json = False,
) -> None:
    """Small conversations: what was told is found, whose it is and since when, and what was not told is not known."""
    from insula_bench.conversations import run

    raise typer.Exit(run(data, held, embed, show, json))


@app.command("extract")
def bench_extract(
    data: Annotated[str, typer.Option(help="Conversations with questions (JSON Lines) instead of ours.")] = "",
    answers: Annotated[str, typer.Option(help="What a perfect reader takes from them.")] = "",
    model: Annotated[str, typer.Option(help="A model that reads them instead; as for `insula chat`.")] = "test",
    show: Annotated[str, typer.Option(metavar="ARM", help="Also show what goes wrong under one arm.")] = "",
    json: Json = False,
) -> None:
    """What conversations are worth before and after the user's own model has read them once, by language."""
    from insula_bench.extract import run

    raise typer.Exit(run(data, answers, model, show, json))


@app.command("help")
def bench_help(  # noqa: PLR0913, PLR0917 one option each
    part: Annotated[str, typer.Argument(help="memory, wishes, untold, answer, step, or gate.")],
    out: Annotated[str, typer.Option(help="A folder for replies and figures; it is gone on with.")],
    model: Annotated[str | None, typer.Option(help="As for `insula chat`.")] = None,
    arms: Annotated[str | None, typer.Option(help="Some of the part's arms, with commas between.")] = None,
    sources: Annotated[str, typer.Option(help="Of memory: small, talks, locomo, realtalk.")] = "small",
    data: Annotated[str | None, typer.Option(help="A folder that holds locomo/ and realtalk/.")] = None,
    half: Annotated[str, typer.Option(help="dev, on which words were chosen; held; or third, a later table.")] = "held",
    conversations: Annotated[int, typer.Option(help="Long conversations of each source.", min=1)] = 5,
    questions: Annotated[int, typer.Option(help="Questions of each kind and long conversation.", min=1)] = 10,
    together: Annotated[int, typer.Option(help="Of wishes: so many (1, 3, 6) of one user.", min=0, max=6)] = 0,
    limit: Annotated[int | None, typer.Option(help="How many items; 0 only reports.", min=0)] = None,
    parallel: Annotated[int, typer.Option(help="Requests at a time.", min=1)] = 1,
    seeds: Annotated[int, typer.Option(help="Of step: runs of each task.", min=1)] = 3,
    turns: Annotated[int, typer.Option(help="Of step: turns of a run at most.", min=1)] = 25,
    show: Annotated[int, typer.Option(help="Print so many items with the replies of all arms side by side.")] = 0,
    json: Json = False,
) -> None:
    """What the words before a model do to its replies: made up, right, wishes followed; arm against arm."""
    from insula_bench.help.command import Options, run

    options = Options(
        part=part, out=out, model=model, arms=arms, sources=sources, data=data, half=half, conversations=conversations,
        questions=questions, together=together, limit=limit, parallel=parallel, seeds=seeds, turns=turns, show=show,
        json=json,
    )  # fmt: skip
    raise typer.Exit(run(options))


@app.command("forget")
def bench_forget(
    write: Annotated[bool, typer.Option(help="Fit the network, and write it into the package.")] = False,
    json: Json = False,
) -> None:
    """Which requests to forget are recognised, and what is taken for one that is none."""
    from insula_bench.forget import run

    raise typer.Exit(run(write, json))


@app.command("follow-up")
def bench_follow_up(
    write: Annotated[bool, typer.Option(help="Fit the regression, and write it into the package.")] = False,
    json: Json = False,
) -> None:
    """Which messages answer the user's own question, and what stands before the model when it is asked again."""
    from insula_bench.follow_up import run

    raise typer.Exit(run(write, json))


@app.command("sources")
def bench_sources(
    show: Annotated[bool, typer.Option(help="Print the replies that are called something else.")] = False,
    json: Json = False,
) -> None:
    """Under which replies stands where they come from, or that the user told otherwise (two minutes)."""
    from insula_bench.sources import run

    raise typer.Exit(run(json, show))


@app.command("short")
def bench_short(json: Json = False) -> None:
    """Which short plain lines are kept as facts, and which requests to forget are heard (half a minute)."""
    from insula_bench.short import run

    raise typer.Exit(run(json))


@app.command("changes")
def bench_changes(
    write: Annotated[bool, typer.Option(help="Fit what tells a change, and write it into the package.")] = False,
    json: Json = False,
) -> None:
    """Whether what somebody told later stands beside the line that it makes out of date, and nothing else before it."""
    from insula_bench.changes import run
    from insula_bench.changes_fit import write_weights

    if write:
        write_weights()
    raise typer.Exit(run(json))


@app.command("preferences")
def bench_preferences(
    write: Annotated[bool, typer.Option(help="Fit the networks first, and write them into the package.")] = False,
    json: Json = False,
) -> None:
    """Which preferences are heard, how many are invented, and what a newer one makes of one that stands."""
    from insula_bench.preferences import run

    raise typer.Exit(run(write, json))


@app.command("session")
def bench_session(
    data: Annotated[str | None, typer.Option(help="A folder that holds locomo/; else our own talks.")] = None,
    limit: Annotated[int, typer.Option(help="Conversations of LoCoMo.", min=1)] = 5,
    json: Json = False,
) -> None:
    """Real conversations as one long session each: what changes in the requests once working memory is full."""
    from insula_bench.session import run

    raise typer.Exit(run(data, limit, json))


@app.command("slowness")
def bench_slowness(
    data: Annotated[str | None, typer.Option(help="A folder that holds locomo/; else our own talks.")] = None,
    limit: Annotated[int, typer.Option(help="Conversations of LoCoMo.", min=1)] = 2,
    json: Json = False,
) -> None:
    """Real conversations with a model that slows down: when it is noticed, what is saved, and how often by chance."""
    from insula_bench.slowness import run

    raise typer.Exit(run(data, limit, json))


@app.command("life")
def bench_life(
    data: Annotated[str | None, typer.Option(help="A folder of real conversations with labels, lived besides.")] = None,
    language: Annotated[str, typer.Option(help="One language instead of all eight (en, de, …).")] = "",
    half: Annotated[
        str, typer.Option(help="One half of the questions, dev or held; or another author's: later, third, fourth.")
    ] = "",
    show: Annotated[str, typer.Option(help="Show each case of the rows whose name holds this.")] = "",
    short: Annotated[bool, typer.Option("--short", help="The questions alone, without the lives.")] = False,
    claims: Annotated[bool, typer.Option("--claims", help="Print what each claim of the register is worth.")] = False,
    read: Annotated[
        bool, typer.Option("--read", help="Let a good reader stand in for the user's own model once all is told.")
    ] = False,
    json: Json = False,
) -> None:
    """What Insula puts before the model, stores and says in ordinary life, and what it finds where it is needed."""
    from insula_bench.life import run

    raise typer.Exit(run(data, language, half, show, short, claims, read, json))


@app.command("word")
def bench_word(
    *,
    held: Annotated[bool, typer.Option("--held", help="Those of another author, too: by counts alone.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print figures as JSON.")] = False,
    cases: Annotated[
        bool, typer.Option("--cases", help="Name what was missed or said for nothing in development.")
    ] = False,
    fit: Annotated[
        bool, typer.Option("--fit", help="Fit the heads anew first, and write them into the package.")
    ] = False,
) -> None:
    """What the hook says of the user's word in a coding session: told again, before a call, and at the end."""
    from insula_bench.word import run

    raise typer.Exit(run(held, as_json, cases, fit))


@app.command("heads")
def bench_heads(
    write: Annotated[bool, typer.Option("--write", help="Write the heads fitted on all into the package.")] = False,
    json: Json = False,
) -> None:
    """How well small heads tell what a sentence means where they were not fitted, and what they take by mistake."""
    from insula_bench.heads import run

    raise typer.Exit(run(write, json))


@app.command("facts")
def bench_facts(
    size: Annotated[int, typer.Option(min=1_000, help="Facts of the one user.")] = 50_000,
    json: Json = False,
) -> None:
    """The verbs of a memory over very many facts of one user: milliseconds, and whether pages hold each fact once."""
    from insula_bench.many_facts import run

    raise typer.Exit(run(size, json))
