"""The base class of the values."""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Self


class Immutable:
    """A value whose attributes cannot be set or deleted; copies are the value itself."""

    __slots__ = ()

    def __setattr__(self, attribute: str, value: object) -> None:
        raise AttributeError(f"{type(self).__name__} is immutable: cannot set {attribute!r}")

    def __delattr__(self, attribute: str) -> None:
        raise AttributeError(f"{type(self).__name__} is immutable: cannot delete {attribute!r}")

    def __copy__(self) -> "Self":
        return self

    def __deepcopy__(self, memo: object) -> "Self":
        return self
