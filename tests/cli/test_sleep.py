"""`insula sleep`: the night on demand, and what it says of itself."""

import re
from pathlib import Path

from harness import run_insula as insula

WISH = "Please don't give sizes in feet, use metres."


def talk(*users: str) -> None:
    """Two sessions in which each user asks for the same."""
    said = "".join(f"/session {day}\nDoes NASA use wind tunnels?\n{WISH}\n" for day in ("monday", "tuesday"))
    for user in users:
        assert insula("chat", "--model", "test", "--user", user, stdin=said).status == 0


def test_a_night_says_what_it_learned_once_and_the_wish_names_its_messages() -> None:
    talk("me")
    ran = insula("sleep")
    assert (ran.status, ran.err) == (0, "")
    told = r"• You want: .*metres\. \(from memories 3, 7\) \(take it back: insula guidance forget w\w+\)\n"
    assert re.fullmatch(told, ran.out)
    talk("me")
    assert insula("sleep", "--force").out == "Nothing new was learned.\n"


def test_there_is_no_night_where_there_was_no_day() -> None:
    assert insula("sleep").out == "No night for me: Nothing is stored of 'me'.\n"
    nobody = insula("sleep", "--all")
    assert nobody == (0, "Nobody has said anything yet, so nobody sleeps; talk first: insula chat\n", "")
    talk("me")
    insula("sleep")
    early = insula("sleep")
    assert early.status == 0
    assert "less than 20 hours ago" in early.out
    assert "--force sleeps all the same" in early.out


def test_a_forced_night_on_the_same_day_is_a_night_of_its_own() -> None:
    talk("me")
    (first,) = insula("sleep", "--json").json
    talk("me")
    (second,) = insula("sleep", "--json", "--force").json
    assert second["date"] == f"{first['date']}-2"
    phases = {phase["name"]: phase for phase in second["phases"]}
    assert "before" not in {phase["state"] for phase in second["phases"]}
    assert phases["mistakes"]["found"]["sessions"] == 2


def test_all_users_sleep_each_under_their_name() -> None:
    talk("ana", "ben")
    ran = insula("sleep", "--all")
    assert ran.status == 0
    assert [line for line in ran.out.splitlines() if line in ("ana", "ben")] == ["ana", "ben"]
    assert ran.out.count("• You want: ") == 2


def test_a_phase_that_fails_is_said_and_the_next_start_goes_on_from_there(home: Path) -> None:
    talk("me")
    soul = home / "users" / "me" / "SOUL.md"
    soul.mkdir(parents=True)
    failed = insula("sleep")
    assert failed.status == 1
    assert "✗ Chose what stands in SOUL.md: " in failed.out
    assert failed.err == "insula: soul failed; `insula sleep --user me` goes on from there.\n"
    soul.rmdir()
    again = insula("sleep")
    assert (again.status, WISH in soul.read_text()) == (0, True)
