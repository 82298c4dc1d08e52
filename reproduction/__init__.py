"""The experiments of five papers, with their published numbers beside ours.

One package per paper: `cisc889` (a lecture), `campbell1998`, `cristianini1999`, `potluru2009`, `tsang2007`.
Each has a ``PAPER`` with its list of experiments. ``python3 tools/run.py reproduce`` runs them and writes one
page. The library does not know this package, and it is not in the wheel.
"""
