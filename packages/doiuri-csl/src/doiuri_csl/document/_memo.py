"""What was rendered before, so that an edit renders only what it changes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable

_Value = TypeVar("_Value")


class Memo(Generic[_Value]):
    """Rendered values by what they depend on.

    A value that neither the last call of ``set_citations`` nor the one before it needed is forgotten.
    """

    def __init__(self) -> None:
        self._used: dict[Hashable, _Value] = {}
        self._before: dict[Hashable, _Value] = {}

    def start(self) -> None:
        """Begin a call of ``set_citations``: forget what the last one did not use."""
        self._before = self._used
        self._used = {}

    def get(self, inputs: Hashable, render: Callable[[], _Value]) -> _Value:
        """Return the value for inputs, rendered if there is none."""
        # What the last call used moves on; what stays in ``_before`` is dropped by the next ``start``
        value = self._used.get(inputs)
        if value is None:
            value = self._before.get(inputs)
            if value is None:
                value = render()
            self._used[inputs] = value
        return value
