"""A model, after :doi:`10.1175/1520-0469(1963)020<0130:DNF>2.0.CO;2`."""


def numpy_style(rate: float) -> float:
    """Return a rate.

    Parameters
    ----------
    rate : float
        As in :doi:`10.1000/parameter`.

    References
    ----------
    .. [1] E. Lorenz, "Flow", :doi:`Chaos <10.1175/1520-0469(1963)020<0130:DNF>2.0.CO;2>`
    .. [2] `With a reference <doi:10.1000/456%23789>`_,
       and :doi:`10.1000/lost`
    """
    return rate


def google_style(rate: float) -> float:
    """Return a rate, as https://doi.org/10.1000/argument does.

    Args:
        rate: As in :doi:`10.1000/argument`.

    Raises:
        ValueError: If `Jones <doi:10.1000/lost>`_ is right,
            or :doi:`10.1000`.
    """
    return rate
