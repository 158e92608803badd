"""`insula rules review`: what the user asked for once, gone through one key at a time."""

import time

from insula.cli import lines, listing
from insula.errors import InputError
from insula.guidance import HEARD, Decision
from insula.hosts.places import home
from insula.step import evidence
from insula.step.digest import Rule

ACCEPT, REFUSE, LATER, LEAVE = "ynlq"
_QUESTION = "  Tell it from the next session on? [y]es, [n]ever, [l]ater, [q]uit:"
_DO = {ACCEPT: "accept", REFUSE: "mute"}
_DONE = {
    ACCEPT: "It is told from the next session on.",
    REFUSE: "It will not be told.",
    LATER: "It waits until you say it again.",
}


def review() -> None:
    """Ask about each thing that was said once in this project.

    Raises:
        InputError: nobody can be asked.
        OSError: what was decided cannot be written.
    """
    heard = [rule for rule in listing.rules() if rule.wish is not None and rule.life.state == HEARD]
    heard.sort(key=lambda rule: rule.wish.times[0].at if rule.wish else 0.0)
    if not heard:
        print("There is nothing to review: you have said nothing to agents of this project that may be a rule.")
        return
    if not lines.is_asked():
        raise InputError("Nobody can be asked here; see `insula rules`, and say `insula rules accept ID`, or mute ID.")
    decided = dict.fromkeys(_DO.values(), 0)
    for number, rule in enumerate(heard, 1):
        print("\n".join([f"{number} of {len(heard)}", *listing.wish_lines(rule)]))
        pressed = lines.key(_QUESTION, ACCEPT + REFUSE + LATER + LEAVE)
        if pressed == LEAVE:
            break
        if pressed in _DO:
            _decide(rule, _DO[pressed])
            decided[_DO[pressed]] += 1
        print(f"  {_DONE[pressed]}\n")
    print(
        f"{decided['accept']} accepted, {decided['mute']} muted; to undo: insula rules mute ID, insula rules unmute ID"
    )


def _decide(rule: Rule, do: str) -> None:
    evidence.decide(str(home()), Decision(do=do, rule=rule.id, scope=listing.project(), at=time.time()))
