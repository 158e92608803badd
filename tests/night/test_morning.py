"""What changed last night: told once at the next start, in three lines, with what takes each back; nothing else."""

from harness import run_insula

WISH = "From now on, answer in one sentence."
CORRECTED = ("What is the capital of Australia?", "No, the capital is Canberra.", "Thanks.")
ORDINARY = ("How long do I boil an egg?", "Thanks!", "Write a haiku about the sea.")


def chat(*said: str, session: str = "morning") -> list[str]:
    """A talk; what was told at its start of the night before it."""
    text = "".join(f"{line}\n" for line in said)
    ran = run_insula("chat", "--model", "test", "--session", session, stdin=text)
    assert ran.status == 0
    return [line.removeprefix("• ") for line in ran.err.splitlines() if line.startswith("• ")]


def day(session: str, *said: str) -> None:
    """Somebody talks, and sleeps on it."""
    chat(*said, session=session)
    assert run_insula("sleep", "--force").status == 0


def test_the_next_start_tells_once_what_changed_and_how_to_take_it_back() -> None:
    day("monday", WISH, *ORDINARY)
    (line,) = chat("Hello.")
    assert f"You want: {WISH} (take it back: insula guidance forget w" in line
    name = line.rstrip(")").rpartition(" ")[2]
    assert run_insula("lessons", "forget", name).status == 0
    assert WISH not in [one["advice"] for one in run_insula("lessons", "--json").json]
    assert chat("Hello.") == []


def test_a_lesson_of_a_correction_is_told_with_its_words() -> None:
    day("monday", *CORRECTED)
    day("tuesday", *CORRECTED)
    (line,) = chat("Hello.")
    assert "From now on: When this comes up, keep to what they corrected: “the capital is Canberra”." in line
    assert "insula guidance forget c" in line


def test_whether_two_preferences_both_hold_is_asked_once() -> None:
    casual, formal = "From now on, use a casual tone with me.", "From now on, be formal with me."
    day("monday", casual, *ORDINARY)
    day("tuesday", formal, *ORDINARY)
    (asked,) = [line for line in chat(*ORDINARY) if "Do both hold" in line]
    assert f"Do both hold, “{casual}” and “{formal}”? (only the newer: insula guidance forget w" in asked
    assert run_insula("sleep", "--force").status == 0
    assert chat("Hello.") == []


def test_after_an_ordinary_night_nothing_is_said() -> None:
    day("monday", *ORDINARY)
    assert chat("Hello.") == []


def test_there_are_three_lines_at_most() -> None:
    wishes = ("From now on use Celsius.", "Always give sizes in metres.", "Never use emojis.")
    day("monday", WISH, *wishes, "Call me Mara when you answer me.")
    lines = chat("Hello.")
    assert len(lines) == 3
    assert "… and 3 more: insula guidance soul diff" in lines[-1]
