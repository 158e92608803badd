"""Settings: defaults <- `insula.toml` in Insula's folder <- `insula.toml` here <- `INSULA_*`.

A folder that somebody else made can hold an `insula.toml`, so the one in the working folder may only turn numbers: it
cannot choose the model, the identity or where memory lives (law 10). Nor can it stop a command: what cannot be used of
it is left aside, and said in one sentence.
"""

import logging
import os
import reprlib
import stat
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from difflib import get_close_matches
from pathlib import Path
from typing import Annotated, Any, Literal
from zoneinfo import ZoneInfo

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, SecretStr, ValidationError, field_validator
from pydantic_settings import BaseSettings, NoDecode, PydanticBaseSettingsSource, SettingsConfigDict
from pydantic_settings import SettingsError as Unparsable

from insula import folders, foreign
from insula.claims import switch_claims
from insula.errors import InputError, SettingsError
from insula.types import Controls

log = logging.getLogger(__name__)

home = folders.home
"""The folder that holds Insula's data."""
FILE = "insula.toml"
MOST_HERE = 8_000
"""Bytes of the file in the working folder: all settings with a comment each. A key of so many parts takes 0.2 s to read
(the time grows with the square)."""
MOST_AT_HOME = 1_000_000
"""Bytes of a person's own file, which may name ten thousand users."""
QUOTED = 100
"""Characters of what stands in a file that a sentence repeats."""
ALIKE = 0.65
"""Likeness from which on a setting that there is not is taken for one that there is, misspelt."""
FROM_HERE = frozenset(
    {
        *("temperature", "max_tokens", "timeout", "max_context_items", "consolidation_threshold", "stm_capacity"),
        *("metacog_turn_interval", "metacog_snapshot_history_size", "time_zone"),
    }
)
"""Settings that the working folder may decide: numbers of how a turn goes, and the zone. Every other decides what is
imported, what reaches a prompt, whom it is sent to or what it may cost, and so does a setting that is new until it is
named here."""


def _check_zone(name: str) -> str:
    try:
        return ZoneInfo(name).key
    except (KeyError, ValueError, OSError):
        raise ValueError(
            f'this machine knows no time zone {name!r}; give an IANA name, such as "Europe/Berlin" (where it knows '
            "none at all: pip install tzdata)"
        ) from None


def _check_store(url: SecretStr) -> SecretStr:
    if not url.get_secret_value().startswith(("postgresql://", "postgres://")):
        raise ValueError("it is no URL of PostgreSQL; give postgresql://USER:PASSWORD@HOST:PORT/DATABASE")
    return url


def _check_claims(named: tuple[str, ...]) -> tuple[str, ...]:
    try:
        switch_claims(named)
    except InputError as error:
        raise ValueError(str(error).rstrip(".")) from None
    return named


TimeZone = Annotated[str, AfterValidator(_check_zone)]


def _from_home(path: Path) -> Path:
    """A relative path is taken from Insula's folder: from the working one, a repository would bring the file."""
    return home() / path.expanduser()


OwnPath = Annotated[Path, AfterValidator(_from_home)]


class User(BaseModel):
    """What the server knows of one of its users."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    time_zone: TimeZone | None = None
    """Where the user sleeps; by default where the machine stands."""


class Settings(BaseSettings):
    """What a person may set; each as `INSULA_NAME` or as a line of `insula.toml`."""

    model_config = SettingsConfigDict(env_prefix="INSULA_", extra="forbid", frozen=True, allow_inf_nan=False)

    model: str = Field(default="embedded", min_length=1)
    """The model that answers: `embedded`, `test`, `openai:gpt-…`, `anthropic:…`, `ollama:…`, or a URL."""
    assessor_model: str | None = None
    """A model that assesses responses in place of the built-in monitor; one more call per turn, so none by default."""
    identity: OwnPath | None = None
    """The identity file; by default `identity.toml` in Insula's folder, where there is one. A relative path is taken
    from that folder, and that of `weights` likewise."""
    weights: OwnPath | None = None
    """A folder with embedded weights, beside those that pip installed."""
    store: Annotated[SecretStr, AfterValidator(_check_store)] | None = None
    """Where memory is: `postgresql://USER:PASSWORD@HOST:PORT/DATABASE`; by default a file in Insula's folder."""
    embed: str = "use"
    """What makes the vectors by which memories are found in other words: `use` (shipped), `none`, or
    `MODULE:FUNCTION`, a function from a text to its vector."""

    temperature: float | None = Field(default=None, ge=0, le=2)
    """By default the model's own."""
    max_tokens: int = Field(default=1_000, ge=1)
    """Tokens of one response."""
    timeout: float = Field(default=120.0, gt=0)
    """Seconds that one response may take."""
    max_calls: int | None = Field(default=None, ge=1)
    """Model calls of one run; no cap by default. Likewise `max_total_tokens` and `max_seconds`."""
    max_total_tokens: int | None = Field(default=None, ge=1)
    max_seconds: float | None = Field(default=None, gt=0)

    solve_tokens: int | None = Field(default=None, ge=16)
    """Tokens of a reply when a problem is solved, at first; by default what the method says, 600 for a chain of
    thought."""
    solve_most_tokens: int = Field(default=8_192, ge=16)
    """Tokens of a reply that is asked for again because the first was cut off before it said what it answers."""
    solve_temperature: float | None = Field(default=None, ge=0, le=2)
    """Of sampled replies when a problem is solved; by default what the method says, 0.7 for further chains."""
    solve_attempts: int | None = Field(default=None, ge=1, le=100)
    """Attempts at a problem; by default what the method says, 7 for `insula`."""

    max_context_items: int = Field(default=16, ge=1, le=100)
    """Recalled memories put before the model."""
    consolidation_threshold: float = Field(default=0.55, ge=0, le=1)
    """Salience from which an item is promoted to long-term memory."""
    stm_capacity: int = Field(default=32, ge=1)
    """Items a session's working memory holds."""

    retry: int = Field(default=0, ge=0, le=1)
    """Whether the model is asked once more at once where its response falls short: a call more in such a turn, so 0 by
    default."""

    understanding: Literal["off", "night", "idle"] = "night"
    """When the model reads what was said and notes its facts: `night`, `idle` (also once nothing was said for a
    minute), or `off`. An embedded model never does."""
    understanding_tokens: int = Field(default=50_000, ge=0)
    """Tokens that reading one user's lines may take in a day."""

    holdout: float = Field(default=0.1, ge=0, le=0.5)
    """Share of sessions from which a learned rule of the hooks is withheld, to measure whether it helps; or `off`."""

    news: bool = True
    """Whether the first talk after a night begins with what it changed, in three lines at most."""

    metacog_turn_interval: int = Field(default=5, ge=2, le=10)
    """User turns between two snapshots of the session, to begin with; load tightens it, calm relaxes it."""
    metacog_snapshot_history_size: int = Field(default=50, ge=1)
    """Snapshots that are kept, and as many adaptations."""

    claims: Annotated[tuple[str, ...], NoDecode, AfterValidator(_check_claims)] = ()
    """Claims that are made though they are off by default, by their ids in the register (`insula status` lists them);
    in the variable with commas between them."""

    users: Mapping[str, User] = Field(default_factory=dict[str, User])
    """Where users sleep: `[users.ana]` with `time_zone`."""
    time_zone: TimeZone | None = None
    """An IANA name, such as `Europe/Berlin`, for users who have none of their own; by default the machine's."""

    @field_validator("claims", mode="before")
    @classmethod
    def _split_list(cls, value: object) -> object:
        return [name.strip() for name in value.split(",") if name.strip()] if isinstance(value, str) else value

    @field_validator("holdout", mode="before")
    @classmethod
    def _read_off(cls, value: object) -> object:
        return 0.0 if value == "off" else value

    def zone_of(self, user: str) -> ZoneInfo | None:
        """The time zone of a user; None for the machine's own."""
        own = self.users[user].time_zone if user in self.users else None
        name = own or self.time_zone
        return ZoneInfo(name) if name else None

    @property
    def controls(self) -> Controls:
        """What a turn may use before conditions change it."""
        return Controls(
            max_context_items=self.max_context_items,
            consolidation_threshold=self.consolidation_threshold,
            stm_capacity=self.stm_capacity,
            retry=self.retry,
        )

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """The environment first; the files are merged by `load_settings`, which knows which of them to trust."""
        return env_settings, init_settings


ONLY_AT_HOME = frozenset(Settings.model_fields) - FROM_HERE
"""Settings that are never taken from the working folder."""


OTHERS = frozenset(("home", "user", "off", "api_key"))
"""Variables of ours that are no settings, without INSULA_."""


def load_settings() -> Settings:
    """The settings in force. What cannot be used of the working folder's file is left aside, and said.

    Raises:
        SettingsError: a file of the person's own, or a variable, cannot be used; the message names it and what to do.
    """
    own, local = home() / FILE, Path.cwd() / FILE
    check_home(own.parent)
    if others := written_by_others(own.parent):
        log.warning("%s", others)
    for misspelt in _find_misspelt(os.environ):
        log.warning("%s Until then it is left aside.", misspelt)
    values = _read_own(own)
    theirs = {} if os.path.realpath(local) == os.path.realpath(own) else _read_theirs(local)
    while True:
        try:
            return Settings(**values | theirs)
        except ValidationError as error:
            files = dict.fromkeys(values, own) | dict.fromkeys(theirs, local)
            said, name = _setting_error(error, files), str(error.errors()[0]["loc"][0])
            if name not in theirs:
                raise SettingsError(said) from error
            log.warning("%s Until then it is left aside.", said)
            del theirs[name]
        except Unparsable as error:
            raise SettingsError(
                "The variable INSULA_USERS cannot be read: it is no JSON; give it as one object, or leave it out and "
                f"write [users.NAME] into {str(home() / FILE)!r}."
            ) from error


def _find_misspelt(variables: Iterable[str]) -> Iterator[str]:
    """What to say of variables that are named almost like a setting; others may be those of another program."""
    for variable in sorted(name for name in variables if name.startswith("INSULA_")):
        name = variable.removeprefix("INSULA_").lower()
        if name not in OTHERS | Settings.model_fields.keys() and _find_meant(name, Settings.model_fields):
            yield _unknown_setting([name], f"the variable {variable}")


def check_home(folder: Path) -> None:
    """See that Insula's folder is one, or may become one: of a file, each command would name another part.

    Raises:
        SettingsError: it is a file, or lies below one.
    """
    for place in (folder, *folder.absolute().parents):
        with suppress(OSError):  # what may not be looked at, the store says so of
            if place.is_file():
                raise SettingsError(
                    f"The folder {str(folder)!r} cannot be used: {str(place)!r} is a file; "
                    "point INSULA_HOME at a folder."
                )


def written_by_others(folder: Path) -> str:
    """What to say of a folder of ours into which others may write; empty where they may not."""
    try:
        status = folder.stat()
    except OSError:
        return ""
    theirs = status.st_mode & stat.S_IWOTH or (status.st_mode & stat.S_IWGRP and status.st_gid != status.st_uid)
    if os.name != "posix" or not theirs:
        return ""
    return (
        f"Others on this machine may write into {str(folder)!r} (mode {stat.S_IMODE(status.st_mode):o}), and so choose "
        f"what is remembered and who comes in; take that from them with `chmod go-w {folder}`."
    )


def _read_own(path: Path) -> dict[str, Any]:
    """What stands in the file of Insula's folder.

    Raises:
        SettingsError: it cannot be read.
    """
    try:
        return _parse_file(path, MOST_AT_HOME)
    except (OSError, ValueError) as error:
        raise SettingsError(
            f"The settings file {str(path)!r} cannot be read ({_explain_error(error)}); mend it."
        ) from error


def _read_theirs(path: Path) -> dict[str, Any]:
    """What the file of the working folder may decide: somebody else may have put it there, to no good end."""
    try:
        values = _parse_file(path, MOST_HERE, path.parent)
    except (OSError, ValueError) as error:
        log.warning(
            "The settings file %r is left aside (%s); mend it, or take it away.", str(path), _explain_error(error)
        )
        return {}
    if refused := sorted(ONLY_AT_HOME & values.keys()):
        names, where = ", ".join(refused), str(home() / FILE)
        log.warning(
            "The settings file %r sets %s, which a working folder may not decide, so that is left aside; set it in %r "
            "or as INSULA_%s.", str(path), names, where, refused[0].upper(),
        )  # fmt: skip
    return {name: value for name, value in values.items() if name not in refused}


def _parse_file(path: Path, most: int, within: Path | None = None) -> dict[str, Any]:
    """The values in a file; none where there is no file.

    Raises:
        OSError, ValueError: it cannot be read.
    """
    try:
        values = tomllib.loads(foreign.read(path, most, within).decode())
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except RecursionError:
        raise ValueError("it is nested without end") from None
    values.pop("home", None)
    return values


def _explain_error(error: OSError | ValueError) -> str:
    return foreign.why(error) if isinstance(error, OSError) else _shorten_error(str(error))


def _shorten_error(text: str) -> str:
    return text if len(text) <= QUOTED else f"{text[:QUOTED]}…"


def _setting_error(error: ValidationError, files: Mapping[str, Path]) -> str:
    first = error.errors()[0]
    loc = [_shorten_error(str(part)) for part in first["loc"]]
    name, why = ".".join(loc), first["msg"].removeprefix("Value error, ")
    if first["type"] == "extra_forbidden":
        file = files.get(str(first["loc"][0]))
        return _unknown_setting(loc, repr(str(file)) if file else f"the variable INSULA_{loc[0].upper()}")
    if loc[0] in {"users", "store"}:  # what stands there may be a password, or a token of before: no message repeats it
        return f"The setting {name!r} cannot be used: {why}. Change it in {str(home() / FILE)!r}."
    return (
        f"The setting {name!r} cannot be {reprlib.repr(first.get('input'))} ({why}); "
        f"change it in {FILE} or in the variable INSULA_{name.upper()}."
    )


def _unknown_setting(loc: Sequence[str], where: str) -> str:
    """What to do about a setting that there is not."""
    known = Settings.model_fields if len(loc) == 1 else User.model_fields
    said, meant = f"There is no setting {'.'.join(loc)!r}", _find_meant(loc[-1], known)
    if meant:
        return f"{said}; did you mean {meant[0]!r}? Change it in {where}."
    return f"{said}; take it out of {where}, or name one of {', '.join(known)}."


def _find_meant(name: str, known: Iterable[str]) -> list[str]:
    """The setting that a misspelt name means, if any."""
    return get_close_matches(name, known, 1, ALIKE)
