"""What knows no support vector machine: compiled functions, threads, memory, exponentials, exact sums."""
