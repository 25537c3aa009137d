"""Base classes of the values: immutable ones, and those that compare by a key."""

from abc import abstractmethod

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Self, TypeGuard


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


class Keyed(Immutable):
    """An immutable value that equals, hashes and sorts by its key, among values of its kind."""

    __slots__ = ()
    _kind = ""

    @property
    @abstractmethod
    def key(self) -> str:
        """The text to compare by."""

    def _comparable(self, other: object) -> "TypeGuard[Keyed]":
        return isinstance(other, Keyed) and other._kind == self._kind

    def __eq__(self, other: object) -> bool:
        return self.key == other.key if self._comparable(other) else NotImplemented

    def __lt__(self, other: "Keyed") -> bool:
        return self.key < other.key if self._comparable(other) else NotImplemented

    def __le__(self, other: "Keyed") -> bool:
        return self.key <= other.key if self._comparable(other) else NotImplemented

    def __gt__(self, other: "Keyed") -> bool:
        return self.key > other.key if self._comparable(other) else NotImplemented

    def __ge__(self, other: "Keyed") -> bool:
        return self.key >= other.key if self._comparable(other) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.key)
