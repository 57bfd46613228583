"""Options of registrations: named settings with type, range and default.

A registration (a guidance method, a metric, an export kind) lists its options; the window makes a
field of each, the terminal accepts each by id, and requests are checked against them. Settings of
every run are described likewise: ``SAMPLING_OPTIONS``.
"""

from collections.abc import Mapping, Sequence
from dataclasses import field, fields, is_dataclass, replace
from enum import Enum
from math import isfinite
from typing import Any, TypeAlias, TypeVar, cast

from spatialstudio.domain.errors import RequestError, SettingsError
from spatialstudio.domain.frozen import SPARSE, frozen

OptionValue: TypeAlias = bool | int | float | str
Settings = TypeVar("Settings")

LONGEST_TEXT = 1000

_TRUE = frozenset({"true", "yes", "on", "1"})
_FALSE = frozenset({"false", "no", "off", "0"})


class OptionKind(Enum):
    """The type of an option's value."""

    BOOL = "bool"
    INT = "int"
    FLOAT = "float"
    CHOICE = "choice"
    TEXT = "text"


@frozen
class Option:
    """One setting of a registration. Frozen, readable without torch.

    Attributes:
        id: Stable name in files and in the terminal: "presence_weight".
        label: Name of its field in the window: "Presence weight".
        help: One sentence: what it does and the effect of larger values.
        kind: Type of its value.
        default: Default value, within the range.
        minimum: Smallest number; None for no limit.
        maximum: Largest number; None for no limit.
        step: Increment of the spin box; None for its default.
        choices: Allowed values of a choice, in display order.
    """

    id: str
    label: str
    help: str
    kind: OptionKind
    default: OptionValue
    minimum: float | None = None
    maximum: float | None = None
    step: float | None = None
    choices: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not self.id.isidentifier():
            raise ValueError(f'The option id "{self.id}" is not an identifier.')
        if (self.kind is OptionKind.CHOICE) != bool(self.choices):
            raise ValueError(f'Choices belong to an option of kind choice, unlike "{self.id}".')
        try:
            self.check(self.default)
        except RequestError as error:
            raise ValueError(f'The default of "{self.id}" is invalid: {error}') from error

    def check(self, value: object) -> OptionValue:
        """Convert a value to the option's type: 2 becomes 2.0 for a float.

        Raises:
            RequestError: The value is of another type, out of range or not among the choices.
        """
        checked = self._typed(value)
        if checked is None:
            raise RequestError(f"{self.label} cannot be {value!r}.", hint=f"Choose {self.range}.")
        return checked

    def parse(self, text: str) -> OptionValue:
        """Parse a value typed in the terminal: "true", "0.5".

        Raises:
            RequestError: The text is not a value of this option.
        """
        word = text.strip()
        value: object = word
        if self.kind is OptionKind.BOOL and word.lower() in _TRUE | _FALSE:
            value = word.lower() in _TRUE
        elif self.kind in {OptionKind.INT, OptionKind.FLOAT}:
            try:
                value = int(word) if self.kind is OptionKind.INT else float(word)
            except ValueError:
                value = word
        return self.check(value)

    def value_in(self, values: Mapping[str, OptionValue]) -> OptionValue:
        """Return the option's value in a mapping from option id to value, else the default."""
        return values.get(self.id, self.default)

    def in_words(self, value: OptionValue) -> str:
        """Return a value for a comparison of settings; empty for the default."""
        if value == self.default:
            return ""
        return f"{value:g}" if isinstance(value, float) else str(value).lower()

    @property
    def is_number(self) -> bool:
        """Whether its value is a number, so that it can be swept."""
        return self.kind in {OptionKind.INT, OptionKind.FLOAT}

    @property
    def range(self) -> str:
        """The allowed values in words: "true or false", "a whole number from 1 to 8"."""
        match self.kind:
            case OptionKind.BOOL:
                return "true or false"
            case OptionKind.CHOICE:
                return f"one of {', '.join(self.choices)}"
            case OptionKind.TEXT:
                return f"a text of up to {LONGEST_TEXT} characters"
        noun = "a whole number" if self.kind is OptionKind.INT else "a number"
        low = "" if self.minimum is None else f"{self.minimum:g}"
        high = "" if self.maximum is None else f"{self.maximum:g}"
        if low and high:
            return f"{noun} from {low} to {high}"
        if low:
            return f"{noun}, {low} or more"
        return f"{noun}, {high} or less" if high else noun

    def _typed(self, value: object) -> OptionValue | None:
        match self.kind:
            case OptionKind.BOOL:
                return value if isinstance(value, bool) else None
            case OptionKind.CHOICE:
                return value if isinstance(value, str) and value in self.choices else None
            case OptionKind.TEXT:
                return value if isinstance(value, str) and len(value) <= LONGEST_TEXT else None
        if isinstance(value, bool) or not isinstance(value, int | float) or not isfinite(value):
            return None
        if self.kind is OptionKind.INT and value != int(value):
            return None
        low, high = self.minimum, self.maximum
        if (low is not None and value < low) or (high is not None and value > high):
            return None
        return int(value) if self.kind is OptionKind.INT else float(value)


def described_by(option: Option, *, is_sparse: bool = False) -> Any:
    """Return the dataclass field of a setting that an option describes; it has the option's id.

    Args:
        option: The option.
        is_sparse: Whether files leave the default out, as they did before the setting existed.
    """
    sparse = SPARSE if is_sparse else {}
    return field(default=option.default, metadata={"option": option, **sparse})


def options_of(kind: Any) -> tuple[Option, ...]:
    """Return the options that describe fields of a dataclass, in order; none of other types."""
    if not is_dataclass(kind):
        return ()
    return tuple(each.metadata["option"] for each in fields(kind) if "option" in each.metadata)


def values_of(settings: Any) -> Mapping[str, OptionValue]:
    """Return the value of each option of a dataclass; that of an enum is its value."""
    values = {option.id: getattr(settings, option.id) for option in options_of(settings)}
    return {name: v.value if isinstance(v, Enum) else v for name, v in values.items()}


def with_options(settings: Settings, values: Mapping[str, OptionValue]) -> Settings:
    """Return a dataclass with other values of its options.

    Raises:
        RequestError: A value is invalid.
    """
    changed: dict[str, Any] = {}
    for option in options_of(settings):
        if option.id in values:
            checked, present = option.check(values[option.id]), getattr(settings, option.id)
            changed[option.id] = type(present)(checked) if isinstance(present, Enum) else checked
    return replace(cast("Any", settings), **changed) if changed else settings


def parse_options(settings: Settings, changes: Sequence[str]) -> Settings:
    """Return a dataclass with values of its options as typed in the terminal: "near_gap=0.2".

    Raises:
        SettingsError: There is no such option.
        RequestError: A value is invalid.
    """
    options = {option.id: option for option in options_of(settings)}
    values: dict[str, OptionValue] = {}
    for name, _, value in (change.partition("=") for change in changes):
        if name.strip() not in options:
            raise SettingsError(
                f'There is no setting "{name.strip()}".',
                hint=f"Available: {', '.join(options) or 'none'}.",
            )
        values[name.strip()] = options[name.strip()].parse(value)
    return with_options(settings, values)


@frozen
class MethodCard:
    """Description of a guidance method, part of its registration as a ``GuidanceMethod``.

    Attributes:
        id: Stable name in files and in the terminal: "boxdiff".
        label: Name in the window: "BoxDiff".
        description: One sentence: what its loss lowers.
        options: Settings specific to this method, in display order.
    """

    id: str
    label: str
    description: str
    options: tuple[Option, ...] = ()

    def option(self, option_id: str) -> Option | None:
        """Return the option with this id, or None."""
        return next((each for each in self.options if each.id == option_id), None)
