"""The facade of the package: `Metacognition`."""

import asyncio
import logging
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Self, Unpack

from insula.calibration import shipped
from insula.content import plain
from insula.errors import InputError, InsulaError
from insula.language.handed import users_words
from insula.memory import assertion, statements, telling
from insula.memory.cue import cue
from insula.memory.embedding import hands_of, usable, use
from insula.memory.encoding import ASSISTANT, USER, encode
from insula.memory.isolation import on_behalf_of
from insula.memory.item import REMEMBERED_CHARS, new_item
from insula.memory.rows import Place
from insula.memory.store import Store
from insula.memory.unread import TOKENS_A_DAY
from insula.memory.vectors import Embed, embedded
from insula.metacognition import stating
from insula.metacognition.blocking import Blocking
from insula.metacognition.finishing import TurnResult
from insula.metacognition.meaning import made_up, meant
from insula.metacognition.mind import Mind, Options
from insula.metacognition.reading import analysed, memorable
from insula.metacognition.turn import Turn
from insula.redaction import redact
from insula.screening import screen
from insula.text.analysis import analyse, clean
from insula.text.questions import asks
from insula.text.wishing import wishes
from insula.turn import mending, monitor
from insula.turn.hedging import hedge
from insula.types import IMPASSE, Assessment, Identity, ImpasseRecord, Provenance, Signal, Usage

if TYPE_CHECKING:
    from insula.llm.budget import Account
    from insula.llm.model import Model
    from insula.sleep.cycle import SleepReport
    from insula.solve.run import Models
    from insula.solve.solution import Solution
    from insula.turn.likelihood import Logprobs

log = logging.getLogger(__name__)

SPEAKER_CHARS = 40
SPEAKERS = {"user": USER, "assistant": ASSISTANT, "tool": "a tool"}
"""Who speaks, where nobody is named."""


def warm_up(embed: Embed | None = use) -> None:
    """Load and compile now what the first turn would otherwise wait for: a second, once per process."""
    if embed := usable(embed):
        embed("Where does Ana live?")
    text = "Where does Ana live, and since when?"
    assessment = monitor.assess(text, "Ana has lived in Lisbon since May.")
    hedge("Ana lives in Lisbon.", assessment, Identity())
    screen(redact(text), len(text))
    shipped()
    wishes(text)


async def note_impasse(store: Store, user: str, session: str, solution: "Solution") -> Signal | None:
    """Put it on a user's ledger where a method came to an impasse (K5)."""
    return await note_stuck(store, user, session, solution.problem, solution.stopped) if solution.at_impasse else None


async def note_stuck(store: Store, user: str, session: str, problem: str, reason: str) -> Signal:
    """Put it on a user's ledger that something is stuck at a problem: the next turn is told, and the night learns.

    The problem is written down as what the user said, which a lesson can cite; it asserts nothing.
    """
    content = redact(clean(problem))
    analysis = memorable(content, analysed(content))
    item = new_item(analysis, encode(analysis, USER, ASSISTANT), "user", USER, (), ())
    at = datetime.fromtimestamp(store.now(), UTC)
    data: ImpasseRecord = {"quoted": {"shortfall": mending.unsolved(content).record()}}
    with on_behalf_of(user):
        place = await store.place(user, session)
        number, _ = await store.sessions.say(place, item._replace(content=content, kind="episodic"))
        stuck = Signal(kind=IMPASSE, user=user, session=session, turn=number, reason=reason, at=at, data=data)
        await store.run(statements.append, place, [stuck])
    return stuck


class Metacognition(Mind):
    """Monitors and controls an agent that somebody else runs.

    Args:
        store: where everything is kept.
        identity: who the agent is.
        controls: what a turn may use before conditions change it.
        calibration: coefficients of confidence; by default the shipped ones.
        estimate: confidence before the response; another function of the same form may replace it.
        assess: the self-monitor; another function of the same form may replace it (K10).
        embed: makes the vector of a text, so that what is near in meaning is recalled without a word in common;
            by default the shipped embedding, where it is installed. With None it is recalled by words alone.
        telemetry: where counts go.
        holdout: share of sessions from which a learned lesson is withheld, to see whether it helps (P4); likewise of
            the sentences to the next turn.
        regulator: the control loop of sessions, where `controls` alone do not say it (S1–S11).
        soul: where a user's SOUL.md lies, beside which their backups do; by default nowhere.
        claims: ids of claims of the register that are made though they are off by default (`insula.claims`).

    Raises:
        InputError: the calibration names a feature, or `claims` a claim, that there is not.
    """

    @classmethod
    async def open(
        cls,
        path: str | Path,
        **options: Unpack[Options],
    ) -> Self:
        """Open the store at `path` (":memory:" for one that is forgotten) and hold it.

        Args:
            path: where the store is; made where there is none.
            options: the arguments of `Metacognition` by name.

        Raises:
            StoreError: the store cannot be used; the message says why and what to do.
        """
        store = await Store.open(path)
        try:
            return cls(store, **options)
        except InputError:
            await store.close()
            raise

    async def close(self) -> None:
        """Write down how the service stands, and let go of the store."""
        try:
            await self.backlog.end()
            await self.write_down()
        except InsulaError as error:
            log.warning("What the service knew of itself was not written down: %s", error)
        finally:
            await self.store.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    @staticmethod
    def sync(path: str | Path, **options: Unpack[Options]) -> Blocking:
        """The same for code without `await`: `with Metacognition.sync("insula.db") as metacognition: …`.

        Args:
            path: where the store is, as for `open`.
            options: as for `open`.

        Raises:
            StoreError: the store cannot be used; the message says why and what to do.
        """
        return Blocking(lambda: Metacognition.open(path, **options))

    def turn(self, user: str, session: str, message: object, *, model: str = "") -> Turn:
        """One exchange, to be entered with `async with`; see `Turn`.

        Args:
            user: whose memory is used.
            session: the conversation.
            message: what the user says: a text, content parts, or a message of a library; pictures are passed over.
            model: the name of the model that answers; how slow is too slow is known of each by itself.
        """
        return Turn(self, user, session, message, model)

    async def begin(self, user: str, session: str, message: object, *, model: str = "") -> Turn:
        """One exchange whose end comes later, perhaps in another process: `turn.to_json()` is what to keep until then.

        A turn that is never finished leaves the message in memory and nothing else; the next one works.
        """
        return await self.turn(user, session, message, model=model).open()

    async def finish(
        self,
        turn: Turn | str,
        response: object,
        *,
        assessment: Assessment | None = None,
        usage: Usage | None = None,
        logprobs: "Logprobs | None" = None,
    ) -> TurnResult:
        """Finish a turn that was begun, and leave it; see `Turn.finish` for the arguments.

        Args:
            turn: what `begin` returned, or what `Turn.to_json` made of it. Of a turn that was finished before, here or
                elsewhere, nothing is written a second time, and `TurnResult.troubles` says so.
            response: what the model answered; where it asks for tools alone, the turn stays open.
            assessment: a judgement made elsewhere.
            usage: what it cost.
            logprobs: of its tokens.

        Raises:
            InputError: the text is no turn.
        """
        opened = turn if isinstance(turn, Turn) else await Turn.resume(self, turn)
        if opened.over and opened.result:
            return opened.result
        result = opened.finish(response, assessment=assessment, usage=usage, logprobs=logprobs)
        if opened.result is None:
            return replace(result, troubles=tuple(opened.troubles))
        await opened.leave()
        return replace(result, signals=opened.signals, advisories=opened.advisories, troubles=tuple(opened.troubles))

    async def look_up(self, user: str, session: str, query: object) -> Turn:
        """What memory holds on something and how sure it is, as of a turn; nothing is said or written down by it."""
        turn = self.turn(user, session, query)
        await turn.look()
        return turn

    async def solve(
        self,
        problem: str,
        models: "Models",
        account: "Account | None" = None,
        *,
        method: str = "insula",
        user: str | None = None,
        session: str = "solve",
    ) -> "Solution":
        """Solve a problem by monitoring, generating and verifying (M1–M10); strategies learn from how it went.

        The repertoire is the shipped one with that of the user's own `strategies.toml`.

        Args:
            problem: the task, in words.
            models: who monitors, generates and verifies.
            account: the caps, and where what is spent is charged.
            method: its name, one of `insula.solve.methods.METHODS`.
            user: on whose ledger it is put where the method comes to an impasse (K5); by default on nobody's.
            session: the conversation that the impasse belongs to.

        Raises:
            InputError: there is no such method. A problem that could not be solved is no error: its answer is None.
            SettingsError: the user's `strategies.toml` cannot be used; the message says why.
        """
        from insula import settings
        from insula.memory.strategies import StoredRecords
        from insula.solve.knowledge import Knowledge, repertoire
        from insula.solve.methods import named

        knowledge = Knowledge(repertoire=repertoire(settings.home()), records=StoredRecords(self.store))
        solution = await named(method)(problem, models, account, knowledge=knowledge)
        if user is not None and (stuck := await note_impasse(self.store, user, session, solution)):
            self.notice([stuck])
        return solution

    async def sleep(
        self, user: str, *, model: "Model | None" = None, soul: Path | None = None, force: bool = False
    ) -> "SleepReport":
        """Run a user's night, where one is due (R): what was learned is told from the next turn on.

        Args:
            user: whose night it is.
            model: writes summaries and reflections; without one they are made without.
            soul: the user's SOUL.md; None keeps it in the store alone.
            force: whether to sleep though the last night was less than 20 hours ago or nothing happened since.
        """
        from insula.sleep.cycle import sleep_cycle
        from insula.sleep.phases import PHASES

        await made_up(self.store, user, self.embed)
        return await sleep_cycle(
            self.store,
            user,
            PHASES,
            identity=self.identity,
            calibration=self.calibration,
            model=model,
            soul=soul,
            embed=self.embed,
            force=force,
        )

    async def understand(self, user: str, *, model: "Model", tokens: int = TOKENS_A_DAY) -> bool:
        """Let the user's own model read the next lines of theirs that it has not read, between two turns (K3a).

        What it says is kept where the user's own words bear it out, and nowhere else; see docs/understanding.md.

        Args:
            user: who said them.
            model: the user's own; an embedded one is too small for it.
            tokens: that reading this user's lines may take in a day.

        Returns:
            Whether lines were read; then there may be more.

        Raises:
            BudgetExceeded: the tokens of the day are spent.
            ModelError: the model was not reached, or not in time; what was not read is read another time.
            StoreError: the store cannot be used, or a line changed meanwhile.
        """
        from insula.sleep.rest import rest

        return await rest(self.store, user, model, embed=self.embed, tokens=tokens) is not None

    async def observe(
        self,
        user: str,
        session: str,
        text: object,
        *,
        speaker: str = "",
        listener: str = ASSISTANT,
        provenance: Provenance = "user",
        at: datetime | None = None,
    ) -> int:
        """Remember something that was said without answering it; returns the id of the memory.

        Args:
            user: whose memory it is.
            session: the conversation it belongs to.
            text: what was said.
            speaker: who said it; a name where more than one person talks, or the tool's. By default the user, the
                assistant or "a tool", by the provenance.
            listener: who was spoken to.
            provenance: `user`, `assistant` or `tool`.
            at: when; now by default.

        Raises:
            InputError: the speaker is no name.
            StoreError: the store cannot be used.
        """
        named = screen(speaker or SPEAKERS.get(provenance, USER), SPEAKER_CHARS)
        heard = screen(listener, SPEAKER_CHARS)
        if named.reasons or heard.reasons or not named.text or not heard.text:
            raise InputError(f"The speaker {named.text!r} or the listener {heard.text!r} cannot be used; give a name.")
        if provenance == "derived":
            raise InputError("What was derived is no observation; give the provenance user, assistant or tool.")
        with on_behalf_of(user):
            place = await self.store.place(user, session)
            return await self._observed(place, text, named.text, heard.text, provenance, at)

    async def _observed(
        self, place: Place, text: object, speaker: str, listener: str, provenance: Provenance, at: datetime | None
    ) -> int:
        content = redact(clean(plain(text)))
        analysis = memorable(content, analysed(content))
        encoding = encode(analysis, speaker, listener)
        found = await self.store.memories.recall(
            place, cue(analysis, speaker, listener), 1, lines=assertion.CONTEXT_LINES
        )
        before = found.said[-1].content[:REMEMBERED_CHARS] if found.said else ""
        replies_to = asks(analyse(before)) if before else ()
        meaning = meant(before, content) if self.embed else ""
        vector = await asyncio.to_thread(embedded, self.embed, meaning) if self.embed and meaning else None
        told = provenance in {"user", "tool"}
        teller = speaker if provenance == "user" else ""  # a tool's "I" is nobody's
        lines = [assertion.Said(one.content, one.speaker == teller) for one in found.said]
        own = provenance == "user" and speaker == USER
        read = analysis
        if own:
            said = await asyncio.to_thread(users_words, content, provenance, found.said, hands_of(self.embed))
            if said.text != content:
                read = memorable(said.text, analysed(said.text, analysis.language))
        units = await asyncio.to_thread(stating.told, read, lines, self.embed) if own else ()
        only = [one.text for one in units] if own else None
        making = (read, teller, listener, lines, only, self.embed)
        stated = await asyncio.to_thread(stating.stated, *making) if told else ()
        line = telling.line(units, analysis.language)
        item = new_item(analysis, encoding, provenance, speaker, found.recalled, replies_to, stated, line)
        item = item._replace(content=content, vector=vector)
        stamp = at.timestamp() if at else None
        _, memory = await self.store.sessions.say(place, item, at=stamp)
        consolidated = await self.store.sessions.consolidate(place, self.controls)
        threshold = self.controls.consolidation_threshold
        self.regulator.consolidated(
            (place.user, place.session), 1, consolidated.ages, consolidated.saliences, threshold
        )
        self.saw(place, analysis.language, speaker)
        return memory
