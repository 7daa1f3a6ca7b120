"""Compute which share of the relevant documents each stage left and lost, for the chart of a report."""

from __future__ import annotations

from math import isnan
from typing import TYPE_CHECKING

import numpy as np

from retrieval_metrics.evaluation.evaluation_wording import LOSS_LABELS, format_stage_flow
from retrieval_metrics.evaluation.explainer import target_of_metric
from retrieval_metrics.evaluation.stage_losses import (
    BELOW_CUTOFF,
    CUTOFF_FULL,
    DROPPED,
    FOUND,
    NOT_RETRIEVED,
    RETRIEVER_ERROR,
    find_stage_sources,
    judge_stages,
    loss_column,
    loss_shares,
)
from retrieval_metrics.reports.charts import StageFlow, StageLoss, StageShares

if TYPE_CHECKING:
    from collections.abc import Mapping

    from retrieval_metrics.evaluation.scores import Scores
    from retrieval_metrics.metrics.base.metric import Metric


def find_stage_flow(scores: Scores, metric: Metric) -> StageFlow | None:
    """Return the share of needed documents that are left after each stage, and what each stage lost.

    None if the run does not tell its stages, or nothing is needed.
    """
    stages = judge_stages(scores)
    if not stages:
        return None
    sources = find_stage_sources(scores)
    target = target_of_metric(metric)
    shares = {}
    for column, values in loss_shares(scores, target, sources).items():
        shares[column] = float(np.nanmean(values))
    share_found = shares[FOUND]
    if isnan(share_found):
        return None
    never_held = [StageLoss(LOSS_LABELS[fate], shares[fate]) for fate in (NOT_RETRIEVED, RETRIEVER_ERROR)]
    share_left = 1 - sum(loss.share for loss in never_held)
    stage_shares = [StageShares(", ".join(sources.names), share_left, never_held)]
    for stage in stages:
        losses = _list_losses(stage.name, shares)
        share_left -= sum(loss.share for loss in losses)
        if losses:
            stage_shares.append(StageShares(stage.name, share_left, losses))
    if shares.get(CUTOFF_FULL):
        loss = StageLoss(LOSS_LABELS[CUTOFF_FULL], shares[CUTOFF_FULL])
        stage_shares.append(StageShares(f"top {metric.k}", share_found, [loss]))
    unit = scores.require_origin("drawn").judged.qrels.unit
    title = format_stage_flow(share_found, unit, one_suffices=target.one_suffices)
    return StageFlow(title, stage_shares)


def _list_losses(stage: str, shares: Mapping[str, float]) -> list[StageLoss]:
    """Return what a stage lost, by fate; nothing for a stage that can lose nothing."""
    losses = []
    for fate in (DROPPED, BELOW_CUTOFF):
        share = shares.get(loss_column(fate, stage))
        if share is not None:
            losses.append(StageLoss(LOSS_LABELS[fate], share))
    return losses
