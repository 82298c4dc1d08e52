"""Small tables for the tests of the command line, written as CSV."""

import numpy as np

__all__ = ["checkerboard", "letters", "surface", "write_csv"]


def write_csv(path, header, rows):
    lines = [header, *(",".join(map(str, row)) for row in rows)]
    path.write_text("\n".join(lines) + "\n")
    return path


def _points(n, seed=0):
    return np.random.default_rng(seed).normal(size=(n, 2)).round(4)


def checkerboard(path, n=60, seed=0):
    """Two classes, a column of text among the features."""
    rows = [(a, b, "red" if a > 0 else "blue", "yes" if a * b > 0 else "no") for a, b in _points(n, seed)]
    return write_csv(path, "a,b,colour,class", rows)


def surface(path, n=60, seed=0):
    """A number to predict."""
    return write_csv(path, "a,b,y", [(a, b, round(a * b + 0.1 * a, 6)) for a, b in _points(n, seed)])


def letters(path, n=60, n_classes=5, seed=0):
    """Several classes, k0, k1, … in turn."""
    return write_csv(path, "a,b,class", [(a, b, f"k{i % n_classes}") for i, (a, b) in enumerate(_points(n))])
