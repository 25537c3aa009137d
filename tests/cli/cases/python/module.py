"""About doi:10.1000/1.

>>> find("10.1000/no")
"""

URL = "https://doi.org/10.1000/no"
NAMES = (
    "10.1000/no"
)


class A:
    r"""Raw `\x <https://doi.org/10.1000/2>`_."""

    size = 1
    """After 10.1000/3, the DOI of an attribute."""

    def f(self, x="10.1000/no"):
        "Escaped \t 10.1000/\u00e9."
        return x  # from 10.1000/4
