"""What is raised, lowered or divided, in text without markup."""

from __future__ import annotations

import re


def _pairs(words: str) -> dict[str, str]:
    """Return the second characters of words by the first: "0⁰" is "⁰" for "0"."""
    return {pair[0]: pair[1] for pair in words.split()}


_RAISED = _pairs(
    "0⁰ 1¹ 2² 3³ 4⁴ 5⁵ 6⁶ 7⁷ 8⁸ 9⁹ +⁺ -⁻ −⁻ =⁼ (⁽ )⁾"
    " aᵃ bᵇ cᶜ dᵈ eᵉ fᶠ gᵍ hʰ iⁱ jʲ kᵏ lˡ mᵐ nⁿ oᵒ pᵖ rʳ sˢ tᵗ uᵘ vᵛ wʷ xˣ yʸ zᶻ"
    " Aᴬ Bᴮ Dᴰ Eᴱ Gᴳ Hᴴ Iᴵ Jᴶ Kᴷ Lᴸ Mᴹ Nᴺ Oᴼ Pᴾ Rᴿ Tᵀ Uᵁ Vⱽ Wᵂ βᵝ γᵞ δᵟ θᶿ φᵠ χᵡ"
)
_LOWERED = _pairs(
    "0₀ 1₁ 2₂ 3₃ 4₄ 5₅ 6₆ 7₇ 8₈ 9₉ +₊ -₋ −₋ =₌ (₍ )₎"
    " aₐ eₑ hₕ iᵢ jⱼ kₖ lₗ mₘ nₙ oₒ pₚ rᵣ sₛ tₜ uᵤ vᵥ xₓ βᵦ γᵧ ρᵨ φᵩ χᵪ"
)
FUNCTIONS = frozenset(
    "sin cos tan cot sec csc arcsin arccos arctan sinh cosh tanh log ln lg exp max min sup inf lim det dim ker"  # noqa: SIM905
    " arg deg gcd hom Pr mod".split()
)
"""Names of functions, which stand apart from letters beside them."""

# What needs no brackets as part of a fraction or below a root, such as "2πx"
_TERM = re.compile(r"√?[\w.′∂∇∞\u0300-\u036f]*")


def raised(text: str) -> str:
    """Return text as a superscript: in raised characters, or else after "^".

    >>> raised("-5"), raised("st"), raised("2Q"), raised("®")
    ('⁻⁵', 'ˢᵗ', '^(2Q)', '®')
    """
    return _script(text, _RAISED, "^")


def lowered(text: str) -> str:
    """Return text as a subscript: in lowered characters, or else after "_".

    >>> lowered("2"), lowered("max"), lowered("c")
    ('₂', 'ₘₐₓ', '_c')
    """
    return _script(text, _LOWERED, "_")


def _script(text: str, characters: dict[str, str], sign: str) -> str:
    """Return text in other ``characters`` if all of it has one, or else after a ``sign``."""
    if all(character in characters for character in text):
        return "".join(map(characters.__getitem__, text))
    if not any(map(str.isalnum, text)):  # such as a trade mark
        return text
    if len(text) == 1:
        return f"{sign}{text}"
    return f"{sign}({text})"


def needs_brackets(text: str) -> bool:
    """Return whether text is more than one term, so that it needs brackets in a fraction."""
    return _TERM.fullmatch(text) is None
