"""
From a raw table to a model
===========================

A raw table has numbers, categories, dates, money written as text, and missing values. It goes into ``fit`` as it
is, and the model says how it encoded each column and which columns mattered.
"""

# %%
# The table is made up: who renews a contract depends on the plan, on how long it has run, and on the bill, but
# neither on the city nor on the lucky number.

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.model_selection import train_test_split

from adatron import AutoSVC
from adatron.display import ImportanceDisplay

random = np.random.default_rng(0)
n = 800
table = pd.DataFrame(
    {
        "plan": random.choice(["basic", "plus", "family", "pro"], n, p=[0.5, 0.25, 0.15, 0.1]),
        "city": random.choice([f"city {i}" for i in range(25)], n),
        "since": pd.Timestamp("2026-01-01") - pd.to_timedelta(random.integers(30, 2_500, n), unit="D"),
        "bill": [f"${value:,.2f}" for value in random.gamma(4.0, 300.0, n)],
        "lucky number": random.integers(1, 100, n).astype(float),
    }
)
years = (pd.Timestamp("2026-01-01") - table["since"]).dt.days / 365.0
dollars = table["bill"].str.replace("[$,]", "", regex=True).astype(float)
loyal = 1.2 * (table["plan"] != "basic") + 0.5 * years - 0.001 * dollars + random.normal(0.0, 0.7, n)
renews = np.where(loyal > loyal.median(), "renews", "leaves")
table.loc[random.random(n) < 0.1, ["plan"]] = None
table.loc[random.random(n) < 0.1, ["lucky number"]] = np.nan
table.head()

# %%
# One ``fit``, without encoding, imputing, scaling or tuning.

train, test, y_train, y_test = train_test_split(table, renews, random_state=0)
model = AutoSVC().fit(train, y_train)
print(
    f"accuracy {model.score(test, y_test):.3f}; held-out rows of the training part promised {model.best_score_:.3f}"
)

# %%
# What was done with each column:

print(model.encoder_.columns_)

# %%
# What mattered: how much the decisions change, in the mean square, when one column alone takes its value from another row.

ImportanceDisplay.from_estimator(model)
plt.show()

# %%
# Probabilities of three customers, one of them in a city that was not in the table. The columns of new rows may come in
# any order, and there may be further ones:

new = test.head(3).assign(city=["city 3", "Atlantis", None])
pd.DataFrame(model.predict_proba(new).round(2), columns=model.classes_)
