"""The client for ordinary, blocking code."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Self, TypeVar, Unpack

import grpc
from grpc_health.v1 import health_pb2, health_pb2_grpc

from bgserver_client import _requests, _rollouts
from bgserver_client._batches import BatchLike, BatchRequests, require_batches, unpack
from bgserver_client._game_methods import GameMethods
from bgserver_client._options import (
    CHANNEL_OPTIONS,
    DEFAULT_ADDRESS,
    DEFAULT_TIMEOUT_S,
    RETRY_PAUSE_S,
    bearer,
    not_ready,
    patience_s,
)
from bgserver_client._questions import QUESTIONS_IN_FLIGHT
from bgserver_client._streams import RequestFeed, ResponseStream
from bgserver_client.errors import UnavailableError, UnimplementedError, from_grpc
from bgserver_client.v1 import (
    engine_pb2,
    engine_pb2_grpc,
    game_pb2_grpc,
    rollout_pb2,
    rules_pb2,
    rules_pb2_grpc,
    simulation_pb2,
    simulation_pb2_grpc,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from bgserver_client._requests import (
        DiceLike,
        JudgeLike,
        LevelLike,
        PlayerLike,
        PositionLike,
        SeatingName,
        StepLike,
        VariantLike,
    )
    from bgserver_client._rollouts import (
        RolloutArguments,
        RolloutKindLike,
        RolloutLevelsLike,
    )

_Request = TypeVar("_Request")
_Response = TypeVar("_Response")


class Client(GameMethods):
    """A connection to a bgserver; safe to share between threads.

    Every method sends one request and returns the answer as the message that the API defines;
    streams come as iterators that end the call when they are closed. Whatever goes wrong is an
    `RpcError`.

    Args:
        address: `host:port` of the server.
        timeout_s: Time limit of calls that give none themselves; None means no limit. Streams
            have no limit unless they give one.
        token: Sent as `authorization: Bearer ...` if the server asks for one.
        credentials: Credentials of a TLS connection; None means an unencrypted one.
    """

    def __init__(
        self,
        address: str = DEFAULT_ADDRESS,
        *,
        timeout_s: float | None = DEFAULT_TIMEOUT_S,
        token: str | None = None,
        credentials: grpc.ChannelCredentials | None = None,
    ) -> None:
        if credentials is None:
            self._channel = grpc.insecure_channel(address, CHANNEL_OPTIONS)
        else:
            self._channel = grpc.secure_channel(address, credentials, CHANNEL_OPTIONS)
        self._timeout_s = timeout_s
        self._metadata = bearer(token)
        self._rules = rules_pb2_grpc.RulesServiceStub(self._channel)
        self._engine = engine_pb2_grpc.EngineServiceStub(self._channel)
        self._games = game_pb2_grpc.GameServiceStub(self._channel)
        self._simulation = simulation_pb2_grpc.SimulationServiceStub(self._channel)
        self._health = health_pb2_grpc.HealthStub(self._channel)

    def close(self) -> None:
        """Close the connection; running calls end with `CancelledError`."""
        self._channel.close()

    def __enter__(self) -> Self:
        """Itself; the connection closes with the block."""
        return self

    def __exit__(self, *exception: object) -> None:
        """Close the connection."""
        self.close()

    def _call(
        self,
        method: grpc.UnaryUnaryMultiCallable[_Request, _Response],
        request: _Request,
        timeout_s: float | None,
        milliseconds: int | None = None,
    ) -> _Response:
        limit = patience_s(timeout_s, self._timeout_s, milliseconds)
        try:
            return method(request, timeout=limit, metadata=self._metadata)
        except grpc.RpcError as error:
            raise from_grpc(error) from None

    def wait_until_ready(self, timeout_s: float = 600.0) -> None:
        """Wait until the server can be reached and has compiled what it needs.

        Raises:
            DeadlineExceededError: It was not ready in time.
        """
        end = time.monotonic() + timeout_s
        while (left := end - time.monotonic()) > 0:
            call = self._health.Watch(
                health_pb2.HealthCheckRequest(),
                timeout=left,
                metadata=self._metadata,
                wait_for_ready=True,
            )
            try:
                with ResponseStream(call, lambda reply: reply.status) as states:
                    if health_pb2.HealthCheckResponse.SERVING in states:
                        return
            except UnimplementedError:
                return  # reachable, and without a health service there is nothing to wait for
            except UnavailableError:
                time.sleep(min(RETRY_PAUSE_S, left))  # it went away: a restart may follow
        raise not_ready(timeout_s)

    def list_plays(
        self,
        position: PositionLike,
        dice: DiceLike | None = None,
        *,
        first_turn: bool = False,
        include_step_graph: bool = False,
        timeout_s: float | None = None,
    ) -> rules_pb2.ListPlaysResponse:
        """The distinct results of a roll, each once, with notation and steps.

        Args:
            position: The position of the player who has rolled.
            dice: The roll; may be left out if the position carries one.
            first_turn: Long Nardy: the player's own first turn of the game.
            include_step_graph: Also return every legal step order, as a graph.
            timeout_s: Time limit of this call.
        """
        request = _requests.list_plays(
            position, dice, first_turn=first_turn, include_step_graph=include_step_graph
        )
        return self._call(self._rules.ListPlays, request, timeout_s)

    def apply_play(
        self,
        position: PositionLike,
        play: str | Sequence[StepLike],
        dice: DiceLike | None = None,
        *,
        first_turn: bool = False,
        timeout_s: float | None = None,
    ) -> rules_pb2.ApplyPlayResponse:
        """Make one play; the answer's `next` is the board as the opponent sees it.

        Args:
            position: The position of the player who has rolled.
            play: Notation such as `8/5 6/5`, or steps such as `[(8, 5), (6, 5)]`.
            dice: The roll; may be left out if the position carries one.
            first_turn: Long Nardy: the player's own first turn of the game.
            timeout_s: Time limit of this call.
        """
        request = _requests.apply_play(position, play, dice, first_turn=first_turn)
        return self._call(self._rules.ApplyPlay, request, timeout_s)

    def inspect_position(
        self, position: PositionLike, *, timeout_s: float | None = None
    ) -> rules_pb2.InspectPositionResponse:
        """Facts of a position: pips, phase, blots and their danger, bar entry, faults."""
        request = _requests.inspect_position(position)
        return self._call(self._rules.InspectPosition, request, timeout_s)

    def convert_position(
        self, position: PositionLike, *, timeout_s: float | None = None
    ) -> rules_pb2.ConvertPositionResponse:
        """A position in every form: structured, XGID, GNU IDs, and drawn as text."""
        request = _requests.convert_position(position)
        return self._call(self._rules.ConvertPosition, request, timeout_s)

    def list_presets(self, *, timeout_s: float | None = None) -> rules_pb2.ListPresetsResponse:
        """The rule sets that the server knows by name."""
        request = rules_pb2.ListPresetsRequest()
        return self._call(self._rules.ListPresets, request, timeout_s)

    def describe_rules(
        self,
        preset: str = "money",
        *,
        rules: rules_pb2.Rules | None = None,
        language: str | None = None,
        timeout_s: float | None = None,
    ) -> rules_pb2.DescribeRulesResponse:
        """A rule set as parameters and as text for players.

        Args:
            preset: Name of the rules, see `list_presets`.
            rules: What differs from the preset.
            language: `"en"` or `"de"`; by default every language.
            timeout_s: Time limit of this call.
        """
        request = _requests.describe_rules(preset, rules=rules, language=language)
        return self._call(self._rules.DescribeRules, request, timeout_s)

    def evaluate(
        self,
        position: PositionLike,
        *,
        level: JudgeLike | None = None,
        milliseconds: int | None = None,
        timeout_s: float | None = None,
    ) -> engine_pb2.EvaluateResponse:
        """Chances and equities of a position before the roll.

        Args:
            position: The position.
            level: How deep to look; by default static.
            milliseconds: Instead of a level: look as deep as this time allows. The answer says
                which level that was.
            timeout_s: Time limit of this call; the client's default begins after `milliseconds`.
        """
        request = _requests.evaluate(position, level, milliseconds)
        return self._call(self._engine.Evaluate, request, timeout_s, milliseconds)

    def rank_plays(
        self,
        position: PositionLike,
        dice: DiceLike | None = None,
        *,
        level: JudgeLike | None = None,
        milliseconds: int | None = None,
        max_plays: int = 0,
        cubeless: bool = False,
        first_turn: bool = False,
        timeout_s: float | None = None,
    ) -> engine_pb2.RankPlaysResponse:
        """The plays of a roll, best first.

        Args:
            position: The position of the player who has rolled.
            dice: The roll; may be left out if the position carries one.
            level: How deep to look; by default static.
            milliseconds: Instead of a level: look as deep as this time allows. Each play says
                which level its figures are of.
            max_plays: Return at most so many plays; 0 means all.
            cubeless: Rank by cubeless money equity instead of the equity with cube and score.
            first_turn: Long Nardy: the player's own first turn of the game.
            timeout_s: Time limit of this call; the client's default begins after `milliseconds`.
        """
        request = _requests.rank_plays(
            position,
            dice,
            level=level,
            milliseconds=milliseconds,
            max_plays=max_plays,
            cubeless=cubeless,
            first_turn=first_turn,
        )
        return self._call(self._engine.RankPlays, request, timeout_s, milliseconds)

    def advise_cube(
        self,
        position: PositionLike,
        *,
        level: JudgeLike | None = None,
        milliseconds: int | None = None,
        raccoons: bool = False,
        raccoon_owner: rules_pb2.RaccoonOwner.ValueType = rules_pb2.RACCOON_OWNER_UNSPECIFIED,
        market_losers: bool = False,
        market_replies: bool = False,
        timeout_s: float | None = None,
    ) -> engine_pb2.AdviseCubeResponse:
        """Double or not, take or pass, with the equities behind it.

        Args:
            position: The position, with cube and score.
            level: How deep to look; by default static.
            milliseconds: Instead of a level: look as deep as this time allows. The answer says
                which level that was.
            raccoons: Money play with beavers: a beaver may be answered by one more turn.
            raccoon_owner: Who owns the cube then; required with `raccoons`.
            market_losers: Count the exchanges of rolls after which the opponent has a pass.
            market_replies: With `market_losers`: list the opponent's rolls among them as well.
            timeout_s: Time limit of this call; the client's default begins after `milliseconds`.
        """
        request = _requests.advise_cube(
            position,
            level,
            milliseconds,
            raccoons=raccoons,
            raccoon_owner=raccoon_owner,
            market_losers=market_losers,
            market_replies=market_replies,
        )
        return self._call(self._engine.AdviseCube, request, timeout_s, milliseconds)

    def advise_cube_by_score(
        self,
        position: PositionLike,
        *,
        away: int | None = None,
        level: JudgeLike | None = None,
        milliseconds: int | None = None,
        timeout_s: float | None = None,
    ) -> engine_pb2.AdviseCubeByScoreResponse:
        """The cube decision of one position for money and at every score of a match.

        Args:
            position: The position; its own score does not count, its cube does.
            away: Points away that the table goes to, 1..25; by default 7.
            level: How deep the position is judged, once for all scores; by default static.
            milliseconds: Instead of a level: look as deep as this time allows.
            timeout_s: Time limit of this call; the client's default begins after `milliseconds`.
        """
        request = _requests.advise_cube_by_score(position, level, milliseconds, away)
        return self._call(self._engine.AdviseCubeByScore, request, timeout_s, milliseconds)

    def choose_play(
        self,
        position: PositionLike,
        dice: DiceLike | None = None,
        *,
        player: PlayerLike = "expert",
        first_turn: bool = False,
        seed: int | None = None,
        game: int = 0,
        turn: int = 0,
        timeout_s: float | None = None,
    ) -> engine_pb2.ChoosePlayResponse:
        """The play that a bot makes, and what it loses.

        Args:
            position: The position of the bot, which has rolled.
            dice: The roll; may be left out if the position carries one.
            player: The bot: a level, a strength's name, or `player(...)`.
            first_turn: Long Nardy: the bot's first turn of the game.
            seed: Seed of its errors, for the same play again; random by default.
            game: Number of the game; with a seed, errors differ from game to game.
            turn: Number of the turn; with a seed, errors differ from turn to turn.
            timeout_s: Time limit of this call.
        """
        request = _requests.choose_play(
            position,
            dice,
            player=player,
            first_turn=first_turn,
            seed=seed,
            game=game,
            turn=turn,
        )
        return self._call(self._engine.ChoosePlay, request, timeout_s)

    def choose_cube_action(
        self,
        position: PositionLike,
        *,
        player: PlayerLike = "expert",
        seed: int | None = None,
        game: int = 0,
        turn: int = 0,
        timeout_s: float | None = None,
    ) -> engine_pb2.ChooseCubeActionResponse:
        """What a bot does with the cube: double or roll, or its answer to a double on offer.

        Args:
            position: The position before the roll, with cube and score.
            player: The bot: a level, a strength's name, or `player(...)`.
            seed: Seed of its errors, for the same action again; random by default.
            game: Number of the game; with a seed, errors differ from game to game.
            turn: Number of the turn; with a seed, errors differ from turn to turn.
            timeout_s: Time limit of this call.
        """
        request = _requests.choose_cube_action(
            position, player=player, seed=seed, game=game, turn=turn
        )
        return self._call(self._engine.ChooseCubeAction, request, timeout_s)

    def evaluate_batch(
        self,
        batches: Iterable[BatchLike],
        *,
        variant: VariantLike = "backgammon",
        level: LevelLike = "static",
        timeout_s: float | None = None,
    ) -> ResponseStream[memoryview[float]]:
        """Evaluate packed arrays of positions through one stream, millions a minute.

        Args:
            batches: The batches; `split_batches` cuts a large array. Read as the answers arrive,
                by a thread of the gRPC library.
            variant: The game of all of them.
            level: How deep to look: static or one roll ahead.
            timeout_s: Time limit of the whole stream; none by default.

        Returns:
            For each batch, in order, a float32 view of n x 5 (`numpy.asarray` wraps it): win, win
            gammon, win backgammon, lose gammon, lose backgammon, seen by the player on roll.
        """
        require_batches(batches)
        requests = BatchRequests(variant, level)
        feed = RequestFeed(batches, requests.request)
        call = self._engine.EvaluateBatch(feed, timeout=timeout_s, metadata=self._metadata)
        call.add_callback(feed.stop)
        return ResponseStream(call, unpack, feed)

    def rollout(
        self,
        position: PositionLike,
        *,
        kind: RolloutKindLike | None = None,
        dice: DiceLike | None = None,
        plays: Sequence[str] = (),
        max_plays: int = 0,
        first_turn: bool = False,
        trials: int | None = None,
        min_trials: int | None = None,
        standard_error: float | None = None,
        joint_deviations: float | None = None,
        seed: int | None = None,
        cubeful: bool | None = None,
        levels: RolloutLevelsLike = "static",
        early_levels: RolloutLevelsLike | None = None,
        early_plies: int = 0,
        truncate_plies: int | None = None,
        truncate_level: LevelLike = "static",
        stop_at_bearoff: bool = True,
        reduce_variance: bool = True,
        opening: bool = False,
        state: bytes = b"",
        timeout_s: float | None = None,
    ) -> ResponseStream[rollout_pb2.RolloutResponse]:
        """Roll out: play many games from a position, or from several with the same dice.

        The stream tells how far the rollout is, ten times a second at most; its last message, with
        `stopped_by`, is the result. Closing the stream stops the rollout. `roll_out` gives just
        the result.

        Args:
            position: The position, with cube and score.
            kind: `position`, `plays` or `cube`; by default plays if there is a roll.
            dice: The roll whose plays are compared.
            plays: Which plays, in notation; by default the best by the static level.
            max_plays: Without `plays`: how many; 0 means 4.
            first_turn: Long Nardy: the player's own first turn of the game.
            trials: Most trials of each candidate; by default 1296.
            min_trials: Trials before the two limits below may end anything.
            standard_error: End at this standard error of every equity.
            joint_deviations: Give up plays so many joint standard deviations behind the best.
            seed: Seed of the dice, for the same figures again; random by default.
            cubeful: With cube and score; by default in backgammon.
            levels: How both sides play: one level, or one for plays and one for the cube.
            early_levels: How both sides play the first `early_plies` rolls.
            early_plies: How many rolls that are.
            truncate_plies: Evaluate after so many rolls; by default play to the end.
            truncate_level: How deep that evaluation looks.
            stop_at_bearoff: End a trial where the bear-off tables know its worth.
            reduce_variance: Take the luck of each roll off.
            opening: The first roll is never a double.
            state: `state` of an earlier result, to go on with.
            timeout_s: Time limit of the whole stream; none by default.
        """
        request = _rollouts.rollout(
            position,
            kind=kind,
            dice=dice,
            plays=plays,
            max_plays=max_plays,
            first_turn=first_turn,
            trials=trials,
            min_trials=min_trials,
            standard_error=standard_error,
            joint_deviations=joint_deviations,
            seed=seed,
            cubeful=cubeful,
            levels=levels,
            early_levels=early_levels,
            early_plies=early_plies,
            truncate_plies=truncate_plies,
            truncate_level=truncate_level,
            stop_at_bearoff=stop_at_bearoff,
            reduce_variance=reduce_variance,
            opening=opening,
            state=state,
        )
        call = self._engine.Rollout(request, timeout=timeout_s, metadata=self._metadata)
        return ResponseStream(call, lambda message: message)

    def roll_out(
        self,
        position: PositionLike,
        progress: Callable[[rollout_pb2.RolloutResponse], None] | None = None,
        **arguments: Unpack[RolloutArguments],
    ) -> rollout_pb2.RolloutResponse:
        """Roll out and return the result.

        Args:
            position: The position, with cube and score.
            progress: Told how far the rollout is, ten times a second at most.
            arguments: As those of `rollout`.
        """
        with self.rollout(position, **arguments) as answers:
            for answer in answers:
                if answer.stopped_by:
                    return answer
                if progress is not None:
                    progress(answer)
        raise _rollouts.no_result()

    def analyze_batch(
        self,
        questions: Iterable[engine_pb2.AnalyzeBatchRequest],
        *,
        timeout_s: float | None = None,
    ) -> ResponseStream[engine_pb2.AnalyzeBatchResponse]:
        """Ask many questions of any kind through one stream, in any order of answers.

        Args:
            questions: Made by `Question`. Read as the answers arrive,
                by a thread of the gRPC library.
            timeout_s: Time limit of the whole stream; none by default.

        Returns:
            An answer for each question, with its id. A question that cannot be answered has an
            `error` instead of an answer, with all its faults; the others go on.
        """
        feed = RequestFeed(questions, lambda question: question, QUESTIONS_IN_FLIGHT)
        call = self._engine.AnalyzeBatch(feed, timeout=timeout_s, metadata=self._metadata)
        call.add_callback(feed.stop)
        return ResponseStream(call, lambda answer: answer, feed)

    def get_info(self, *, timeout_s: float | None = None) -> engine_pb2.GetInfoResponse:
        """Version, levels, networks, tables and limits of the server."""
        return self._call(self._engine.GetInfo, engine_pb2.GetInfoRequest(), timeout_s)

    def simulate(
        self,
        count: int,
        *,
        preset: str = "money",
        rules: rules_pb2.Rules | None = None,
        match_length: int | None = None,
        seed: int | None = None,
        first: PlayerLike = "static",
        second: PlayerLike = "static",
        include_records: bool = False,
        statistics_only: bool = False,
        seating: SeatingName = "fixed",
        judge: LevelLike | None = None,
        session_games: int | None = None,
        first_unit: int = 0,
        decision_ms: int | None = None,
        timeout_s: float | None = None,
    ) -> ResponseStream[simulation_pb2.SimulateResponse]:
        """Play games or matches between two players; closing the stream stops them.

        Args:
            count: Games to play (in a match preset: matches).
            preset: Name of the rules, see `list_presets`.
            rules: What differs from the preset.
            match_length: Match length in points, in a match preset.
            seed: Seed of dice and errors, for the same games again; random by default.
            first: The first player: a level, a strength's name, or `player(...)`, which may sit
                at another server.
            second: The second player.
            include_records: Also return every turn of each game.
            statistics_only: Leave out the single results.
            seating: How the players change seats; `"duplicate"` plays all dice twice.
            judge: Judge every decision at this level.
            session_games: Games of a session, outside matches.
            first_unit: Leave out the games (sessions, matches) before this one.
            decision_ms: What a decision of a player at another server may take.
            timeout_s: Time limit of the whole stream; none by default.
        """
        request = _requests.simulate(
            count,
            preset=preset,
            rules=rules,
            match_length=match_length,
            seed=seed,
            first=first,
            second=second,
            include_records=include_records,
            statistics_only=statistics_only,
            seating=seating,
            judge=judge,
            session_games=session_games,
            first_unit=first_unit,
            decision_ms=decision_ms,
        )
        call = self._simulation.Simulate(request, timeout=timeout_s, metadata=self._metadata)
        return ResponseStream(call, lambda message: message)
