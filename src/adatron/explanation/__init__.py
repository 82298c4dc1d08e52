"""Why a model predicts what it does for one row: similar training rows, and what each column adds.

`shapley` has the mathematics, `explain` reads the models.
"""

from adatron.explanation.explain import Explanation, explain

__all__ = ["Explanation", "explain"]
