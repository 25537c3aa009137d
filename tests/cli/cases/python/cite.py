due.cite(Doi("10.1000/1"), BibTeX(r"""@misc{a, doi = {10.1000/2}}"""), Url("https://doi.org/10.1000/no"))


def f():
    pass


f.__doc__ = """As in 10.1000/3::

    @misc{b, doi = {10.1000/4}}

End.
"""
f.name = "10.1000/no"
Doi("10.1000/no" + f())
