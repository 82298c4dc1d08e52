"""From tables to what estimators take: the target, the encoder, columns matched by name."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC

from adatron.io import align, encoder_for, split_target
from tests.io.reading import fault, read


@pytest.mark.parametrize(
    ("header", "target"),
    [
        ("a,b,c", "c"),
        ("a,class,c", "class"),
        ("Y,b,c", "Y"),
        ("label,y,c", "c"),
        ("class,Class,c", "c"),
        ("a,b,target", "target"),
    ],
)
def test_target_by_default(header, target):
    features, y = split_target(read(f"{header}\n1,2,3\n4,5,6\n"))
    assert features.target == target
    position = header.split(",").index(target)
    np.testing.assert_array_equal(y, [1 + position, 4 + position])
    assert features.columns == [name for name in header.split(",") if name != target]


def test_target_by_name():
    table = read("a,b,class\n1,x,3\n4,y,6\n", target="b")
    assert split_target(table)[1].tolist() == ["x", "y"]
    assert split_target(table, "a")[1].tolist() == [1.0, 4.0]
    message = fault("age,weight\n1,2\n", target="wieght")
    assert "target='wieght' is not one of the columns 'age', 'weight'; did you mean 'weight'?" in message
    with pytest.raises(ValueError, match="'a', 'b', 'class'"):
        split_target(table, "zzz")


def test_target_alone_or_incomplete():
    with pytest.raises(ValueError, match=r"t\.csv: only one column, 'a'; expected features and a target"):
        split_target(read("a\n1\n2\n"))
    with pytest.raises(ValueError, match=r"t\.csv:3:3: missing value in the target column 'b'"):
        split_target(read("a,b\n1,x\n2,?\n", impute=True))


def test_many_columns_are_not_all_listed():
    header = ",".join(f"x{i}" for i in range(1000))
    message = fault(f"{header}\n{','.join(['1'] * 1000)}\n", target="nope")
    assert "'x0', 'x1'" in message
    assert "and 980 more" in message


def test_align_by_name():
    table = read("b,class,a\n1,x,2\n3,y,4\n")
    assert align(table, ["a", "b"], target="class").columns == ["a", "b"]
    np.testing.assert_array_equal(align(table, ["a", "b"], target="class").to_matrix(), [[2, 1], [4, 3]])
    with pytest.raises(ValueError, match="has 'class' that it was not fitted on"):
        align(table, ["a", "b"])
    with pytest.raises(ValueError, match=r"lacks 'bb', 'c' .* did you mean 'b'.* and has 'b'"):
        align(table, ["a", "bb", "c"], target="class")


def test_align_without_names_goes_by_position():
    train = read("1,2,3\n4,5,6\n")
    features, _ = split_target(train, "column_1")
    aligned = align(read("2,3\n5,6\n"), features.columns, target="column_1")
    np.testing.assert_array_equal(aligned.to_matrix(), features.to_matrix())
    np.testing.assert_array_equal(
        align(train, features.columns, target="column_1").to_matrix(), features.to_matrix()
    )
    with pytest.raises(ValueError, match="lacks 'a', 'b'"):
        align(read("2,3\n5,6\n"), ["a", "b"])


MIXED = "size,colour,shape,class\n" + "".join(
    f"{i},{'red' if i % 2 else 'blue'},{'round' if i % 3 else 'square'},{'yes' if i % 2 else 'no'}\n"
    for i in range(30)
)


def test_encoder_of_mixed_columns():
    features, y = split_target(read(MIXED))
    encoder = encoder_for(features)
    X = encoder.fit_transform(features.to_matrix())
    assert X.shape == (30, 5)
    np.testing.assert_allclose(X[:, 0].mean(), 0.0, atol=1e-12)
    np.testing.assert_allclose(X[:, 0].std(), 1.0)
    np.testing.assert_array_equal(X[:, 1:3].sum(axis=1), 1.0)
    scores = cross_val_score(make_pipeline(clone(encoder), SVC(C=10.0)), features.to_matrix(), y)
    assert scores.min() == 1.0


def test_encoder_of_unknown_categories():
    features, _ = split_target(read(MIXED))
    encoder = encoder_for(features).fit(features.to_matrix())
    new = align(read("shape,size,colour\nround,3,green\n"), features.columns)
    np.testing.assert_array_equal(encoder.transform(new.to_matrix())[0, 1:], [0.0, 0.0, 1.0, 0.0])


def test_encoder_fills_in_missing_values():
    features, _ = split_target(read("a,b,class\n1,x,0\n?,x,1\n5,?,0\n3,z,1\n", impute=True))
    X = encoder_for(features, impute=True, scale=False).fit_transform(features.to_matrix())
    np.testing.assert_array_equal(X, [[1, 1, 0], [3, 1, 0], [5, 1, 0], [3, 0, 1]])


def test_encoder_of_numbers_alone():
    features, _ = split_target(read("a,b,class\n1,2,0\n3,6,1\n"))
    assert features.to_matrix().dtype == np.float64
    np.testing.assert_array_equal(
        encoder_for(features).fit_transform(features.to_matrix()), [[-1, -1], [1, 1]]
    )
    np.testing.assert_array_equal(
        encoder_for(features, scale=False).fit_transform(features.to_matrix()), features.to_matrix()
    )


def test_encoder_of_many_categories_is_sparse():
    rows = "".join(f"word{i},{i % 2}\n" for i in range(2000))
    features, _ = split_target(read("name,class\n" + rows))
    assert sparse.issparse(encoder_for(features).fit_transform(features.to_matrix()))


def test_categories_that_look_like_numbers_at_prediction():
    """A column of text at training is read as text again when asked, in the same spelling."""
    features, _ = split_target(read("code,class\n" + "1,0\n2,1\nx,0\ny,1\n" * 3))
    assert features.kinds == ["text"]
    encoder = encoder_for(features).fit(features.to_matrix())
    new = read("code\n1\n2\n", categorical=["code"])
    assert encoder.transform(align(new, ["code"]).to_matrix()).sum() == 2.0
