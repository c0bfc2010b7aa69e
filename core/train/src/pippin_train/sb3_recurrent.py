"""PPO of sb3-contrib with recurrent layers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from sb3_contrib import RecurrentPPO

from .sb3 import Sb3Learner, ppo_settings
from .torch_layers import layers_of, recurrent_of


class TrainerSB3Recurrent(Sb3Learner):
    """A recurrent PPO of sb3-contrib, one rollout and one update at a time."""

    def _make(self, env: Any, settings: dict[str, Any], network: dict[str, Any]) -> Any:
        config = self._config
        network["log_std_init"] = float(np.log(config.std))
        network |= {"lstm_hidden_size": config.lstm_hidden_size, "n_lstm_layers": config.n_lstm_layers}
        own = {**settings, **ppo_settings(config, self._steps), **config.options}
        return RecurrentPPO("MlpLstmPolicy", env, policy_kwargs=network, **own)

    def write_policy(self, path: Path) -> None:
        """Write the mean action."""
        policy = self._model.policy
        pairs = [*layers_of(policy.mlp_extractor.policy_net), *layers_of([policy.action_net])]
        self._write(path, pairs, recurrent=recurrent_of(policy.lstm_actor))
