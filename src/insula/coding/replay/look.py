"""A look back at a session: its events are folded through the senses, and what matters of them is kept."""

from collections import deque
from dataclasses import replace
from pathlib import PurePath
from typing import Any

from insula.coding.replay.agent import Agent, pick_worst
from insula.coding.replay.model import GivenWord, Replayed
from insula.coding.replay.readers import (
    CallRequest,
    Compacted,
    Interrupt,
    Rejected,
    ReplayedCall,
    Reply,
    Skipped,
    TokenUsage,
    UserPrompt,
    WorkingFolder,
)
from insula.coding.replay.session import OrderedEvent, Stream
from insula.coding.step import trace
from insula.coding.step.action import EDIT, Action
from insula.coding.step.corrections import find_rulings
from insula.coding.step.instructions.breach import find_breach, read_call
from insula.coding.step.instructions.demands import list_demands
from insula.coding.step.instructions.instruction import ASKED, STANDING, screen_words
from insula.coding.step.patterns import judge_patterns
from insula.coding.step.person import INTERRUPT, PROMPT, REJECTION
from insula.coding.step.project import is_of_project
from insula.coding.step.senses import against_words, unmet
from insula.coding.step.senses.register import DEFAULT

POINTS = 5_000
"""Actions of a session that stand on its timeline."""
AGENTS = 256
"""Subagents of a session that are told apart; the others are one."""
SAID = 2_000
"""Records of what a user said that are kept of a session."""
MOMENTS = 50
"""The worst moments of a session that are kept."""
WORDS = 100
"""Of what the user ruled out or asked for in a session that is kept."""
ACTS = 5_000
"""The latest of what was done that an end is compared with."""
BEYOND = "action beyond the timeline"
_LONGEST_PLACE = 4_096


class Look:
    """A session, and its project.

    Attributes:
        replayed: what it tells.
        project: the hash that evidence goes by; empty where the transcript names no folder.
        place: that folder, as it says.
        said: what the user said to the main agent, as records of a trace, with a mark where it acted between.
    """

    def __init__(self, stream: Stream, on: frozenset[str] = DEFAULT) -> None:
        self.replayed = Replayed(id=stream.id, host=stream.host, path=stream.path)
        self.project = self.place = ""
        self.said = list[dict[str, Any]]()
        self._on = on
        self._agents: dict[str, Agent] = {}
        self._step = 0
        self._stopped = False
        self._last_words = ""
        """Of the main agent, where it has done nothing since."""
        self._given: dict[str, GivenWord] = {}
        self._done: deque[Action] = deque(maxlen=ACTS)
        for at, told in stream.events:
            if at:
                self.replayed.began = min(at, self.replayed.began or at)
                self.replayed.ended = max(at, self.replayed.ended)
            self._take_event(told)
        self._finish_session()

    def _take_event(self, told: OrderedEvent) -> None:
        replayed = self.replayed
        match told:
            case ReplayedCall():
                self._take_action(told)
            case CallRequest():
                replayed.tool_uses += 1
                self._last_words = self._last_words if told.agent else ""
            case Reply():
                self._last_words = self._last_words if told.agent else told.words
            case UserPrompt():
                self._take_prompt(told)
            case Interrupt():
                replayed.interrupts += 1
                self._last_words, self._stopped = "", True
                self._note_words(INTERRUPT, told.at)
            case Rejected():
                replayed.rejections += 1
                self._note_words(REJECTION, told.at, told.words, told.about)
            case Compacted():
                self._get_agent(told.agent).take_compaction()
            case TokenUsage():
                self._get_agent(told.agent).add_usage(told)
            case WorkingFolder():
                if not replayed.project:
                    replayed.project = PurePath(told.cwd.replace("\\", "/")).name[:80]
                    self.project, self.place = trace.hash_project(told.cwd), told.cwd[:_LONGEST_PLACE]
            case Skipped():
                replayed.skipped[told.reason] += 1

    def _get_agent(self, name: str) -> Agent:
        name = name if name in self._agents or len(self._agents) < AGENTS else "others"
        return self._agents.setdefault(name, Agent(self._on))

    def _take_prompt(self, prompt: UserPrompt) -> None:
        self._end_turn()
        self.replayed.prompts += 1
        if len(self.replayed.user_steps) < POINTS:
            self.replayed.user_steps.append(self._step + 1)
        self._note_words(PROMPT, prompt.at, prompt.words)
        corrects = self._step and find_rulings(prompt.words, INTERRUPT if self._stopped else PROMPT)
        self.replayed.corrections += bool(corrects)
        self._stopped = False
        self._note_given(prompt)
        self._get_agent(prompt.agent).take_prompt(prompt)

    def _note_given(self, prompt: UserPrompt) -> None:
        """What the user rules out or asks for, where the senses that go by it are on."""
        for instruction in prompt.heard:
            ruled = instruction.kind in STANDING and against_words.NAME in self._on
            asked = unmet.NAME in self._on and instruction.kind == ASKED and list_demands(instruction)
            words = screen_words(instruction.said) if ruled or asked else ""
            if not words or len(self._given) >= WORDS:
                continue
            given = GivenWord(words=words, kind=instruction.kind, at=prompt.at, step=self._step + 1)
            self._given.setdefault(instruction.id, given)

    def _end_turn(self) -> None:
        """The main agent has stopped, where it said something and did nothing after it."""
        said, self._last_words = self._last_words, ""
        if not said or unmet.NAME not in self._on or not self._given:
            return
        sensed = self._get_agent("").take_stop(said, tuple(self._done))
        for reading in sensed.readings:
            self.replayed.readings[reading.sense] += 1
        if sensed.text and sensed.said is not None:
            self.replayed.rungs[sensed.rung] += 1
            for reading in (sensed.said, *sensed.said.more):
                if given := self._given.get(reading.key.split(" ")[1]):
                    given.unmet = unmet.name_missing(reading)

    def _find_breach(self, done: ReplayedCall) -> tuple[str, ...]:
        """What the user said that a call goes against."""
        instructions = self._get_agent("").instructions if against_words.NAME in self._on else ()
        if not instructions or done.given is None:
            return ()
        return find_breach(instructions, read_call(done.action.tool, done.given), self.place)

    def _note_words(self, kind: str, at: float, words: str = "", about: str = "") -> None:
        if len(self.said) < SAID:
            self.said.append({"e": "user", "at": at, "kind": kind, "words": words, "about": about})

    def _place_edit(self, action: Action) -> Action:
        """An edit as the hook sees it: whether its file counts goes by its path from the project's folder."""
        root = f"{self.place.rstrip('/')}/"
        if not self.place or action.kind != EDIT or not action.ok or not action.target.startswith(root):
            return action
        return action.replace(of_project=is_of_project(action.target.removeprefix(root)))

    def _take_action(self, done: ReplayedCall) -> None:
        self.replayed.errors += done.failed
        if done.lost:
            return
        done = done._replace(action=self._place_edit(done.action))
        if not done.agent and self.said and self.said[-1]["e"] == "user":
            self.said.append({"e": "action"})
        self._step += 1
        if done.action.ran:
            self._done.append(done.action)
        breaks = self._find_breach(done)
        point, sensed = self._get_agent(done.agent).take_action(done, self._step, breaks)
        if given := self._given.get(breaks[0] if breaks and done.action.ran else ""):
            given.broken.append(self._step)
            given.by = given.by or f"{point.tool} {point.target}".strip()
        for reading in sensed.readings:
            self.replayed.readings[reading.sense] += 1
        if sensed.text:
            self.replayed.rungs[sensed.rung] += 1
        if len(self.replayed.points) < POINTS:
            self.replayed.points.append(point)
        else:
            self.replayed.skipped[BEYOND] += 1

    def _finish_session(self) -> None:
        self._end_turn()
        agents, told = self._agents.values(), self.replayed
        told.words = [replace(given, project=told.project) for given in self._given.values()]
        told.given, told.broken = len(told.words), sum(bool(given.broken) for given in told.words)
        told.unmet = sum(bool(given.unmet) for given in told.words)
        for agent in agents:
            agent.close_stretch(ended=True)
        told.tokens = sum(agent.token_count for agent in agents)
        told.patterns = judge_patterns([agent.actions for agent in agents])
        worst = pick_worst([moment for agent in agents for moment in agent.moments], MOMENTS)
        told.moments = [replace(moment, session=told.id, project=told.project, host=told.host) for moment in worst]
        told.times_stuck, told.stuck_seconds = len(told.moments), sum(moment.seconds for moment in told.moments)
        told.stuck_tokens = min(sum(moment.tokens for moment in told.moments), told.tokens)
        self._agents = {}
