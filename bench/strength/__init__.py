r"""How strong the engine is: loss on decisions, games against other engines and against itself.

    python -m bench.strength reference --levels static,lookahead_1,lookahead_2
    python -m bench.strength match --opponent gnubg --our-level static --their-level 0 \
        --games 20000 --seed 1 --out gnubg_0ply.jsonl
    python -m bench.strength match --opponent bgsage --their-level 0 --peer-python PYTHON ...
    python -m bench.strength ladder --variant long_nardy --first static:FOLDER --second static \
        --games 2000 --out ladder.jsonl
    python -m bench.strength own --variant long_nardy --count 1000

A player of a ladder is a level, with a colon and a folder if it has weights of its own.
`--weights FOLDER` measures other weights, `--json` prints the figures for a program. A level of an
opponent is the number of rolls it looks ahead; `bench.peers` says how its own numbers go and how
the peers are installed.
"""
