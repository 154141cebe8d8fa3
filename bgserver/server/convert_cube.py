"""Answers to questions about the cube."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bgserver.engine.cube_advice import BeaverAnswer, CubeAction, TakeAction
from bgserver.engine.cube_rules import RaccoonOwner
from bgserver.server.convert_engine import probabilities_message
from bgserver.server.convert_enums import LEVEL, EnumMap
from bgserver.server.convert_state import dice_message, position_message
from bgserver.v1 import engine_pb2, rules_pb2

if TYPE_CHECKING:
    from bgserver.engine.cube_advice import CubeAdvice
    from bgserver.engine.cube_scores import ScoreTable
    from bgserver.engine.evaluator import Evaluation
    from bgserver.engine.market import MarketLosers

__all__ = ["RACCOON_OWNER", "advice_message", "market_message", "score_table_message"]

_CUBE_ACTION = EnumMap(engine_pb2.CubeAction, CubeAction)
_BEAVER_ANSWER = EnumMap(engine_pb2.BeaverAnswer, BeaverAnswer)
_NO_BEAVER = engine_pb2.BEAVER_ANSWER_UNSPECIFIED
RACCOON_OWNER = EnumMap(rules_pb2.RaccoonOwner, RaccoonOwner)


def advice_message(advice: CubeAdvice, evaluation: Evaluation) -> engine_pb2.AdviseCubeResponse:
    """Advice on the cube."""
    take, passed, beaver = advice.double_take, advice.double_pass, advice.double_beaver
    window, gammons, answer = advice.window, advice.gammons, advice.beaver_answer
    return engine_pb2.AdviseCubeResponse(
        action=_CUBE_ACTION.to_api(advice.action),
        action_text=advice.text,
        no_double_equity=advice.no_double.equity,
        double_take_equity=take.equity if take is not None else None,
        double_pass_equity=passed.equity if passed is not None else None,
        no_double_mwc=advice.no_double.mwc,
        double_take_mwc=take.mwc if take is not None else None,
        double_pass_mwc=passed.mwc if passed is not None else None,
        probabilities=probabilities_message(evaluation.probabilities),
        cubeless_equity=advice.cubeless_equity,
        take_point=window.opponent_take_point,
        cash_point=window.cash_point,
        doubling_point=window.double_point,
        gammon_value=gammons.own_value,
        opponent_gammon_value=gammons.opponent_value,
        refusals=advice.refusals,
        level=LEVEL.to_api(evaluation.level),
        beaver=advice.response is TakeAction.BEAVER,
        double_beaver_equity=beaver.equity if beaver is not None else None,
        dead_cube=advice.is_dead,
        too_good_point=window.too_good_point,
        own_take_point=window.own_take_point,
        gammon_rate=gammons.own_rate,
        opponent_gammon_rate=gammons.opponent_rate,
        preset=evaluation.preset or "",
        beaver_answer=_NO_BEAVER if answer is None else _BEAVER_ANSWER.to_api(answer),
    )


def market_message(losers: MarketLosers, *, replies: bool) -> engine_pb2.MarketLosers:
    """Market losers; with the opponent's rolls if `replies`."""
    return engine_pb2.MarketLosers(
        count=losers.count,
        rolls=[
            engine_pb2.MarketRoll(
                dice=dice_message(roll.dice),
                ways=roll.ways,
                result=position_message(roll.result),
                losing=roll.losing,
                replies=[dice_message(dice) for dice in roll.replies] if replies else None,
            )
            for roll in losers.rolls
        ],
    )


def score_table_message(table: ScoreTable) -> engine_pb2.AdviseCubeByScoreResponse:
    """The cube decisions at every score."""
    return engine_pb2.AdviseCubeByScoreResponse(
        money=_at_score(table.money, 0, 0, crawford=False),
        scores=[
            _at_score(entry.advice, entry.away, entry.opponent_away, crawford=entry.crawford)
            for entry in table.scores
        ],
        probabilities=probabilities_message(table.evaluation.probabilities),
        level=LEVEL.to_api(table.evaluation.level),
        preset=table.evaluation.preset or "",
    )


def _at_score(
    advice: CubeAdvice, away: int, opponent_away: int, *, crawford: bool
) -> engine_pb2.CubeAtScore:
    take, passed = advice.double_take, advice.double_pass
    return engine_pb2.CubeAtScore(
        away=away,
        opponent_away=opponent_away,
        crawford=crawford,
        action=_CUBE_ACTION.to_api(advice.action),
        action_text=advice.text,
        no_double_equity=advice.no_double.equity,
        double_take_equity=take.equity if take is not None else None,
        double_pass_equity=passed.equity if passed is not None else None,
        no_double_mwc=advice.no_double.mwc,
        double_take_mwc=take.mwc if take is not None else None,
        double_pass_mwc=passed.mwc if passed is not None else None,
        dead_cube=advice.is_dead,
    )
