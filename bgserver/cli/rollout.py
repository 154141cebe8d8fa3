"""The command that rolls out: rollout."""

from __future__ import annotations

from contextlib import ExitStack, closing, suppress
from pathlib import Path  # noqa: TC003 -- typer reads the annotations at run time
from typing import TYPE_CHECKING, Annotated

import typer
from google.protobuf.message import DecodeError
from rich import box
from rich.table import Table

from bgserver.cli import inputs, tables
from bgserver.cli.methods import method_for
from bgserver.cli.options import (
    AddressOption,
    DepthName,
    DiceArgument,
    FirstTurnOption,
    JsonOption,
    NardyOption,
    PositionArgument,
    TimeoutOption,
    TokenOption,
    level_value,
    print_json,
)
from bgserver.cli.out_files import require_out_file
from bgserver.cli.problems import INTERRUPTED, gathered, input_error
from bgserver.cli.progress import counter
from bgserver.cli.rules import converted
from bgserver.cli.transport import ask, connect
from bgserver.engine.errors import Fault, InvalidInputError
from bgserver.v1 import common_pb2, engine_pb2, rollout_pb2

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from google.protobuf.message import Message

__all__ = ["register"]

_MOST = (1 << 32) - 1
_STOP = "When to end"
_PLAY = "How to play"
_DEFAULT_TRIALS = 1296
_DEFAULT_PLAYS = 4
_BEFORE_ROLL = (
    "The table is about the position before the roll; "
    "to compare plays of a roll, name it behind the position."
)
_ACTIONS = {
    rollout_pb2.ROLLOUT_ACTION_NO_DOUBLE: "No double",
    rollout_pb2.ROLLOUT_ACTION_DOUBLE_TAKE: "Double / take",
    rollout_pb2.ROLLOUT_ACTION_DOUBLE_BEAVER: "Double / beaver",
}
_STOPS = {
    rollout_pb2.ROLLOUT_STOP_TRIALS: "all trials played",
    rollout_pb2.ROLLOUT_STOP_STANDARD_ERROR: "standard error reached",
    rollout_pb2.ROLLOUT_STOP_JOINT_DEVIATIONS: "the best is clear",
    rollout_pb2.ROLLOUT_STOP_EXACT: "exact",
}


def register(app: typer.Typer) -> None:
    """Add the command to the command line."""
    app.command(rich_help_panel="Engine")(rollout)


def rollout(
    position: PositionArgument,
    dice: DiceArgument = None,
    plays: Annotated[
        str | None,
        typer.Option(
            "--plays",
            "-p",
            metavar="PLAYS",
            help="Plays to compare, separated by commas, for example '8/5 6/5, 24/23 13/10'.",
            show_default="the best by the static level",
        ),
    ] = None,
    most: Annotated[
        int | None,
        typer.Option(
            "--max",
            "-n",
            min=1,
            help="Without --plays: compare so many.",
            show_default=str(_DEFAULT_PLAYS),
        ),
    ] = None,
    cube: Annotated[
        bool, typer.Option("--cube", help="Compare the cube actions before the roll.")
    ] = False,
    trials: Annotated[
        int | None,
        typer.Option(
            "--trials",
            min=1,
            max=_MOST,
            help="Trials of each candidate, at most.",
            show_default=str(_DEFAULT_TRIALS),
            rich_help_panel=_STOP,
        ),
    ] = None,
    min_trials: Annotated[
        int | None,
        typer.Option(
            min=1,
            max=_MOST,
            help="Trials before --se and --jsd may end anything.",
            rich_help_panel=_STOP,
            show_default=False,
        ),
    ] = None,
    standard_error: Annotated[
        float | None,
        typer.Option(
            "--se",
            help="End at this standard error of every equity.",
            rich_help_panel=_STOP,
            show_default=False,
        ),
    ] = None,
    joint_deviations: Annotated[
        float | None,
        typer.Option(
            "--jsd",
            help="Give up plays so many joint standard deviations behind.",
            rich_help_panel=_STOP,
            show_default=False,
        ),
    ] = None,
    seed: Annotated[
        int | None,
        typer.Option(
            min=0,
            max=_MOST,
            help="Seed of the dice, for the same figures again.",
            show_default="random",
        ),
    ] = None,
    cubeless: Annotated[
        bool, typer.Option("--cubeless", help="Without cube and score.", rich_help_panel=_PLAY)
    ] = False,
    level: Annotated[
        DepthName, typer.Option("--level", "-l", help="Level of plays.", rich_help_panel=_PLAY)
    ] = DepthName.STATIC,
    cube_level: Annotated[
        DepthName | None,
        typer.Option(
            help="Level of cube actions.",
            rich_help_panel=_PLAY,
            show_default=DepthName.STATIC.value,
        ),
    ] = None,
    early_plies: Annotated[
        int,
        typer.Option(
            min=0, max=_MOST, help="So many rolls with the early levels.", rich_help_panel=_PLAY
        ),
    ] = 0,
    early_level: Annotated[
        DepthName | None,
        typer.Option(help="Level of early plays.", rich_help_panel=_PLAY, show_default=False),
    ] = None,
    early_cube_level: Annotated[
        DepthName | None,
        typer.Option(
            help="Level of early cube actions.", rich_help_panel=_PLAY, show_default=False
        ),
    ] = None,
    truncate: Annotated[
        int | None,
        typer.Option(
            min=1,
            max=_MOST,
            help="Evaluate after so many rolls.",
            rich_help_panel=_PLAY,
            show_default="to the end",
        ),
    ] = None,
    truncate_level: Annotated[
        DepthName, typer.Option(help="Level of that evaluation.", rich_help_panel=_PLAY)
    ] = DepthName.STATIC,
    play_bearoff: Annotated[
        bool,
        typer.Option(
            "--play-bearoff", help="Play on where the tables know the end.", rich_help_panel=_PLAY
        ),
    ] = False,
    raw: Annotated[
        bool, typer.Option("--raw", help="Leave the luck in.", rich_help_panel=_PLAY)
    ] = False,
    opening: Annotated[
        bool,
        typer.Option("--opening", help="The first roll is never a double.", rich_help_panel=_PLAY),
    ] = False,
    state: Annotated[
        Path | None,
        typer.Option(
            "--continue",
            metavar="FILE",
            help="Go on with the rollout in FILE, if it is there; leave the state in FILE.",
            rich_help_panel=_STOP,
            show_default=False,
        ),
    ] = None,
    nardy: NardyOption = False,
    first_turn: FirstTurnOption = False,
    json: JsonOption = False,
    address: AddressOption = None,
    token: TokenOption = None,
    timeout: TimeoutOption = None,
) -> None:
    """Roll out: play many games from a position and tell how they end, with errors.

    With DICE plays of that roll are compared, with --cube the cube actions, else the position
    itself is rolled out. All candidates meet the same dice. Ctrl-C stops and shows what there is.
    """
    kind = rollout_pb2.ROLLOUT_KIND_POSITION
    if cube:
        kind = rollout_pb2.ROLLOUT_KIND_CUBE
    elif dice is not None or plays is not None:
        kind = rollout_pb2.ROLLOUT_KIND_PLAYS
    faults: list[Fault] = []
    if trials is None and (standard_error is not None or joint_deviations is not None):
        message = "expected --trials, after which it ends in any case"
        faults.append(Fault("trials", "TRIALS_REQUIRED", message))
    source, roll = common_pb2.PositionSource(), None
    with gathered(faults):
        source, roll = inputs.read_turn(position, dice, nardy=nardy, first_turn=first_turn)
    faults += _idle_options(
        kind,
        plays=plays,
        most=most,
        first_turn=first_turn,
        without_cube=cubeless or inputs.is_nardy(source),
        cube_levels={"--cube-level": cube_level, "--early-cube-level": early_cube_level},
    )
    before = rollout_pb2.RolloutResponse()
    with gathered(faults):
        if state is not None:
            require_out_file(state, "--continue")
        if state is not None and state.exists():
            before = _read_state(state)
            seed = before.seed if seed is None else seed
    if faults:
        raise InvalidInputError(faults)
    compared = plays is None and kind == rollout_pb2.ROLLOUT_KIND_PLAYS
    request = rollout_pb2.RolloutRequest(
        position=source,
        kind=kind,
        dice=roll,
        first_turn=first_turn,
        plays=[play.strip() for play in plays.split(",")] if plays is not None else [],
        max_plays=(most or _DEFAULT_PLAYS) if compared else 0,
        trials=trials,
        min_trials=min_trials,
        standard_error=standard_error,
        joint_deviations=joint_deviations,
        seed=seed,
        cubeful=False if cubeless else None,
        levels=_levels(level, cube_level or DepthName.STATIC),
        early_levels=_early_levels(early_level, early_cube_level),
        early_plies=early_plies,
        truncate_plies=truncate,
        truncate_level=level_value(truncate_level),
        stop_at_bearoff=False if play_bearoff else None,
        reduce_variance=False if raw else None,
        opening=opening,
        state=before.state,
    )
    with ExitStack() as stack:
        transport = stack.enter_context(connect(address, token, timeout))
        # The first question loads the engine; that is not the rollout's time.
        ask(transport, engine_pb2.GetInfoRequest(), engine_pb2.GetInfoResponse)
        events = stack.enter_context(closing(transport.stream(method_for(request), [request])))
        answer = _follow(events, trials or _DEFAULT_TRIALS)
        if answer is None:
            raise typer.Exit(INTERRUPTED)
        if state is not None and answer.state:
            kept = rollout_pb2.RolloutResponse(seed=answer.seed, state=answer.state)
            state.write_bytes(kept.SerializeToString())
        if json:
            print_json(answer)
        else:
            shown = converted(transport, request.position)
            heading = [f"Best: {answer.action_text}"] if answer.action_text else []
            if kind != rollout_pb2.ROLLOUT_KIND_PLAYS and shown.state.HasField("dice"):
                heading.insert(0, _BEFORE_ROLL)
            tables.show(shown.board.rstrip("\n"), *heading, _table(answer), _summary(answer))
    if not answer.stopped_by:
        raise typer.Exit(INTERRUPTED)


def _idle_options(
    kind: rollout_pb2.RolloutKind.ValueType,
    *,
    plays: str | None,
    most: int | None,
    first_turn: bool,
    without_cube: bool,
    cube_levels: Mapping[str, DepthName | None],
) -> list[Fault]:
    """Options that would change nothing in a rollout of this kind.

    Args:
        kind: What is compared.
        plays: The plays, if they are named.
        most: How many are compared, if that is said.
        first_turn: The flag `--first-turn`.
        without_cube: Nobody may turn a cube.
        cube_levels: The levels of cube actions by their options, None for those not given.
    """
    faults = []
    if kind != rollout_pb2.ROLLOUT_KIND_PLAYS:
        message = "only where plays are compared, which DICE or --plays ask for"
        given = {"--max": most is not None, "--first-turn": first_turn}
        faults += [
            Fault(option, "ONLY_FOR_PLAYS", message) for option, is_set in given.items() if is_set
        ]
    elif plays is not None and most is not None:
        faults.append(Fault("--max", "PLAYS_AMBIGUOUS", "--plays names all that are compared"))
    if without_cube:
        message = "nobody turns a cube here: the trials are played without one"
        faults += [
            Fault(option, "WITHOUT_CUBE", message)
            for option, level in cube_levels.items()
            if level is not None
        ]
    return faults


def _read_state(file: Path) -> rollout_pb2.RolloutResponse:
    """Seed and state of an earlier rollout."""
    before = rollout_pb2.RolloutResponse()
    with suppress(DecodeError):
        before.ParseFromString(file.read_bytes())
    if not before.state:
        message = f"{file} was not written by this command"
        raise input_error(message, field="state", reason="NOT_A_ROLLOUT_STATE")
    return before


def _levels(checker: DepthName, cube: DepthName) -> rollout_pb2.RolloutLevels:
    return rollout_pb2.RolloutLevels(checker=level_value(checker), cube=level_value(cube))


def _early_levels(
    checker: DepthName | None, cube: DepthName | None
) -> rollout_pb2.RolloutLevels | None:
    if checker is None and cube is None:
        return None
    return _levels(checker or DepthName.STATIC, cube or DepthName.STATIC)


def _follow(events: Iterator[Message], trials: int) -> rollout_pb2.RolloutResponse | None:
    """Show the progress of a rollout; what it has found in the end, None if nothing yet."""
    answer: rollout_pb2.RolloutResponse | None = None
    with counter("rolling out", trials) as advance:
        try:
            for event in events:
                if not isinstance(event, rollout_pb2.RolloutResponse):
                    message = f"expected RolloutResponse, got {type(event).__name__}"
                    raise TypeError(message)
                answer = event
                advance(event.trials, _remark(event))
        except KeyboardInterrupt:
            pass  # what there is is shown
    return answer


def _remark(answer: rollout_pb2.RolloutResponse) -> str:
    """The best candidate in a few words."""
    best = answer.entries[0]
    name = best.play.notation or _ACTIONS.get(best.action, "equity")
    return f"{name} {best.equity.mean:+.3f} ±{best.equity.standard_error:.3f}"


def _table(answer: rollout_pb2.RolloutResponse) -> Table:
    """One line for each candidate, and below it the standard errors."""
    names, in_match = _names(answer), answer.entries[0].HasField("match_winning_chances")
    several = answer.HasField("dice") and len(answer.entries) > 1
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False)
    table.add_column(names[0], no_wrap=True)
    headings = ["Equity", *(["MWC %"] if in_match else []), "Cubeless"]
    headings += ["Win %", "gammon", "backg.", "Lose g.", "backg.", "Trials"]
    headings += ["Behind", "Better with"] if several else []
    for heading in headings:
        table.add_column(heading, justify="right", no_wrap=True)
    for number, (name, entry) in enumerate(zip(names[1], answer.entries, strict=True)):
        chances = (
            entry.win, entry.win_gammon, entry.win_backgammon,
            entry.lose_gammon, entry.lose_backgammon,
        )  # fmt: skip
        cells = [f"{entry.equity.mean:+.4f}"]
        errors = [f"±{entry.equity.standard_error:.4f}"]
        if in_match:
            cells.append(f"{100 * entry.match_winning_chances.mean:.2f}")
            errors.append(f"±{100 * entry.match_winning_chances.standard_error:.2f}")
        cells.append(f"{entry.cubeless_equity.mean:+.4f}")
        errors.append(f"±{entry.cubeless_equity.standard_error:.4f}")
        cells += [f"{100 * chance.mean:.2f}" for chance in chances]
        errors += [f"±{100 * chance.standard_error:.2f}" for chance in chances]
        cells.append(f"{entry.trials:,}")
        errors.append("given up" if entry.given_up else "")
        if several:
            is_best = entry.behind.mean == 0.0 and entry.better_chance == 1.0
            cells += ["", ""] if is_best else [
                f"{entry.behind.mean:.4f}", f"{100 * entry.better_chance:.1f} %"
            ]  # fmt: skip
            errors += ["", ""] if is_best else [f"±{entry.behind.standard_error:.4f}", ""]
        table.add_row(name, *cells, style="bold" if number == 0 else None)
        table.add_row("", *errors, style="dim")
    if answer.HasField("double_pass_equity"):
        cells = [f"{answer.double_pass_equity:+.4f}"]
        if in_match:
            cells.append(f"{100 * answer.double_pass_mwc:.2f}")
        table.add_row("Double / pass", *cells)
    return table


def _names(answer: rollout_pb2.RolloutResponse) -> tuple[str, list[str]]:
    """Heading and names of the candidates."""
    if answer.HasField("dice"):
        return "Play", [entry.play.notation for entry in answer.entries]
    if answer.action_text:
        return "Action", [_ACTIONS.get(entry.action, "") for entry in answer.entries]
    return "", ["Position"]


def _summary(answer: rollout_pb2.RolloutResponse) -> str:
    reason = _STOPS.get(answer.stopped_by, "stopped")
    return f"{answer.trials:,} trials ({reason}), seed {answer.seed}; ± is one standard error"
