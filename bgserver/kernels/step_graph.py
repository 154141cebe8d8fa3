"""Every legal step order of a roll as a graph of boards.

`moves.generate_plays` gives one order for each result. A user interface that moves one checker
at a time needs them all, and for a wide double there are tens of thousands. Boards within a turn
are far fewer, so the orders are kept as a graph: each node is a board with the dice still to
play, each edge a step.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from bgserver.kernels._jit import kernel
from bgserver.kernels.bits import highest_bit
from bgserver.kernels.moves import (
    HEAD,
    LONG_NARDY,
    apply_step,
    breaks_prime_rule,
    head_allowance,
    legal_sources,
    open_points,
    own_points,
    prime_limit,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["GraphBuffers", "build_graph", "make_graph_buffers"]

# Boards after k of four steps: at most C(14 + k, k) ways to share them among 15 checkers.
_MAX_NODES = 1 + 15 + 120 + 680 + 3060
_MAX_EDGES = (1 + 15 + 120 + 680) * 15
_ONE = np.uint64(1)


class GraphBuffers(NamedTuple):
    """Memory of `build_graph`, owned by the caller."""

    boards: NDArray[np.int8]
    """[nodes, 26], written: the board of each node, seen by the mover; node 0 is the start."""
    depth: NDArray[np.int8]
    """[nodes], written: steps made."""
    used: NDArray[np.int8]
    """[nodes], written: dice used, bit 0 the higher, bit 1 the lower; for a double the count."""
    state: NDArray[np.int8]
    """[nodes], written: 0 leads nowhere legal, 1 on the way, 2 complete."""
    edges: NDArray[np.int32]
    """[edges, 6], written: node, source, target, die, hit, target node."""
    head_used: NDArray[np.int8]
    """[nodes], scratch: checkers that have left the head."""


def make_graph_buffers() -> GraphBuffers:
    """Allocate buffers for one graph (about 0.5 MB)."""
    return GraphBuffers(
        boards=np.zeros((_MAX_NODES, 26), dtype=np.int8),
        depth=np.zeros(_MAX_NODES, dtype=np.int8),
        used=np.zeros(_MAX_NODES, dtype=np.int8),
        state=np.zeros(_MAX_NODES, dtype=np.int8),
        edges=np.zeros((_MAX_EDGES, 6), dtype=np.int32),
        head_used=np.zeros(_MAX_NODES, dtype=np.int8),
    )


@kernel
def _same_board(boards: NDArray[np.int8], first: int, second: int) -> bool:
    for point in range(26):
        if boards[first, point] != boards[second, point]:
            return False
    return True


@kernel
def build_graph(
    points: NDArray[np.int8],
    die_a: int,
    die_b: int,
    variant: int,
    first_turn: bool,
    buffers: GraphBuffers,
) -> tuple[int, int]:
    """Write the graph of all legal step orders.

    Args:
        points: int8[26], read only: a board of a running game seen by the mover.
        die_a: 1..6.
        die_b: 1..6.
        variant: `BACKGAMMON` or `LONG_NARDY`.
        first_turn: Long Nardy: this is the mover's first turn.
        buffers: `GraphBuffers`, written.

    Returns:
        (nodes, edges). Only nodes with state > 0 and edges between them belong to the graph.
    """
    high = max(die_a, die_b)
    low = min(die_a, die_b)
    n_dice = 4 if high == low else 2
    head = head_allowance(variant, die_a, die_b, first_turn)
    boards = buffers.boards
    edges = buffers.edges
    for point in range(26):
        boards[0, point] = points[point]
    buffers.depth[0] = 0
    buffers.used[0] = 0
    buffers.head_used[0] = 0
    open_mask = open_points(points, variant)
    limit = prime_limit(points) if variant == LONG_NARDY else 0
    n_nodes = 1
    n_edges = 0
    layer_start = 0
    for depth in range(n_dice):
        layer_end = n_nodes
        for node in range(layer_start, layer_end):
            own = own_points(boards[node])
            for choice in range(2 if n_dice == 2 else 1):
                if n_dice == 2 and (buffers.used[node] >> choice) & 1:
                    continue
                die = high if choice == 0 else low
                sources = legal_sources(own, open_mask, die)
                while sources != 0:
                    source = highest_bit(sources)
                    sources &= ~(_ONE << np.uint64(source))
                    leaves_head = variant == LONG_NARDY and source == HEAD
                    if leaves_head and buffers.head_used[node] >= head:
                        continue
                    target = max(source - die, 0)
                    for point in range(26):
                        boards[n_nodes, point] = boards[node, point]
                    hit = apply_step(boards[n_nodes], source, target, variant)
                    if variant == LONG_NARDY and breaks_prime_rule(
                        own_points(boards[n_nodes]), limit
                    ):
                        continue
                    used = buffers.used[node] + 1
                    if n_dice == 2:
                        used = buffers.used[node] | (1 << choice)
                    found = n_nodes
                    for other in range(layer_end, n_nodes):
                        if buffers.used[other] == used and _same_board(boards, other, n_nodes):
                            found = other
                            break
                    if found == n_nodes:
                        buffers.depth[n_nodes] = depth + 1
                        buffers.used[n_nodes] = used
                        buffers.head_used[n_nodes] = buffers.head_used[node]
                        if leaves_head:
                            buffers.head_used[n_nodes] += 1
                        n_nodes += 1
                    edges[n_edges, 0] = node
                    edges[n_edges, 1] = source
                    edges[n_edges, 2] = target
                    edges[n_edges, 3] = die
                    edges[n_edges, 4] = hit
                    edges[n_edges, 5] = found
                    n_edges += 1
        layer_start = layer_end
    _mark_legal(n_nodes, n_edges, n_dice, buffers)
    return n_nodes, n_edges


@kernel
def _mark_legal(n_nodes: int, n_edges: int, n_dice: int, buffers: GraphBuffers) -> None:
    """Set the state of each node: complete, on the way to a complete one, or neither."""
    depth = buffers.depth
    state = buffers.state
    longest = 0
    for node in range(n_nodes):
        longest = max(longest, depth[node])
        if own_points(buffers.boards[node]) == 0:
            longest = n_dice
    high_alone = False
    for node in range(n_nodes):
        if depth[node] == 1 and buffers.used[node] == 1:
            high_alone = True
    for node in range(n_nodes):
        state[node] = 0
        if depth[node] == longest or own_points(buffers.boards[node]) == 0:
            state[node] = 2
            if n_dice == 2 and longest == 1 and high_alone and buffers.used[node] != 1:
                state[node] = 0  # the higher number must be played (2.10)
    # Edges were written layer by layer, so backwards each target is settled before its node.
    for edge in range(n_edges - 1, -1, -1):
        node = buffers.edges[edge, 0]
        if state[buffers.edges[edge, 5]] > 0 and state[node] == 0:
            state[node] = 1
    if longest == 0:
        state[0] = 2
