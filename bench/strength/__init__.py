r"""How strong the engine is: loss on reference decisions, and games against other engines.

    python -m bench.strength reference --levels static,lookahead_1,lookahead_2
    python -m bench.strength match --opponent gnubg --our-level static --their-level 0 \
        --games 20000 --seed 1 --out gnubg_0ply.jsonl
    python -m bench.strength match --opponent bgsage --their-level 0 --peer-python PYTHON ...

`--weights FOLDER` measures other weights, `--json` prints the figures for a program. A level of an
opponent is the number of rolls it looks ahead; `bench.peers` says how its own numbers go and how
the peers are installed.
"""
