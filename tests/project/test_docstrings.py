"""Every public name has a summary, an example that runs, a reference, and the parameters of its signature.

What is public stands on one page, docs/api.rst. The examples themselves are run by --doctest-modules.
"""

import doctest
import inspect
import pydoc
import re
from functools import wraps
from importlib import import_module

from tests.project.public_names import (
    Documented,
    documented_default,
    documented_parameters,
    is_simple,
    parsed,
    public_classes,
    public_methods,
    public_names,
    public_properties,
    returns_something,
)

# sections of the page whose names are no mathematics: related names take the place of a publication
TECHNICAL = {"Callbacks", "Displays", "Files", "Exceptions"}

# names in an ``__all__`` that are not for users
INTERNAL = {
    "adatron.__version__": "a string",
    "adatron.io.SKOPS_TRUSTED": "a list, which has no docstring; the docstring of adatron.io explains it",
    "adatron.kernels.ProductForm": "how operators evaluate a kernel",
    "adatron.kernels.KERNELS": "names of kernels",
    "adatron.kernels.squared_norms": "a step of the evaluation of a kernel",
    "adatron.kernels.has_negative_curvature": "a probe that estimators make; users ask is_indefinite",
}

# methods that scikit-learn's callback protocol names, parametrises and calls: nobody else does
HOOKS = {"setup", "teardown", "on_fit_prepared", "on_fit_task_begin", "on_fit_task_end", "on_fit_interrupted"}

NAMES = list(public_names())
METHODS = [
    method
    for method in public_methods()
    if not (method.thing.__module__.startswith("adatron.callbacks") and method.thing.__name__ in HOOKS)
]
ERRORS = [public.thing for public in public_classes() if issubclass(public.thing, Exception)]
SIGNED = [Documented(public.path, public.thing) for public in public_names() if public.thing not in ERRORS]
WITH_PARAMETERS = [*SIGNED, *METHODS]
FUNCTIONS = [entry for entry in SIGNED if not inspect.isclass(entry.thing)]
WITH_RESULT = [*FUNCTIONS, *METHODS]


def for_each(entries):
    """Make a test of a function that looks at one entry; it tells what is wrong with all of them."""

    def made(check):
        @wraps(check)
        def test():
            wrong = []
            for entry in entries:
                try:
                    check(entry)
                except AssertionError as error:
                    wrong.append(f"{entry.path}: {error}")
            assert entries
            assert not wrong, "\n".join(wrong)

        del test.__wrapped__  # by whose signature pytest would look for a fixture
        return test

    return made


def test_the_page_lists_what_the_modules_export():
    modules = sorted({public.module for public in public_names()})
    listed = {id(public.thing) for public in public_names()}
    exported = {f"{module}.{name}" for module in modules for name in import_module(module).__all__}
    values = {path: pydoc.locate(path) for path in exported}
    missing = {
        path
        for path, value in values.items()
        if not inspect.ismodule(value) and id(value) not in listed and path not in INTERNAL
    }
    assert not missing, f"not in docs/api.rst: {sorted(missing)}"
    assert set(INTERNAL) <= exported, "INTERNAL lists names that no module exports"


def test_the_page_lists_no_name_twice_and_no_internal_one():
    paths = [public.path for public in public_names()]
    assert len(set(paths)) == len(paths)
    assert not set(INTERNAL) & set(paths)


def test_every_public_module_is_on_the_page():
    package = import_module("adatron")
    modules = {f"adatron.{name}" for name in package.__all__ if inspect.ismodule(getattr(package, name))}
    assert modules <= {public.module for public in public_names()}


@for_each(NAMES)
def test_summary(public):
    assert hasattr(import_module(public.module), public.name)
    summary = " ".join(parsed(public.thing)["Summary"])
    assert summary.endswith((".", "?")), f"the first paragraph is no sentence: {summary!r}"


@for_each(NAMES)
def test_example(public):
    text = "\n".join(parsed(public.thing)["Examples"])
    examples = doctest.DocTestParser().get_examples(text)
    run = [example for example in examples if not example.options.get(doctest.SKIP)]
    assert any(example.want for example in run), "no example that shows a result, which doctest can check"
    assert public.name in text, "the example does not use the name"


@for_each(NAMES)
def test_reference(public):
    doc = parsed(public.thing)
    if public.section in TECHNICAL:
        assert doc["See Also"], "no section See Also"
    else:
        text = " ".join(doc["References"]) or (import_module(public.module).__doc__ or "")
        assert re.search(r"\b(18|19|20)\d\d\b", text), "no publication with its year"


@for_each(NAMES)
def test_names_under_see_also_exist(public):
    for names, _ in parsed(public.thing)["See Also"]:
        for name, _ in names:
            places = ["", f"{public.module}.", "adatron."]
            assert any(pydoc.locate(place + name) is not None for place in places), name


@for_each(WITH_PARAMETERS)
def test_parameters_are_those_of_the_signature(entry):
    assert entry.doc["Summary"], "no docstring"
    assert list(documented_parameters(entry.doc)) == list(entry.parameters)


@for_each(WITH_PARAMETERS)
def test_defaults_are_those_of_the_signature(entry):
    for name, told in documented_parameters(entry.doc).items():
        given, default = documented_default(name, told), entry.parameters[name].default
        if default is inspect.Parameter.empty:
            assert given is ..., f"{name} has no default"
            assert "optional" not in told.type, f"{name} must be given"
        elif given is ...:
            assert "optional" in told.type, f"{name} has the default {default!r}; say so"
            assert default is None or not is_simple(default), f"name the default {default!r} of {name}"
        else:
            is_same = given == default and isinstance(given, bool) == isinstance(default, bool)
            assert is_same, f"{name} has the default {default!r}, not {given!r}"


@for_each(WITH_RESULT)
def test_what_is_returned_is_documented(entry):
    assert entry.signature.return_annotation is not inspect.Signature.empty, "no annotation of the result"
    is_told = bool(entry.doc["Returns"] or entry.doc["Yields"])
    assert is_told == returns_something(entry.thing)


def test_properties_are_documented():
    bare = [
        f"{kind.__qualname__}.{name}"
        for kind, name, member in public_properties()
        if not member.__doc__ and name not in _attributes(kind)
    ]
    assert not bare, f"neither a docstring nor an entry under Attributes: {bare}"


def _attributes(kind):
    """Those under Attributes of the class and of the classes it derives from."""
    ours = [base for base in kind.__mro__ if base.__module__.startswith("adatron")]
    return {name for base in ours for entry in parsed(base)["Attributes"] for name in entry.name.split(", ")}
