"""Benchmarks and long comparisons; each says in its docstring how it is run."""
