"""Tests of the rules, one for each clause that a play generator can break."""
