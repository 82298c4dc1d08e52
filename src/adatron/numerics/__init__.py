"""Numerical tools that know nothing about SVMs: compilation, threads, memory, exponentials, exact sums."""
