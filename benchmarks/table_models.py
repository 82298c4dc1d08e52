"""The models of `benchmarks/tables.py`: each at its defaults, from a raw DataFrame to predictions."""

import importlib.util

import numpy as np
import pandas as pd
from sklearn.compose import TransformedTargetRegressor, make_column_transformer
from sklearn.impute import SimpleImputer
from sklearn.model_selection import GridSearchCV, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, StandardScaler

from benchmarks.tuners import GRID

__all__ = ["MODELS", "available_models", "best_score_of"]

CLASSIFICATION = "classification"
MOST_LEVELS = 255  # of a category, for HistGradientBoosting
# Of each fit of the grid search, which would else take hours a table: with C = 2¹⁵ a single fit of 1,600
# noisy rows took 27 million iterations and 100 s. docs/comparison.md says what this changes.
GRID_ITERATIONS = 200_000


def numbers_and_categories(X):
    """Names of the columns of numbers (and truth values), and of all others."""
    numbers = [name for name in X if pd.api.types.is_numeric_dtype(X[name].dtype)]
    return numbers, [name for name in X if name not in numbers]


def _text(X):
    """Columns as text, in which a missing value is a level of its own."""
    return X.astype(object).where(X.notna(), "missing").astype(str)


def hand_written_encoder(X):
    """What people put in front of an SVM: median, indicator, unit variance; one-hot for categories."""
    numbers, categories = numbers_and_categories(X)
    for_numbers = make_pipeline(
        FunctionTransformer(lambda part: part.astype(float)),
        SimpleImputer(strategy="median", add_indicator=True),
        StandardScaler(),
    )
    one_hot = OneHotEncoder(handle_unknown="ignore", sparse_output=False)
    return make_column_transformer(
        (for_numbers, numbers), (make_pipeline(FunctionTransformer(_text), one_hot), categories)
    )


class HandEncoded:
    """A model of numbers behind the hand-written encoder."""

    def __init__(self, model):
        self.model = model

    def fit(self, X, y):
        self.encoder = hand_written_encoder(X)
        self.model.fit(self.encoder.fit_transform(X), y)
        return self

    def predict(self, X):
        return self.model.predict(self.encoder.transform(X))

    def predict_proba(self, X):
        return self.model.predict_proba(self.encoder.transform(X))

    @property
    def classes_(self):
        return self.model.classes_


class WithCategories:
    """Trees that take categories and missing values themselves, in the form that their library wants."""

    def __init__(self, model, form):
        self.model, self.form = model, form  # form: "text", "category" or "at most 255 levels"

    def fit(self, X, y):
        self.numbers, self.categories = numbers_and_categories(X)
        self.levels = {name: sorted(X[name].dropna().astype(str).unique()) for name in self.categories}
        names = {"cat_features": self.categories} if self.form == "text" else {}
        self.model.fit(self._frame(X), y, **names)
        return self

    def _frame(self, X):
        columns = {name: X[name].astype(float) for name in self.numbers}
        for name in self.categories:
            text = X[name].astype(object).map(str, na_action="ignore")
            text = text.where(text.isin(self.levels[name]), None)
            column = pd.Series(pd.Categorical(text, categories=self.levels[name]), index=X.index)
            if self.form == "text":
                column = _text(X[name])
            elif self.form == "at most 255 levels" and len(self.levels[name]) > MOST_LEVELS:
                column = column.cat.codes.astype(float).where(column.notna())
            columns[name] = column
        return pd.DataFrame(columns, index=X.index)

    def predict(self, X):
        return np.ravel(self.model.predict(self._frame(X)))

    def predict_proba(self, X):
        return self.model.predict_proba(self._frame(X))

    @property
    def classes_(self):
        return self.model.classes_


class XRFM:
    """xRFM at its defaults, prepared as its README recommends; a fifth of the rows validates."""

    def __init__(self, task):
        self.task = task

    def fit(self, X, y):
        from xrfm import xRFM

        labels = None
        if self.task == CLASSIFICATION:
            self.classes_, targets = np.unique(y, return_inverse=True)
            labels = targets if np.bincount(targets).min() > 1 else None
        else:
            self.mean, self.deviation = float(np.mean(y)), float(np.std(y)) or 1.0
            targets = ((np.asarray(y, dtype=float) - self.mean) / self.deviation).astype(np.float32)
        self.encoder = hand_written_encoder(X)
        Z = self.encoder.fit_transform(X).astype(np.float32)
        Z, Z_held, targets, held = train_test_split(
            Z, targets, test_size=0.2, stratify=labels, random_state=0
        )
        self.model = xRFM(random_state=0, verbose=False)
        self.model.fit(Z, targets, Z_held, held)
        return self

    def predict(self, X):
        found = np.ravel(self.model.predict(self.encoder.transform(X).astype(np.float32)))
        if self.task == CLASSIFICATION:
            return self.classes_[found.astype(int)]
        return self.mean + self.deviation * found

    def predict_proba(self, X):
        found = np.asarray(self.model.predict_proba(self.encoder.transform(X).astype(np.float32)))
        return np.column_stack([1.0 - found, found]) if found.shape[1] == 1 else found


def _auto(task):
    from adatron import AutoSVC, AutoSVR

    return AutoSVC() if task == CLASSIFICATION else AutoSVR()


def _catboost(task):
    from catboost import CatBoostClassifier, CatBoostRegressor

    model = CatBoostClassifier if task == CLASSIFICATION else CatBoostRegressor
    return WithCategories(model(random_state=0, verbose=False, allow_writing_files=False), "text")


def _lightgbm(task):
    from lightgbm import LGBMClassifier, LGBMRegressor

    model = LGBMClassifier if task == CLASSIFICATION else LGBMRegressor
    return WithCategories(model(random_state=0, verbose=-1), "category")


def _histogram(task):
    from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor

    model = HistGradientBoostingClassifier if task == CLASSIFICATION else HistGradientBoostingRegressor
    return WithCategories(model(categorical_features="from_dtype", random_state=0), "at most 255 levels")


def _forest(task):
    from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

    model = RandomForestClassifier if task == CLASSIFICATION else RandomForestRegressor
    return HandEncoded(model(random_state=0, n_jobs=-1))


def _grid_search(task):
    from sklearn.svm import SVC, SVR

    limits = {"cache_size": 500, "max_iter": GRID_ITERATIONS}
    if task == CLASSIFICATION:
        return HandEncoded(GridSearchCV(SVC(**limits), GRID, cv=5, n_jobs=-1))
    search = GridSearchCV(SVR(**limits), GRID, cv=5, n_jobs=-1)
    return HandEncoded(TransformedTargetRegressor(search, transformer=StandardScaler()))


# name: (from task to model, module that must be installed)
MODELS = {
    "AutoSVC": (_auto, "adatron"),
    "CatBoost": (_catboost, "catboost"),
    "LightGBM": (_lightgbm, "lightgbm"),
    "HistGradientBoosting": (_histogram, "sklearn"),
    "random forest": (_forest, "sklearn"),
    "grid-searched SVC": (_grid_search, "sklearn"),
    "xRFM": (XRFM, "xrfm"),
    "AutoSVC hand-encoded": (lambda task: HandEncoded(_auto(task)), "adatron"),
}


def available_models():
    """Names of the models that are installed."""
    return [name for name, (_, module) in MODELS.items() if importlib.util.find_spec(module)]


def best_score_of(name, model):
    """What a model that chooses by cross-validation says about itself: accuracy or R²; None for others."""
    if "SVC" not in name:
        return None
    model = model.model if isinstance(model, HandEncoded) else model
    model = model.regressor_ if isinstance(model, TransformedTargetRegressor) else model
    return float(model.best_score_)
