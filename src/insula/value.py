"""Frozen values without `dataclasses` and `typing`, which would cost the hook of a coding agent half its budget."""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any, Self, TypeGuard, dataclass_transform
else:

    def dataclass_transform(**_):
        """What a type checker is told; nothing at run time."""
        return lambda decorated: decorated


@dataclass_transform(frozen_default=True, kw_only_default=True)
class Value:
    """The base of a frozen value: fields are the annotated names of the class, given by keyword.

    Raises:
        TypeError: a field is missing, or one is given that there is not.
        AttributeError: somebody tries to change it.
    """

    _fields: "dict[str, None]" = {}  # noqa: RUF012 replaced, never changed, by each subclass
    _defaults: "dict[str, Any]" = {}  # noqa: RUF012 the same

    def __init_subclass__(cls) -> None:
        """Takes the fields and defaults from the annotations of the subclass."""
        own = tuple(name for name in cls.__annotations__ if name[0] != "_")
        cls._fields = {**cls._fields, **dict.fromkeys(own)}
        cls._defaults = {**cls._defaults, **{name: cls.__dict__[name] for name in own if name in cls.__dict__}}

    def __init__(self, **values: "Any") -> None:
        """Takes one value per field."""
        self.__dict__.update(self._defaults)
        self.__dict__.update(values)
        if len(self.__dict__) != len(self._fields):
            odd = sorted(self._fields.keys() ^ self.__dict__.keys())
            raise TypeError(f"{type(self).__name__} has the fields {(*self._fields,)}; {odd} is missing or none.")

    @classmethod
    def of(cls, fields: "dict[str, Any]") -> "Self":
        """The value that was written as JSON: lists are tuples again, and fields of another version are left out.

        Raises:
            TypeError: one that is needed is missing.
        """
        known = cls._fields
        return cls(**{name: tuple(each) if is_list(each) else each for name, each in fields.items() if name in known})

    def replace(self, **changes: "Any") -> "Self":
        """The same value with some fields changed."""
        return type(self)(**{**self.__dict__, **changes})

    def as_dict(self) -> "dict[str, Any]":
        """Name and value of each field that is not at its default, to be written as JSON."""
        defaults = self._defaults
        return {name: value for name, value in self.__dict__.items() if defaults.get(name, self) != value}

    def __setattr__(self, name: str, value: object) -> None:
        """Refuses."""
        raise AttributeError(f"{type(self).__name__} is frozen; {name!r} cannot be set.")

    def __eq__(self, other: object) -> bool:
        """Whether the other is of the same class with the same fields."""
        return type(other) is type(self) and other.__dict__ == self.__dict__

    def __hash__(self) -> int:
        """As of the tuple of its fields."""
        return hash(tuple(self.__dict__[name] for name in self._fields))

    def __repr__(self) -> str:
        """The value as it would be written."""
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in self.__dict__.items())})"


if TYPE_CHECKING:
    scan: Callable[[str, int], tuple[Any, int]]
    write: Callable[[object, int], Iterable[str]]
    write_sorted: Callable[[object, int], Iterable[str]]
else:

    class _Reading:
        """How `json.loads` reads without arguments."""

        strict = True
        object_hook = object_pairs_hook = None
        parse_float, parse_int, parse_constant = float, int, float

    def _refuse(value):
        raise TypeError(f"A value of type {type(value).__name__} cannot be written as JSON.")

    try:  # the half of `json` that is in C: the other half takes the hook 0.7 ms
        from _json import encode_basestring, encode_basestring_ascii, make_encoder, make_scanner

        scan = make_scanner(_Reading)
        write = make_encoder(None, _refuse, encode_basestring_ascii, None, ":", ",", False, False, True)
        write_sorted = make_encoder(None, _refuse, encode_basestring, None, ":", ",", True, False, True)
    except (ImportError, AttributeError, TypeError):  # of a Python that has it in another shape
        from json import JSONDecoder, JSONEncoder

        scan = JSONDecoder().scan_once
        write = JSONEncoder(separators=(",", ":")).iterencode
        write_sorted = JSONEncoder(separators=(",", ":"), sort_keys=True, ensure_ascii=False).iterencode


def load_json(text: "str | bytes") -> "Any":
    """The value that a text in JSON holds.

    Raises:
        ValueError: it is no JSON.
        RecursionError: it is nested too deeply.
    """
    try:
        said = (text if isinstance(text, str) else text.decode()).strip(" \t\n\r")
        value, end = scan(said, 0)
        if end == len(said):
            return value
    except (StopIteration, ValueError, SystemError):  # the scanner fails without an exception on "{" alone
        pass
    from json import loads  # reads other encodings, too, and says what is wrong

    return loads(text)


def dump_json(value: object, sort_keys: bool = False) -> str:
    """A value as JSON, without blanks; with the keys of objects in order and no escapes, where texts are compared.

    Raises:
        TypeError: it holds what JSON cannot.
    """
    return "".join((write_sorted if sort_keys else write)(value, 0))


def is_object(value: object) -> "TypeGuard[dict[str, Any]]":
    """Whether a value that JSON held is an object."""
    return isinstance(value, dict)


def is_list(value: object) -> "TypeGuard[list[Any]]":
    """Whether a value that JSON held is a list."""
    return isinstance(value, list)


def is_number(value: object) -> "TypeGuard[float]":
    """Whether a value that JSON held is a number, and neither a truth value nor NaN or infinite."""
    return isinstance(value, (int, float)) and not isinstance(value, bool) and abs(value) < float("inf")
