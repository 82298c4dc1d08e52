"""F9: model files of every format that was released are read, and say what they said."""

import json
import warnings

import numpy as np
import pytest

from adatron.io import load_model
from tests.io.make_files import FILES, KEPT, from_plain
from tests.io.models import outputs

CASES = [(path.parent.name, path.stem) for path in sorted(FILES.glob("*/*.adatron"))]


def test_F9_files_of_format_1_0_are_there():
    assert {name for version, name in CASES if version == "1.0"} == set(KEPT)


@pytest.mark.parametrize(("version", "name"), CASES)
def test_F9_file_of_an_earlier_version(version, name):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # of scikit-learn, when its version is another
        model = load_model(FILES / version / f"{name}.adatron")
    expected = json.loads((FILES / version / "outputs.json").read_text(encoding="utf-8"))[name]
    rows = from_plain(expected.pop("rows"))
    found = outputs(model, rows)
    assert found.keys() == expected.keys()
    for method, values in expected.items():
        values = np.array(values)
        if values.dtype.kind == "f":  # other machines round differently
            np.testing.assert_allclose(found[method], values, rtol=1e-9, atol=1e-9)
        else:
            assert found[method].tolist() == values.tolist()
