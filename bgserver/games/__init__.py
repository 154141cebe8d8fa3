"""The rules of whole games and matches: parameters and presets."""
