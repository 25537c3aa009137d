"""Numbers and pages: each separator, letter and dash, one by one (CSL 1.0.2, Number, Label, Choose)."""

from __future__ import annotations

from csl.grammar import shown
from csl.styles import style_of
from doiuri_csl import Cite, to_text
from support.checks import assert_same


def shown_of(layout: str, variable: str, value: str, options: str = "") -> str:
    """What a layout shows of a variable; a locator is one of volumes."""
    cite = Cite("x", value, "volume") if variable == "locator" else Cite("x")
    item = {"id": "x"} if variable == "locator" else {"id": "x", variable: value}
    return shown(style_of(layout, options), [item], [[cite]], write=to_text)[0]


NUMERIC = ("2", "a2", "A2", "2a", "2A", "1,2", "1&2", "1-2", "1–2", "1, 2", "1 & 2", "12,")
NOT_NUMERIC = ("a", "12th ed.", "1 and 2", "1;2", "1/2", "2a3b")


def test_numbers_with_letters_and_three_separators_are_numeric() -> None:
    layout = """<choose><if is-numeric="number"><text value="numeric"/></if>
        <else><text value="other"/></else></choose>"""

    for value in NUMERIC:
        assert_same(f"{value!r} is numeric", shown_of(layout, "number", value), "numeric")
    for value in NOT_NUMERIC:
        assert_same(f"{value!r} is not numeric", shown_of(layout, "number", value), "other")


BETWEEN = (", ", ",", "; ", ";", " & ", "&", "-", "–", " and ", " et ", " und ")
BETWEEN_ONE = (" of ", ".", "/", " sand ", " net ", " hund ", "\\-")


def test_each_separator_makes_a_label_plural() -> None:
    for variable in ("volume", "locator"):
        layout = f'<label variable="{variable}"/>'
        for between in BETWEEN:
            text = shown_of(layout, variable, f"3{between}5")
            assert_same(f"{variable} 3{between}5 is several", text, "volumes")
        for between in BETWEEN_ONE:
            text = shown_of(layout, variable, f"3{between}5")
            assert_same(f"{variable} 3{between}5 is one", text, "volume")


def test_each_roman_letter_is_a_number_of_a_label_that_is_plural() -> None:
    for letter in "ivxlcdm":
        text = shown_of('<label variable="volume"/>', "volume", f"{letter}, {letter * 2}")
        assert_same(f"{letter}, {letter * 2} is several", text, "volumes")
    for letter in "abeCX":
        text = shown_of('<label variable="volume"/>', "volume", f"{letter}, {letter}")
        assert_same(f"{letter}, {letter} is one", text, "volume")


FORMED = {
    "2-3": "2nd–3rd", "2--3": "2nd–3rd", "2–3": "2nd–3rd", "2 - 3": "2nd–3rd", "2,3": "2nd,3rd",
    "2, 3": "2nd, 3rd", "2;3": "2nd;3rd", "2&3": "2nd & 3rd", "2 & 3": "2nd & 3rd",
    "2 and 3": "2nd and 3rd", "2 et 3": "2nd et 3rd", "2 und 3": "2nd und 3rd",
    "2 of 3": "2 of 3", "2/3": "2/3", "2and3": "2and3", "2---3": "2---3",
    "2, a3": "2nd, a3", "2, A3": "2nd, A3", "2, 3a": "2nd, 3a", "2, 3A": "2nd, 3A",
    "2, b": "2, b", "2, 3.": "2, 3.",
    **{f"2, {letter}": f"2nd, {letter}" for letter in "ivxlcdmIVXLCDM"},
}  # fmt: skip


def test_each_number_of_several_is_in_the_form_of_the_style() -> None:
    for value, expected in FORMED.items():
        text = shown_of('<number variable="edition" form="ordinal"/>', "edition", value)
        assert_same(f"the ordinals of {value!r}", text, expected)


ROMAN = {
    1: "i", 4: "iv", 5: "v", 9: "ix", 10: "x", 40: "xl", 50: "l", 90: "xc", 100: "c", 400: "cd",
    500: "d", 900: "cm", 1000: "m", 3999: "mmmcmxcix",
}  # fmt: skip


def test_each_roman_numeral() -> None:
    for number, expected in ROMAN.items():
        text = shown_of('<number variable="volume" form="roman"/>', "volume", str(number))
        assert_same(f"{number} in roman numerals", text, expected)


LABELLED = {
    "1, fol. 186": "1, fol. 186",
    "1, fol. 186-188": "1, fols. 186–188",
    "1, p. 3, 5": "1, pp. 3, 5",
    "1, page 3": "1, page 3",
    "1, pages 3": "1, page 3",
    "1, zzz. 3-5": "1, zzz. 3-5",
}


def test_numbers_with_a_label_of_their_own() -> None:
    for value, expected in LABELLED.items():
        text = shown_of('<number variable="volume"/>', "volume", value)
        assert_same(f"the volume {value!r}", text, expected)


PAGES = {
    "101-107": "101–7", "101--107": "101–7", "101–107": "101–7", "101 - 107": "101–7",
    "101—107": "101—107", "e101-e107": "e101–7", "e101--e107": "e101–7",
    "xi-12": "xi–12", "xi--12": "xi–12", "xi–12": "xi–12", "xi - xiv": "xi–xiv", "XI-XIV": "XI–XIV",
    "xi—12": "xi—12", "12a-15b": "12a–15b", "12A-15B": "12A–15B", "12a-xi": "12a–xi", "xi-12a": "xi–12a",
    "12a-b": "12a-b", "N110-5": "N110-5", "3\\-B": "3-B",
    "1, 3-5": "1, 3–5", "1;3-5": "1; 3–5", "1&3-5": "1 & 3–5", "1, 3; 5 & 7": "1, 3; 5 & 7",
    **{f"{letter}-2a": f"{letter}–2a" for letter in "ivxlcdmIVXLCDM"},
    **{f"2a-{letter}": f"2a–{letter}" for letter in "ivxlcdmIVXLCDM"},
}  # fmt: skip


def test_each_dash_and_separator_of_pages() -> None:
    options = 'page-range-format="minimal"'
    for value, expected in PAGES.items():
        text = shown_of('<text variable="page"/>', "page", value, options)
        assert_same(f"the pages {value!r}", text, expected)


# CSL 1.0.2, Appendix V
FORMATS = {
    "expanded": {"42-5": "42–45", "321-8": "321–328", "2787-816": "2787–2816"},
    "minimal": {"42-45": "42–5", "321-328": "321–8", "2787-2816": "2787–816"},
    "minimal-two": {"42-45": "42–45", "321-328": "321–28", "2787-2816": "2787–816", "3-7": "3–7"},
    "chicago": {"3-10": "3–10", "71-72": "71–72", "100-104": "100–104", "600-613": "600–613",
                "1100-1123": "1100–1123", "107-108": "107–8", "505-517": "505–17", "1002-1006": "1002–6",
                "321-325": "321–25", "415-532": "415–532", "11564-11568": "11564–68",
                "13792-13803": "13792–803", "1496-1504": "1496–1504", "2787-2816": "2787–2816"},
    "": {"42-45": "42–45", "42-5": "42–5"},
}  # fmt: skip
FORMATS["chicago-15"] = FORMATS["chicago"]
FORMATS["chicago-16"] = {
    **FORMATS["chicago"],
    "1496-1504": "1496–504",
    "2787-2816": "2787–816",
}


def test_each_format_of_page_ranges() -> None:
    for name, pages in FORMATS.items():
        options = f'page-range-format="{name}"' if name else ""
        for value, expected in pages.items():
            text = shown_of('<text variable="page"/>', "page", value, options)
            assert_same(f"{value} in the format {name!r}", text, expected)


# CSL 1.0.2, Label, plural: "contextual"; of a count, one number says how many there are
COUNTED = {"number-of-pages": ("page", "pages"), "number-of-volumes": ("volume", "volumes")}


def test_a_count_of_pages_or_volumes_makes_its_label_plural() -> None:
    for variable in COUNTED:
        for value, index in {"1": 0, "2": 1, "300": 1}.items():
            text = shown_of(f'<label variable="{variable}"/>', variable, value)
            assert_same(f"the label of {variable} {value}", text, COUNTED[variable][index])
    assert_same("volume 2 is one", shown_of('<label variable="volume"/>', "volume", "2"), "volume")
