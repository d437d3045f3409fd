"""The loop of training that both models share: steps, their rate, the log, the limit of time."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final

import torch
from torch import Tensor, nn

Report = Callable[[str], None]
_LOG_EVERY: Final = 50
_WARM_SHARE: Final = 0.06
_NEW_TIMES: Final = 10
_GRADIENT_MAX: Final = 1.0


def descend(
    model: nn.Module,
    loss_of_next: Callable[[], Tensor],
    *,
    steps: int,
    rate: float,
    minutes_max: float,
    report: Report,
) -> None:
    """
    Train *model* in place for *steps*, or as long as *minutes_max* allows.

    Args:
        model: Its part named ``encoder`` is the published model.
        loss_of_next: Returns the loss of the next step's batch.
        steps: How many steps the rate is planned for.
        rate: The highest rate of what was published.
        minutes_max: After so long it stops, which is reported.
        report: Told the mean loss of every `_LOG_EVERY` steps.
    """
    optimiser = _optimiser_of(model, rate)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimiser, lambda step: _share_at(step, steps))
    began, lost = time.monotonic(), 0.0
    model.train()
    for step in range(1, steps + 1):
        if time.monotonic() - began > minutes_max * 60:
            report(f"stopped after {step - 1} of {steps} steps")
            return
        loss = loss_of_next()
        optimiser.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), _GRADIENT_MAX)
        optimiser.step()
        schedule.step()
        lost += float(loss.detach())
        if step % _LOG_EVERY == 0:
            spent = time.monotonic() - began
            report(f"step {step} of {steps}, loss {lost / _LOG_EVERY:.3f}, {spent:.0f} s")
            lost = 0.0


def _optimiser_of(model: nn.Module, rate: float) -> torch.optim.Optimizer:
    """Return AdamW; what was published moves slowly, new layers fast, words not at all."""
    named = list(model.named_parameters())
    new = [value for name, value in named if not name.startswith("encoder.")]
    old = [value for name, value in named if name.startswith("encoder.layers")]
    groups = [{"params": old, "lr": rate}, {"params": new, "lr": _NEW_TIMES * rate}]
    return torch.optim.AdamW([each for each in groups if each["params"]], weight_decay=0.01)


def _share_at(step: int, steps: int) -> float:
    """Return the share of the rate at a step: it rises to 1, then falls to 0 in a line."""
    warm = max(1, int(steps * _WARM_SHARE))
    return min((step + 1) / warm, max(0.0, (steps - step) / max(1, steps - warm)))
