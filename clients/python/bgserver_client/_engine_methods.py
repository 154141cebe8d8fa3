"""The methods of `EngineService`, for ordinary, blocking code."""

from __future__ import annotations

from typing import TYPE_CHECKING, Unpack

from bgserver_client import _requests, _rollouts
from bgserver_client._batches import BatchLike, BatchRequests, require_batches, unpack
from bgserver_client._connection import Connection
from bgserver_client._questions import QUESTIONS_IN_FLIGHT
from bgserver_client._streams import RequestFeed, ResponseStream
from bgserver_client.v1 import engine_pb2, rollout_pb2, rules_pb2

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from bgserver_client._requests import (
        DepthLike,
        DiceLike,
        JudgeLike,
        PlayerLike,
        PositionLike,
        VariantLike,
    )
    from bgserver_client._rollouts import RolloutArguments, RolloutKindLike, RolloutLevelsLike


class EngineMethods(Connection):
    """What the engine thinks of positions; a part of `Client`."""

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
        level: DepthLike = "static",
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
        truncate_level: DepthLike = "static",
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
            min_trials: Trials before the two limits below may end anything; needs one of them.
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
