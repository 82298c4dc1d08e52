"""`ConvergenceDisplay`: margin, bias, objective and violation against epochs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from adatron.display.figures import COLOURS, INK, EstimatorDisplay, fitted_with, new_panels, quieten
from adatron.estimators.classifier import Layout
from adatron.io.printing import counted

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.lines import Line2D

QUANTITIES = {  # columns of a history, and their labels
    "margin": "margin", "bias": "bias", "objective": "objective", "violation": "KKT violation",
}  # fmt: skip
_LOG_FROM = 1_000  # epochs from which the default axis is logarithmic
_MARKED_UP_TO = 20  # epochs up to which each one has a marker
_SMALLEST = 1e-16  # drawn where a violation is never above zero


class ConvergenceDisplay(EstimatorDisplay):
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
        self, history: Mapping[str, Sequence[float]], *, problem_names: Sequence[str] | None = None,
        final_bias: Sequence[float] | None = None, title: str | None = None,
    ) -> None:  # fmt: skip
        self.history, self.problem_names = history, problem_names
        self.final_bias, self.title = final_bias, title

    @classmethod
    def _of(cls, estimator: Any) -> Self:
        inner = fitted_with("history_", estimator, "ConvergenceDisplay needs an estimator of adatron")
        names, bias = problem_names_of(inner), getattr(inner, "intercept_", None)
        return cls(inner.history_, problem_names=names, final_bias=bias, title=_summary_of(inner))

    def plot(
        self, *, quantities: str | Iterable[str] = tuple(QUANTITIES), problem: Any = None, axes: Any = None,
        log_epochs: bool | None = None, **line_kw: Any,
    ) -> Self:  # fmt: skip
        """Draw the history.

        Parameters
        ----------
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
        Self
        """
        names = [quantities] if isinstance(quantities, str) else list(quantities)
        if not names or len(set(names)) < len(names) or not set(names) <= set(QUANTITIES):
            raise ValueError(f"quantities must be some of {list(QUANTITIES)}, each once, got {names!r}")
        columns = _columns(self.history, names)
        known = np.unique(columns["problem"]).astype(int).tolist()
        problems = known if problem is None else [int(number) for number in np.ravel(problem)]
        if unknown := sorted(set(problems) - set(known)):
            raise ValueError(f"problem must be among the numbers {known} of the history, got {unknown}")
        self.axes_ = new_panels(len(names))[1] if axes is None else np.asarray(axes, dtype=object).ravel()
        if len(self.axes_) != len(names):
            raise ValueError(f"axes must be {len(names)} Axes, one each for {names}, got {len(self.axes_)}")
        self.figure_ = self.axes_[0].figure
        if axes is None:
            self.figure_.suptitle(self.title or "", fontsize=10, color=INK)
        longest = columns["epoch"].max(initial=0.0)
        log_epochs = longest >= _LOG_FROM if log_epochs is None else log_epochs
        self.lines_: dict[str, list[Line2D]] = {}
        for ax, name in zip(self.axes_, names, strict=True):
            self.lines_[name] = self._draw_curves(ax, name, columns, problems, line_kw)
            self._draw_optimum(ax, name, problems)
            ax.set(xlabel="epoch", ylabel=QUANTITIES[name])
            quieten(ax)
            if longest == 0.0:
                ax.text(0.5, 0.5, "no epoch was completed", transform=ax.transAxes, ha="center", color=INK)
                continue
            ax.set(xscale="log" if log_epochs else "linear")
            if name == "violation":
                ax.set_yscale("log")
                low, high = ax.get_ylim()
                if 0.0 < low < high < 10.0 * low:  # ticks need a power of ten to read well
                    ax.set_ylim(10.0 ** np.floor(np.log10(low)), 10.0 ** np.ceil(np.log10(high)))
        curves = self.lines_[names[0]] if 1 < len(problems) <= len(COLOURS) else []
        # problems are named below an own figure, else in the first axes; other lines in theirs
        for ax, lines in zip(self.axes_, self.lines_.values(), strict=True):
            handles = [line for line in ax.lines if line not in lines and line.get_label()[0] != "_"]
            handles = curves + handles if ax is self.axes_[0] and axes is not None else handles
            if handles:
                ax.legend(handles=handles, fontsize=8, frameon=False)
        if curves and axes is None:
            place: Any = {"loc": "outside lower center", "ncols": 3}
            self.figure_.legend(handles=curves, fontsize=9, frameon=False, **place)
        return self

    def _draw_curves(
        self, ax: Axes, name: str, columns: dict[str, np.ndarray], problems: list[int], line_kw: Any
    ) -> list[Line2D]:
        lines, names = [], dict(enumerate(self.problem_names or ()))
        is_many = len(problems) > len(COLOURS)
        for place, problem in enumerate(problems):
            own = columns["problem"] == problem
            style = {
                "color": COLOURS[0] if is_many else COLOURS[place],
                "linewidth": 1.6 if len(problems) == 1 else 1.0,
                "alpha": 0.35 if is_many else 1.0,
                "marker": "o" if own.sum() <= _MARKED_UP_TO else None,
                "markersize": 3.0,
                "label": names.get(problem, f"problem {problem}"),
            }
            values = columns[name][own]
            if name == "violation":  # on a logarithmic axis, zero is drawn as the smallest value above it
                above = values[values > 0.0]
                values = np.maximum(values, above.min() if len(above) else _SMALLEST)
            lines += ax.plot(columns["epoch"][own], values, **(style | line_kw))
        return lines

    def _draw_optimum(self, ax: Axes, name: str, problems: list[int]) -> None:
        if name == "margin":
            ax.axhline(1.0, color=INK, linestyle="--", linewidth=1.0, label="margin = 1")
        if name == "bias" and self.final_bias is not None and len(problems) <= len(COLOURS):
            for place, (line, problem) in enumerate(zip(self.lines_[name], problems, strict=True)):
                colour = INK if len(problems) == 1 else line.get_color()
                label = "_nolegend_" if place else "bias of the model"
                bias = float(self.final_bias[problem])
                ax.axhline(bias, color=colour, linestyle=":", linewidth=1.0, label=label)


def _columns(history: Mapping[str, Sequence[float]], names: list[str]) -> dict[str, np.ndarray]:
    """The columns `names`, with problem and epoch, as arrays of one length."""
    wanted = ["problem", "epoch", *names]
    missing = [name for name in wanted if name not in history]
    if missing:
        raise ValueError(f"history must have the lists {wanted}; {missing} missing")
    lengths = {name: len(history[name]) for name in wanted}
    if len(set(lengths.values())) > 1:
        raise ValueError(f"the lists of history must have one length, got {lengths}")
    return {name: np.asarray(history[name], dtype=float) for name in wanted}


def problem_names_of(estimator: Any) -> list[str] | None:
    """The classes that each problem separates, for a classifier of more than two."""
    classes = getattr(estimator, "classes_", ())
    if len(classes) < 3:
        return None
    layout = Layout(len(classes), getattr(estimator, "multi_class", "ovr"))
    if layout.is_direct:
        return [" / ".join(map(str, classes))]
    if layout.is_pairwise:
        return [f"{classes[i]} / {classes[j]}" for i, j in layout.pairs]
    return [f"{c} / rest" for c in classes]


def _summary_of(estimator: Any) -> str:
    """One line on how the fit ended."""
    parts = [type(estimator).__name__]
    if hasattr(estimator, "status_"):
        parts.append(str(estimator.status_))
    if hasattr(estimator, "n_iter_"):
        parts.append(counted(int(np.max(estimator.n_iter_)), "epoch"))
    if hasattr(estimator, "duality_gap_"):
        estimate = "" if estimator.gap_is_exact_ else " (estimate)"
        parts.append(f"relative duality gap {estimator.duality_gap_:.1e}{estimate}")
    line = " · ".join(parts)
    is_exact = getattr(estimator, "finished_exactly_", False)
    return f"{line}\n(finished exactly after the last epoch shown)" if is_exact else line
