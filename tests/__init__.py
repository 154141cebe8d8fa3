"""Tests of bgserver."""
