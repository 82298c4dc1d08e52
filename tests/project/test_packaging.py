"""The wheel, installed in a clean environment, brings every bundled data set."""

import re
import subprocess
import sys
import tomllib
import venv
import zipfile
from pathlib import Path

import pytest

import adatron

ROOT = Path(__file__).parents[2]
LOAD = """
import adatron
from adatron import datasets
assert "site-packages" in adatron.__file__, adatron.__file__
shapes = {}
for name in ("load_sonar", "load_breast_cancer_wisconsin", "load_ionosphere", "load_pima"):
    bunch = getattr(datasets, name)()
    assert bunch.DESCR
    shapes[name] = bunch.data.shape
print(shapes)
"""


@pytest.mark.slow
def test_wheel_in_a_clean_environment_loads_every_bundled_set(tmp_path):
    build = [sys.executable, "-m", "build", "--wheel", "--outdir", str(tmp_path), str(ROOT)]
    subprocess.run(build, check=True, capture_output=True, timeout=300)
    (wheel,) = tmp_path.glob("adatron-*.whl")
    names = zipfile.ZipFile(wheel).namelist()
    assert {f"adatron/play/page/{name}" for name in ("index.html", "style.css", "app.js")} <= set(names)
    folders = {name.split("/")[0] for name in names}
    assert folders == {"adatron", f"{wheel.name.removesuffix('-py3-none-any.whl')}.dist-info"}
    venv.create(tmp_path / "clean", with_pip=True)
    bin_dir = tmp_path / "clean" / ("Scripts" if sys.platform == "win32" else "bin")
    python = str(bin_dir / "python")
    subprocess.run([python, "-m", "pip", "install", "-q", str(wheel)], check=True, timeout=600)
    done = subprocess.run([python, "-c", LOAD], cwd=tmp_path, check=True, capture_output=True, text=True)
    assert "'load_sonar': (208, 60)" in done.stdout
    assert "'load_breast_cancer_wisconsin': (683, 9)" in done.stdout
    assert "'load_ionosphere': (351, 34)" in done.stdout
    assert "'load_pima': (768, 8)" in done.stdout


def test_recipe_and_citation_agree_with_the_project():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    recipe = (ROOT / "recipe" / "recipe.yaml").read_text()
    run = recipe.partition("  run:\n")[2].partition("  run_constraints:")[0]
    wanted = {line.replace(">=", " >=") for line in project["dependencies"]}
    wanted.add(f"python {project['requires-python']}")
    assert set(re.findall(r"- (.+)", run)) == wanted
    assert f'version: "{adatron.__version__}"' in recipe
    assert f"version: {adatron.__version__}" in (ROOT / "CITATION.cff").read_text().splitlines()
