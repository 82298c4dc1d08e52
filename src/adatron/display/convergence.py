"""`ConvergenceDisplay`: margin, bias, objective and violation against epochs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from adatron.display.history import (
    check_axes,
    check_history,
    check_problems,
    check_quantities,
    positive,
    problem_names_of,
    summary_of,
)
from adatron.display.style import COLOURS, INK, innermost, label_panel, new_panels

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.lines import Line2D

__all__ = ["ConvergenceDisplay"]

_Y_LABELS = {"margin": "margin", "bias": "bias", "objective": "objective", "violation": "KKT violation"}
_LOG_FROM = 1_000  # epochs from which the default axis is logarithmic
_MARKED_UP_TO = 20  # epochs up to which each is marked


class ConvergenceDisplay:
    """The course of a fit, one panel for each quantity.

    Use `from_estimator`, or give a history and call `plot`.

    Parameters
    ----------
    history : mapping of lists
        ``problem``, ``epoch`` and the quantities to draw, all of one length, as in ``SVC.history_``.
    problem_names : sequence of str, optional
        What to call each problem in the legend.
    final_bias : sequence of float, optional
        The bias each problem ended with, drawn as a dotted line.
    title : str, optional

    Attributes
    ----------
    figure_ : matplotlib Figure
    axes_ : ndarray of Axes
        One for each quantity.
    lines_ : dict
        The curves of each quantity, one for each problem.

    See Also
    --------
    MarginDisplay : shows the result of a fit, for two features.
    adatron.SVC : keeps the ``history_`` that is drawn.

    Notes
    -----
    The curves are the epochs of the algorithm. A fit may end with an exact step to the optimum, so
    the model can be closer to it than the last epoch shown; the title then says so.

    Examples
    --------
    >>> from adatron import SVC
    >>> from adatron.datasets import load_sonar
    >>> from adatron.display import ConvergenceDisplay
    >>> X_train, X_test, y_train, y_test = load_sonar(split="half")
    >>> model = SVC(C=float("inf"), gamma=0.5, solver="adatron").fit(X_train, y_train)
    >>> display = ConvergenceDisplay.from_estimator(model)
    >>> list(display.lines_)
    ['margin', 'bias', 'objective', 'violation']
    >>> bool(abs(display.lines_["margin"][0].get_ydata()[-1] - 1.0) < 0.01)
    True
    """

    def __init__(
        self,
        history: Mapping[str, Sequence[float]],
        *,
        problem_names: Sequence[str] | None = None,
        final_bias: Sequence[float] | None = None,
        title: str | None = None,
    ) -> None:
        self.history = history
        self.problem_names = problem_names
        self.final_bias = final_bias
        self.title = title

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        *,
        quantities: str | Iterable[str] = tuple(_Y_LABELS),
        problem: int | Iterable[int] | None = None,
        axes: Any = None,
        log_epochs: bool | None = None,
        **line_kw: Any,
    ) -> ConvergenceDisplay:
        """Draw the history of a fitted estimator.

        Parameters
        ----------
        estimator : fitted estimator with ``history_``
            Or a pipeline that ends in one, or a search over one.
        quantities : str or iterable of str, default=("margin", "bias", "objective", "violation")
            What to draw.
        problem : int or iterable of int, optional
            Problems to draw, of a fit that has several (more than two classes); default: all.
        axes : Axes or array of Axes, optional
            One for each quantity; default: a new figure.
        log_epochs : bool, optional
            Whether epochs are on a logarithmic scale; default: from 1,000 epochs on.
        **line_kw
            Passed on to ``Axes.plot``.

        Returns
        -------
        ConvergenceDisplay
        """
        check_is_fitted(estimator)
        inner = innermost(estimator)
        if not hasattr(inner, "history_"):
            raise TypeError(
                f"{type(inner).__name__} keeps no history_; ConvergenceDisplay needs an estimator of adatron"
            )
        display = cls(
            inner.history_,
            problem_names=problem_names_of(inner),
            final_bias=getattr(inner, "intercept_", None),
            title=summary_of(inner),
        )
        return display.plot(
            quantities=quantities, problem=problem, axes=axes, log_epochs=log_epochs, **line_kw
        )

    def plot(
        self,
        *,
        quantities: str | Iterable[str] = tuple(_Y_LABELS),
        problem: int | Iterable[int] | None = None,
        axes: Any = None,
        log_epochs: bool | None = None,
        **line_kw: Any,
    ) -> ConvergenceDisplay:
        """Draw the history.

        Parameters
        ----------
        quantities : str or iterable of str, default=("margin", "bias", "objective", "violation")
            What to draw.
        problem : int or iterable of int, optional
            Problems to draw; default: all.
        axes : Axes or array of Axes, optional
            One for each quantity; default: a new figure.
        log_epochs : bool, optional
            Whether epochs are on a logarithmic scale; default: from 1,000 epochs on.
        **line_kw
            Passed on to ``Axes.plot``.

        Returns
        -------
        ConvergenceDisplay
        """
        names = check_quantities(quantities, _Y_LABELS)
        columns = check_history(self.history, names)
        problems = check_problems(problem, columns["problem"])
        if axes is None:
            self.figure_, self.axes_ = new_panels(len(names))
            self.figure_.suptitle(self.title or "", fontsize=10, color=INK)
        else:
            self.axes_ = check_axes(axes, names)
            self.figure_ = self.axes_[0].figure
        longest = columns["epoch"].max(initial=0.0)
        log_epochs = longest >= _LOG_FROM if log_epochs is None else log_epochs
        self.lines_: dict[str, list[Line2D]] = {}
        for ax, name in zip(self.axes_, names, strict=True):
            self.lines_[name] = self._curves(ax, name, columns, problems, line_kw)
            self._references(ax, name, problems)
            label_panel(
                ax, _Y_LABELS[name], log_x=log_epochs, log_y=name == "violation", is_empty=longest == 0.0
            )
        self._legend(problems, is_own_figure=axes is None)
        return self

    def _curves(
        self, ax: Axes, name: str, columns: dict[str, np.ndarray], problems: list[int], line_kw: Any
    ) -> list[Line2D]:
        lines = []
        is_many = len(problems) > len(COLOURS)
        for place, problem in enumerate(problems):
            own = columns["problem"] == problem
            style = {
                "color": COLOURS[0] if is_many else COLOURS[place],
                "linewidth": 1.6 if len(problems) == 1 else 1.0,
                "alpha": 0.35 if is_many else 1.0,
                "marker": "o" if own.sum() <= _MARKED_UP_TO else None,
                "markersize": 3.0,
                "label": self._name(problem),
            }
            values = positive(columns[name][own]) if name == "violation" else columns[name][own]
            lines += ax.plot(columns["epoch"][own], values, **(style | line_kw))
        return lines

    def _name(self, problem: int) -> str:
        if self.problem_names is None or problem >= len(self.problem_names):
            return f"problem {problem}"
        return self.problem_names[problem]

    def _references(self, ax: Axes, name: str, problems: list[int]) -> None:
        """Lines for the values at the optimum."""
        if name == "margin":
            ax.axhline(1.0, color=INK, linestyle="--", linewidth=1.0, label="margin = 1")
        if name == "bias" and self.final_bias is not None and len(problems) <= len(COLOURS):
            for line, problem in zip(self.lines_[name], problems, strict=True):
                ax.axhline(
                    float(self.final_bias[problem]),
                    color=INK if len(problems) == 1 else line.get_color(),
                    linestyle=":",
                    linewidth=1.0,
                    label="bias of the model" if line is self.lines_[name][0] else "_nolegend_",
                )

    def _legend(self, problems: list[int], *, is_own_figure: bool) -> None:
        curves = self.lines_[next(iter(self.lines_))] if 1 < len(problems) <= len(COLOURS) else []
        for place, (ax, lines) in enumerate(zip(self.axes_, self.lines_.values(), strict=True)):
            handles = [
                line for line in ax.lines if line not in lines and not line.get_label().startswith("_")
            ]
            if place == 0 and not is_own_figure:
                handles = curves + handles
            if handles:
                ax.legend(handles=handles, fontsize=8, frameon=False)
        if curves and is_own_figure:
            self.figure_.legend(
                handles=curves, loc="outside lower center", ncols=3, fontsize=9, frameon=False
            )
