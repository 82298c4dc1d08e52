"""One self-contained HTML page about a fit.

>>> from adatron import SVC
>>> from adatron.datasets import load_sonar
>>> from adatron.display.report import FitStory, fit_report
>>> X_train, X_test, y_train, y_test = load_sonar(split="half")
>>> model = SVC(C=10.0).fit(X_train, y_train)
>>> story = FitStory("sonar", model, X_train, y_train, X_test, y_test, seconds=0.1)
>>> page = fit_report(story)
>>> page.startswith("<!doctype html>"), "relative duality gap" in page
(True, True)
"""

from adatron.display.report.build import fit_report
from adatron.display.report.story import FitStory

__all__ = ["FitStory", "fit_report"]
