"""Make the CSV files of ``src/adatron/datasets/data`` from the R package mlbench.

A one-off converter: it needs the PyPI package ``rdata`` and the ``.rda`` files of mlbench,
for instance those of Debian's package ``r-cran-mlbench``::

    apt-get download r-cran-mlbench
    dpkg-deb -x r-cran-mlbench_*.deb unpacked
    python tools/bundle_datasets.py unpacked/usr/lib/R/site-library/mlbench/data

Rows keep their order. Each file gets a header row, the class (as named by mlbench) comes
last, every number is written with the fewest digits that read back to the same float64, and
a missing value is an empty field. Nothing is written unless the class counts of all four
sets are the known ones.
"""

import argparse
import csv
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
import rdata

OUTPUT_DIR = Path(__file__).resolve().parents[1] / "src" / "adatron" / "datasets" / "data"


@dataclass(frozen=True)
class Conversion:
    """What to read from mlbench, and what the result must look like."""

    r_name: str
    csv_name: str
    feature_names: tuple[str, ...]
    class_counts: dict[str, int]
    dropped: tuple[str, ...] = ()


CONVERSIONS = (
    Conversion("Sonar", "sonar.csv", tuple(f"band_{i}" for i in range(1, 61)), {"R": 97, "M": 111}),
    Conversion(
        "BreastCancer",
        "breast_cancer_wisconsin.csv",
        (
            "clump_thickness",
            "cell_size_uniformity",
            "cell_shape_uniformity",
            "marginal_adhesion",
            "single_epithelial_cell_size",
            "bare_nuclei",
            "bland_chromatin",
            "normal_nucleoli",
            "mitoses",
        ),
        {"benign": 458, "malignant": 241},
        dropped=("Id",),
    ),
    Conversion(
        "Ionosphere",
        "ionosphere.csv",
        tuple(f"attribute_{i}" for i in range(1, 35)),
        {"bad": 126, "good": 225},
    ),
    Conversion(
        "PimaIndiansDiabetes",
        "pima.csv",
        ("pregnant", "glucose", "pressure", "triceps", "insulin", "mass", "pedigree", "age"),
        {"neg": 500, "pos": 268},
    ),
)


def read_frame(rda_dir: Path, conversion: Conversion) -> pd.DataFrame:
    """Read one data frame, its class last, and check that its shape and classes are the known ones."""
    path = rda_dir / f"{conversion.r_name}.rda"
    frame = rdata.read_rda(path, default_encoding="ASCII")[conversion.r_name]
    frame = frame.drop(columns=list(conversion.dropped))
    counts = frame.iloc[:, -1].value_counts().to_dict()
    expected_columns = len(conversion.feature_names) + 1
    if counts != conversion.class_counts or frame.shape[1] != expected_columns:
        raise ValueError(
            f"{path} has {frame.shape[1]} columns and classes {counts}; expected {expected_columns} columns "
            f"and {conversion.class_counts}. Use the files of mlbench 2.1."
        )
    return frame


def format_number(value: float) -> str:
    """Write a float with the fewest digits that read back to it; a missing value is empty."""
    return "" if np.isnan(value) else np.format_float_positional(value, trim="-")


def write_csv(frame: pd.DataFrame, conversion: Conversion, path: Path) -> None:
    """Write the features (factors such as "10" become numbers) and then the class."""
    features = frame.iloc[:, :-1].astype(object).astype(float).to_numpy()
    with path.open("w", newline="", encoding="ascii") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow([*conversion.feature_names, "class"])
        for row, label in zip(features, frame.iloc[:, -1], strict=True):
            writer.writerow([*map(format_number, row), label])


def main(arguments: list[str] | None = None) -> int:
    """Convert the four data sets; return the exit code."""
    parser = argparse.ArgumentParser(description="Make adatron's CSV files from mlbench's .rda files.")
    parser.add_argument("rda_dir", type=Path, metavar="DIR_WITH_RDA", help="directory holding Sonar.rda etc.")
    rda_dir = parser.parse_args(arguments).rda_dir
    missing = [c.r_name for c in CONVERSIONS if not (rda_dir / f"{c.r_name}.rda").is_file()]
    if missing:
        parser.error(f"{rda_dir} lacks {', '.join(f'{name}.rda' for name in missing)}; name mlbench's data/")
    frames = [read_frame(rda_dir, conversion) for conversion in CONVERSIONS]
    OUTPUT_DIR.mkdir(parents=True, exist_ok=True)
    for frame, conversion in zip(frames, CONVERSIONS, strict=True):
        write_csv(frame, conversion, OUTPUT_DIR / conversion.csv_name)
        print(f"{conversion.csv_name}: {len(frame)} rows, {len(conversion.feature_names)} features")
    return 0


if __name__ == "__main__":
    sys.exit(main())
