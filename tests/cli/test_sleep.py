"""`insula sleep`: the night on demand, and what it says of itself."""

from pathlib import Path

from harness import run_insula as insula

WISH = "Please don't give sizes in feet, use metres."


def talk(*users: str) -> None:
    """Two sessions in which each user asks for the same."""
    said = "".join(f"/session {day}\nDoes NASA use wind tunnels?\n{WISH}\n" for day in ("monday", "tuesday"))
    for user in users:
        assert insula("chat", "--model", "test", "--user", user, stdin=said).status == 0


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
