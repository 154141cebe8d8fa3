"""How the weights were made: self-play and supervised training, reproducible from seeds."""
