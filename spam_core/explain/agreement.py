"""How far apart two explanations of the same row are."""

from __future__ import annotations

from spam_core.explain.explanation import LocalExplanation
from spam_core.explain.ledger import check_row, output_of
from spam_core.explain.quality import relative_error


def relative_difference(
    explanation: LocalExplanation,
    reference: LocalExplanation,
    row: int = 0,
    class_: object = None,
) -> float:
    r"""Sum of absolute differences over sum of absolute reference values.

    Terms are shared out equally among their features first; what isn't explained by
    any feature is left out.

    Parameters
    ----------
    explanation, reference : LocalExplanation
        Of the same row, with the same columns, on the same scale. If the reference is
        exact, this is the error of the other.
    row : int, default=0
    class_ : object, optional
        As `LocalExplanation.ledger` takes it. None: of several classes, the one that
        the reference's model predicts.

    Returns
    -------
    float
        0 if they agree; NaN if the reference has no size at all.

    Raises
    ------
    ValueError
        If the explanations have different columns or classes.

    Examples
    --------
    >>> import pandas as pd
    >>> def of(values):
    ...     data = pd.DataFrame({"a": [1.0], "b": [2.0]})
    ...     return LocalExplanation(
    ...         [values], [0.0], [sum(values)], [("a",), ("b",)], data
    ...     )
    >>> relative_difference(of([1.5, -2.0]), of([1.0, -1.0]))
    0.75
    """
    for name in ("feature_names", "classes"):
        ours, theirs = getattr(explanation, name), getattr(reference, name)
        if ours != theirs:
            raise ValueError(
                f"Explanations must have the same {name}, got {ours} and {theirs}"
            )
    row = check_row(reference, row)
    column, _, _ = output_of(reference, row, class_)
    ours, theirs = (
        one.share_by_feature(slice(row, row + 1))[0][0]
        for one in (explanation, reference)
    )
    if column is not None:
        ours, theirs = ours[:, column], theirs[:, column]
    return relative_error(ours, theirs)
