"""svmlight files: strict where scikit-learn's reader is kind, equal to it where both accept."""

import bz2
import gzip
import io
import lzma
import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.datasets import dump_svmlight_file, load_svmlight_file

from adatron.io import read_table
from tests.data_dir import data_dir, needs_data
from tests.io.test_tables import fault, read

PLACE = re.compile(r"t\.svm:(\d+):(\d+): ")


@pytest.mark.fault("F12")
@pytest.mark.parametrize(
    ("text", "place", "words"),
    [
        ("1 1:2\n1 abc\n", (2, 3), "'abc', expected index:value"),
        ("1 1:2 7\n", (1, 7), "'7', expected index:value"),
        ("1 1:2 :5\n", (1, 7), "index:value"),
        ("1 1:\n", (1, 3), "'1:'"),
        ("1 1:2:3\n", (1, 3), "'1:2:3'"),
        ("1 1 :2\n", (1, 3), "index:value"),
        ("1 3:1 2:1\n", (1, 7), "ascending"),
        ("1 3:1\n1 2:1 2:4\n", (2, 7), "ascending"),
        ("1 -1:2\n", (1, 3), "'-1:2'"),
        ("1 0:2\n", (1, 3), "--zero-based reads indices from 0"),
        ("1 +1:2\n", (1, 3), "'+1:2'"),
        ("1 1.5:2\n", (1, 3), "'1.5:2'"),
        (f"1 1:1 {2**31}:1\n", (1, 7), "from 1 to 2147483647"),
        (f"1 1:1 {2**70}:1\n", (1, 7), "index:value"),
        ("1 1:1 " + "9" * 5000 + ":1\n", (1, 7), "index:value"),
        ("1 1:nan\n", (1, 3), "a finite number"),
        ("1 1:inf\n", (1, 3), "a finite number"),
        ("1 1:1e999\n", (1, 3), "a finite number"),
        ("1 1:1_000\n", (1, 3), "a finite number"),
        ("1 1:0x10\n", (1, 3), "a finite number"),
        ("1 1:1,5\n", (1, 3), "a finite number"),
        ("1 1:٣\n", (1, 3), "a finite number"),
        ("spam 1:2\n", (1, 1), "'spam', expected as label a finite number"),
        ("  nan 1:2\n", (1, 3), "as label"),
        ("1e999 1:2\n", (1, 1), "as label"),
        ("1:2 3:4\n", (1, 1), "as label"),
        ("1 qid:3 1:2\n", (1, 3), "'qid:3'"),
        ("1 1:2\n1 1:2\x0b2:3\n", (2, 3), "index:value"),
        ("1 1:2\r1 1:3\n1 1:2\n", (1, 3), "index:value"),
        ("# nothing\n\n", (1, 1), "no rows"),
    ],
)
def test_faults_have_their_place(text, place, words):
    message = fault(text, "t.svm")
    assert tuple(map(int, PLACE.match(message).groups())) == place
    assert words in message
    assert message.isprintable()


@pytest.mark.fault("F12")
@pytest.mark.parametrize(
    "text",
    [
        b"1 1:0.5 3:2\n-1 2:1\n",
        b"1 1:0.5 3:2\r\n-1 2:1\r\n",
        b"\xef\xbb\xbf1 1:0.5 3:2\n-1 2:1",
        b"# head: 1:2\n\n+1 1:.5 3:2e0 # tail 7:x\n   \n-1.0\t2:+1.  \n",
        b"1 1:0.5 3:2#x\n-1 002:1\n\n\n",
        b"1 1:0.5 3:2\r-1 2:1\r",
    ],
    ids=["plain", "crlf", "bom", "comments", "tight", "cr"],
)
@pytest.mark.parametrize("compress", [bytes, gzip.compress, bz2.compress, lzma.compress])
def test_spellings_of_one_matrix(text, compress):
    X, labels = read(compress(text), "t.svm")
    np.testing.assert_array_equal(X.toarray(), [[0.5, 0.0, 2.0], [0.0, 1.0, 0.0]])
    np.testing.assert_array_equal(labels.astype(float), [1.0, -1.0])
    assert X.indices.dtype == np.int32


def test_labels_keep_their_spelling_and_zeros_stay():
    X, labels = read("+1\n-1 2:0\n", "t.svm")
    assert labels.tolist() == ["+1", "-1"]
    assert (X.shape, X.count_nonzero()) == ((2, 2), 0)


@pytest.mark.fault("F14")
def test_as_many_columns_as_memory_has_room_for():
    assert read("1 1:1\n0 3000000:1\n", "t.svm", max_columns=100)[0].shape == (2, 3_000_000)
    with pytest.raises(ValueError, match=r"has 2147483647 columns; max_columns .--no-limits. allows more"):
        read("1 1:1\n0 2147483647:1\n", "t.svm")
    assert read("1 1:1\n0 2147483647:1\n", "t.svm", max_columns=np.inf)[0].shape == (2, 2_147_483_647)


def test_zero_based():
    X, _ = read("1 0:5 2:1\n", "t.svm", zero_based=True)
    np.testing.assert_array_equal(X.toarray(), [[5.0, 0.0, 1.0]])


@pytest.mark.parametrize(
    ("name", "text", "is_svmlight"),
    [
        ("x", "1 1:2\n", True),
        ("x.t", "# c\n-1\n+1 3:1\n", True),
        ("x.txt", "1 2 3\n", False),
        ("x.data", "a,b\n1,12:30\n", False),
        ("x.csv", "1 1:2\n", False),
        ("x.svm", "1\n2\n", True),
    ],
)
def test_format_by_name_then_content(name, text, is_svmlight):
    assert isinstance(read(text, name), tuple) == is_svmlight


values = st.floats(-1e300, 1e300, allow_nan=False)


@settings(max_examples=60)
@given(
    st.integers(1, 6).flatmap(
        lambda n: st.lists(
            st.tuples(values, st.lists(values | st.just(0.0), min_size=n, max_size=n)), min_size=1
        )
    ),
    st.booleans(),
)
def test_what_scikit_learn_writes_is_read_as_scikit_learn_reads_it(rows, zero_based):
    y, X = np.array([label for label, _ in rows]), sparse.csr_array(np.array([row for _, row in rows]))
    stream = io.BytesIO()
    dump_svmlight_file(X, y, stream, zero_based=zero_based)
    stream.seek(0)
    theirs, their_y = load_svmlight_file(stream, zero_based=zero_based)
    ours, labels = read(stream.getvalue(), "t.svm", zero_based=zero_based)
    np.testing.assert_array_equal(ours.toarray(), theirs.toarray())
    np.testing.assert_array_equal(labels.astype(float), their_y)


@pytest.mark.fault("F12")
@settings(max_examples=300)
@given(
    st.lists(st.sampled_from([*"0123456789::::    \n\n\t+-.eE#x_\r\x0bé", "qid", "nan", "inf", "1:1 ", "2:"]))
)
def test_whatever_comes_is_a_matrix_or_an_error_with_its_place(tokens):
    """What is accepted is what scikit-learn makes of it; what is refused has line and column."""
    text = "1 1:2\n" + "".join(tokens)
    try:
        X, labels = read(text, "t.svm")
    except ValueError as error:
        message = str(error)
    else:
        message = ""
    if message:
        assert PLACE.match(message), message
        assert message.isprintable()
        return
    theirs, their_y = load_svmlight_file(io.BytesIO(text.encode()), zero_based=False)
    np.testing.assert_array_equal(X.toarray(), theirs.toarray())
    np.testing.assert_array_equal(labels.astype(float), their_y)


@needs_data
@pytest.mark.parametrize("name", ["a1a", "a1a.t", "svmguide1", "housing_scale", "w1a"])
def test_public_sets_are_read_as_scikit_learn_reads_them(name):
    path = data_dir() / "libsvm" / f"{name}.xz"
    X, labels = read_table(path)
    with lzma.open(path, "rb") as stream:
        theirs, their_y = load_svmlight_file(stream, zero_based=False)
    assert X.shape == theirs.shape
    assert abs(X - sparse.csr_array(theirs)).max() == 0
    np.testing.assert_array_equal(labels.astype(float), their_y)
