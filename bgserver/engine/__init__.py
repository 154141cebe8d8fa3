"""The engine in Python terms: positions, plays, levels, cube, simulation. No gRPC here."""
