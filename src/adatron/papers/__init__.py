"""The experiments of the five documents, their published numbers and ours beside them.

One module per document: `cisc889`, `campbell1998`, `cristianini1999`, `potluru2009`, `tsang2007`. Each has a
``DOCUMENT``, a list of experiments; ``adatron reproduce`` runs them and writes one page.

>>> from adatron.papers import entries
>>> entries(["potluru2009"], only=["table-1"])[0].experiment.name
'table-1'
"""

from adatron.papers.experiment import Check, Comparison, Document, Effort, Experiment, Findings, Verdict
from adatron.papers.run import PAPERS, Entry, Result, documents, entries, run_entries

__all__ = [
    "PAPERS",
    "Check",
    "Comparison",
    "Document",
    "Effort",
    "Entry",
    "Experiment",
    "Findings",
    "Result",
    "Verdict",
    "documents",
    "entries",
    "run_entries",
]
