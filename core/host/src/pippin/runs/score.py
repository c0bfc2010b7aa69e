"""The score of a task in words: returns, lengths and ends of its episodes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def score_text(score: Mapping[str, Any], control_dt: float) -> str:
    """Return a score in words, given the length of a control step [s]."""
    counts = {"time": score["timed_out"], **score["terminations"], "diverged": score["diverged"]}
    ends = ", ".join(f"{name} {count}" for name, count in counts.items() if count)
    running, texts = score["unfinished"], [] if score["episodes"] else ["no episode has ended"]
    if score["episodes"]:
        spread = f"{score['mean_return']:.4g} ± {score['std_return']:.2g}"
        if score["mean_return_half_width"] is not None:
            spread += f" (the mean ± {score['mean_return_half_width']:.2g} at 95 %)"
        texts = [f"mean return {spread}, mean length {score['mean_length'] * control_dt:.4g} s"]
        texts += [f"episodes that ended: {score['episodes']:,} ({ends})"]
        for label, each in score["metrics"].items():
            width = "" if each["half_width"] is None else f" ± {each['half_width']:.2g}"
            texts.append(f"{label} {each['mean']:.4g}{width}")
    if running["episodes"]:
        length = running["mean_length"] * control_dt
        so_far = f"mean return {running['mean_return']:.4g} so far, after {length:.4g} s"
        texts.append(f"that run on: {running['episodes']:,} ({so_far})")
    return "; ".join(texts)
