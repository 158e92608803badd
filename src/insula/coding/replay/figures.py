"""Figures as a person reads them at a glance: counts, tokens, durations, shares, times."""

from datetime import datetime

_MINUTE, _DAY = 60, 86_400
_SMALL = 90
"""Up to so many seconds or minutes, the smaller unit reads better than one and a half of the larger."""
_GAP = "\u00a0"
"""Between a figure and its unit no line breaks."""


def format_number(value: int) -> str:
    """12,345."""
    return f"{value:,}"


def format_count(value: int, noun: str, plural: str = "") -> str:
    """1 session, 12 sessions."""
    return f"{format_number(value)} {noun if value == 1 else plural or noun + 's'}"


def format_tokens(value: int) -> str:
    """950, 9.6k, 48k, 1.3M: two digits that count are what an estimate is worth."""
    if value < 1_000:
        return str(value)
    if value < 999_500:
        return f"{value / 1_000:.1f}k" if value < 9_950 else f"{value / 1_000:.0f}k"
    return f"{value / 1_000_000:.1f}M"


def format_duration(seconds: float) -> str:
    """42 s, 12 min, 3 h 12 min, 5 days."""
    if seconds < _SMALL:
        return f"{max(0.0, seconds):.0f}{_GAP}s"
    if seconds < _SMALL * _MINUTE:
        return f"{seconds / _MINUTE:.0f}{_GAP}min"
    if seconds < 2 * _DAY:
        hours, minutes = divmod(round(seconds / _MINUTE), 60)
        return f"{hours}{_GAP}h {minutes}{_GAP}min" if minutes else f"{hours}{_GAP}h"
    return f"{seconds / _DAY:.0f}{_GAP}days"


def format_share(part: float, whole: float) -> str:
    """8 %; less than one is said to be so."""
    if whole <= 0 or part <= 0:
        return f"0{_GAP}%"
    percent = 100 * part / whole
    return f"{percent:.0f}{_GAP}%" if percent >= 1 else f"under{_GAP}1{_GAP}%"


def format_time(at: float) -> str:
    """14 Nov 2025, 10:32 in the zone of this machine; nothing where no time is known."""
    return f"{format_day(at)}, {_to_local(at):%H:%M}" if at else ""


def format_day(at: float) -> str:
    """14 Nov 2025."""
    return f"{_to_local(at).day} {_to_local(at):%b %Y}" if at else ""


def format_span(began: float, ended: float) -> str:
    """14 Nov 2025, or 3 – 17 Nov 2025."""
    first, last = format_day(began), format_day(ended)
    if not first or not last or first == last:
        return last or first
    (number, month, year), (_, other_month, other_year) = first.split(), last.split()
    if year != other_year:
        return f"{first} – {last}"
    return f"{number} – {last}" if month == other_month else f"{number} {month} – {last}"


def _to_local(at: float) -> datetime:
    try:
        return datetime.fromtimestamp(at).astimezone()
    except (OverflowError, OSError, ValueError):  # a transcript may claim any time
        return datetime.fromtimestamp(0).astimezone()
