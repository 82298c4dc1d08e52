"""Make the model files of this version that later versions must still read.

    python -m tests.io.make_files 1.0

writes ``tests/io/files/<format>/*.adatron`` and, in JSON, what each model says about which rows. Files of a
format that was released are never made again.
"""

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse

from adatron.io import save_model
from tests.io.models import MODELS, fitted, outputs

FILES = Path(__file__).parent / "files"
KEPT = {
    "svc": "SVC two classes", "svc_pairs": "SVC", "svc_words": "SVC words", "svc_composed": "SVC composed",
    "svc_sparse": "SVC sparse", "svc_rank": "SVC rank", "svr": "SVR", "one_class": "OneClassSVM",
    "clustering": "SupportVectorClustering", "perceptron": "KernelPerceptron", "parzen": "ParzenClassifier",
    "ensemble": "EnsembleSVC short", "auto_svc": "AutoSVC", "auto_svr": "AutoSVR", "pipeline": "Pipeline",
}  # fmt: skip


def to_plain(rows: Any) -> Any:
    """Rows of a table by column, others by row."""
    if isinstance(rows, pd.DataFrame):
        return rows.astype(object).where(rows.notna(), None).to_dict("list")
    return rows.toarray().tolist() if sparse.issparse(rows) else rows.tolist()


def from_plain(plain: Any) -> Any:
    return pd.DataFrame(plain) if isinstance(plain, dict) else np.array(plain)


def main(version: str) -> None:
    folder = FILES / version
    folder.mkdir(parents=True)  # an error if it is there: see above
    said = {}
    for name, model in KEPT.items():
        save_model(fitted(model), folder / f"{name}.adatron")
        found = outputs(fitted(model), MODELS[model][1])
        said[name] = {method: np.asarray(values).tolist() for method, values in found.items()}
        said[name]["rows"] = to_plain(MODELS[model][1])
    text = json.dumps(said, ensure_ascii=False, separators=(",", ":"))
    (folder / "outputs.json").write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
