"""Frozen values without `dataclasses` and `typing`, which would cost the hook of a coding agent half its budget."""

TYPE_CHECKING = False
if TYPE_CHECKING:
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

    _fields: "tuple[str, ...]" = ()
    _defaults: "dict[str, Any]" = {}  # noqa: RUF012 replaced, never changed, by each subclass

    def __init_subclass__(cls) -> None:
        """Takes the fields and defaults from the annotations of the subclass."""
        own = tuple(name for name in cls.__annotations__ if name[0] != "_")
        cls._fields = (*cls._fields, *own)
        cls._defaults = {**cls._defaults, **{name: cls.__dict__[name] for name in own if name in cls.__dict__}}

    def __init__(self, **values: "Any") -> None:
        """Takes one value per field."""
        self.__dict__.update(self._defaults)
        self.__dict__.update(values)
        if len(self.__dict__) != len(self._fields):
            odd = set(self._fields) ^ set(self.__dict__)
            raise TypeError(f"{type(self).__name__} has the fields {self._fields}; {sorted(odd)} is missing or none.")

    @classmethod
    def of(cls, fields: "dict[str, Any]") -> "Self":
        """The value that was written as JSON: lists are tuples again, and fields of another version are left out.

        Raises:
            TypeError: one that is needed is missing.
        """
        given = ((name, fields[name]) for name in cls._fields if name in fields)
        return cls(**{name: tuple(value) if is_list(value) else value for name, value in given})

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


def is_object(value: object) -> "TypeGuard[dict[str, Any]]":
    """Whether a value that JSON held is an object."""
    return isinstance(value, dict)


def is_list(value: object) -> "TypeGuard[list[Any]]":
    """Whether a value that JSON held is a list."""
    return isinstance(value, list)


def is_number(value: object) -> "TypeGuard[float]":
    """Whether a value that JSON held is a number, and neither a truth value nor NaN or infinite."""
    return isinstance(value, (int, float)) and not isinstance(value, bool) and abs(value) < float("inf")
