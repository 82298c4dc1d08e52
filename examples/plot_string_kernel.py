"""
A kernel for strings
====================

A machine sees its data through a kernel alone, so the data need not be vectors. Here they are DNA-like strings,
half of which hide a short motif at a random place. The spectrum kernel compares how often substrings of length k
occur in two strings; its matrix goes to ``SVC`` as ``kernel="precomputed"``.
"""

# %%
# Strings of 60 random letters, some with the motif TACGATCAGT, one letter of which is drawn anew.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.preprocessing import normalize

from adatron import SVC
from adatron.display.figures import COLOURS

rng = np.random.default_rng(0)
MOTIF = "TACGATCAGT"


def random_string(has_motif):
    letters = rng.choice(list("ACGT"), 60)
    if has_motif:
        place = rng.integers(60 - len(MOTIF))
        letters[place : place + len(MOTIF)] = list(MOTIF)
        letters[place + rng.integers(len(MOTIF))] = rng.choice(list("ACGT"))
    return "".join(letters)


y = rng.integers(2, size=1_000)
strings = [random_string(label) for label in y]
train, test = np.arange(500), np.arange(500, 1_000)
print(f"with the motif:    {strings[np.argmax(y)]}")
print(f"without the motif: {strings[np.argmin(y)]}")

# %%
# The spectrum of a string is the vector of its counts; two strings are compared by the cosine of their spectra.
# A precomputed kernel is a square matrix for training, and one row for each string to predict.

accuracy, names, weights = {}, {}, {}
for k in range(1, 9):
    counter = CountVectorizer(analyzer="char", ngram_range=(k, k), lowercase=False)
    spectra = normalize(counter.fit_transform(strings))
    gram = (spectra @ spectra.T).toarray()
    model = SVC(kernel="precomputed").fit(gram[np.ix_(train, train)], y[train])
    accuracy[k] = model.score(gram[np.ix_(test, train)], y[test])
    names[k] = counter.get_feature_names_out()
    weights[k] = spectra[train][model.support_].T @ model.dual_coef_[0]
    print(f"substrings of {k}: {accuracy[k]:.1%} right on the test strings")

# %%
# The decision is linear in the spectra, so every substring has a weight: those of length 5 that speak most
# strongly for the motif are on the right.

figure, (left, right) = plt.subplots(1, 2, figsize=(9.0, 3.6), layout="constrained")
left.plot(list(accuracy), [100.0 * value for value in accuracy.values()], "o-", color=COLOURS[0])
left.set(xlabel="length k of the substrings", ylabel="test accuracy (%)", ylim=(45, 100))
heaviest = np.argsort(weights[5])[-8:]
is_part = np.array([name in MOTIF for name in names[5][heaviest]])
right.barh(range(8), weights[5][heaviest], color=np.where(is_part, COLOURS[2], "#BBBBBB"))
right.set(xlabel="weight, k = 5", title=f"green: part of {MOTIF}")
right.set_yticks(range(8), labels=names[5][heaviest], family="monospace")
for ax in (left, right):
    ax.spines[["top", "right"]].set_visible(False)
plt.show()
print(f"{is_part.sum()} of these 8 are part of {MOTIF}, which has {len(MOTIF) - 4} parts of that length")

# %%
# Single letters tell nothing. Longer substrings tell ever more, until they are so long that the letter drawn anew
# spoils most of them. The machine was never told the motif, yet the six heaviest substrings of five letters are just the
# six that it is made of.
