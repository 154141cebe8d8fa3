"""Numba kernels: boards, play generation, features, networks, search.

Imports only numba, numpy and the standard library. Kernels never raise: they return counts or
codes, and the wrappers in `bgserver.engine` prove array bounds and turn codes into errors.
"""
