"""Runs in an environment of mjlab: steps a task at random, and writes its states and the values of all its terms.

mjlab reads places and velocities of bodies one physics step late where it computes rewards and ends; and one control
step late heights over the ground, and where a motion is moved to. To compare terms, and not times, each physics step
here is followed by `forward`, `sense` and `update_relative_body_poses`.

    python mjlab_states.py TASK OUT.npz WORLDS STEPS [MOTION.npz]
"""

import sys

import mujoco_warp
import numpy as np
import torch
import warp as wp
from mjlab.envs import ManagerBasedRlEnv
from mjlab.tasks.registry import load_env_cfg

KEPT_EVENTS = ("reset_base", "reset_robot_joints", "encoder_bias", "reset_slider", "reset_hinge")
"""Others change the model, or the state after the rewards of a step."""


def contacts_of(env):
    """Return the contacts that touch: world, two geoms, place, normal, distance, and the force on the second geom."""
    data = env.sim.wp_data
    count = int(data.nacon.numpy()[0])
    forces = wp.zeros(max(count, 1), dtype=wp.spatial_vector)
    ids = wp.array(np.arange(max(count, 1)), dtype=int)
    mujoco_warp.contact_force(env.sim.wp_model, data, ids, True, forces)
    return {
        "world": data.contact.worldid.numpy()[:count],
        "geoms": data.contact.geom.numpy()[:count],
        "place": data.contact.pos.numpy()[:count],
        "normal": data.contact.frame.numpy()[:count, 0],
        "distance": data.contact.dist.numpy()[:count],
        "force": forces.numpy()[:count, :3],
    }


class Recorder:
    """The environment, with what it computes at each step."""

    def __init__(self, task, worlds, motion):
        config = load_env_cfg(task)
        config.scene.num_envs, config.seed, config.auto_reset = worlds, 3, False
        config.events = {name: term for name, term in config.events.items() if name in KEPT_EVENTS}
        config.curriculum, config.decimation = (
            {},
            1,
        )  # contacts are read once in a control step by one, and not by the other
        for group in config.observations.values():
            group.enable_corruption = False
        if motion:
            config.commands["motion"].motion_file, config.commands["motion"].sampling_mode = motion, "start"
        self.env = env = ManagerBasedRlEnv(config, device="cpu")
        self.kept = {}
        step = env.sim.step

        def whole_step():
            step()
            env.sim.forward()
            env.sim.sense()
            for name in getattr(env.command_manager, "active_terms", ()):
                term = env.command_manager.get_term(name)
                if hasattr(term, "update_relative_body_poses"):
                    term.update_relative_body_poses()
            self.note_physics()

        env.sim.step = whole_step

    def note(self, name, value):
        """Keep a copy of an array under a name."""
        value = value.detach().cpu().numpy() if isinstance(value, torch.Tensor) else np.asarray(value)
        self.kept.setdefault(name, []).append(value.copy())

    def note_physics(self):
        """Keep the state and the contacts."""
        data = self.env.sim.data
        self.note("qpos", data.qpos[:])
        self.note("qvel", data.qvel[:])
        found = contacts_of(self.env)
        self.note("contact_count", len(found["world"]))
        for name, values in found.items():
            self.note(f"contacts/{name}", values)

    def note_observations(self):
        """Keep what a policy would see, and the commands."""
        env, manager = self.env, self.env.observation_manager
        for group, names in manager.active_terms.items():
            widths = [int(np.prod(shape)) for shape in manager.group_obs_term_dim[group]]
            parts = torch.split(env.obs_buf[group], widths, dim=1)
            for name, values in zip(names, parts, strict=True):
                self.note(f"observations/{group}/{name}", values)
        for name in getattr(env.command_manager, "active_terms", ()):
            term = env.command_manager.get_term(name)
            self.note(f"commands/{name}", term.command)
            for part in ("heading_target", "is_heading_env", "is_standing_env", "time_steps"):
                if hasattr(term, part):
                    self.note(f"commands/{name}/{part}", getattr(term, part))

    def run(self, steps):
        """Take steps with actions that change slowly, larger and larger, so that robots walk, jump and fall."""
        env = self.env
        env.reset()
        self.note_physics()
        self.note_observations()
        generator = np.random.default_rng(5)
        action = np.zeros((env.num_envs, env.action_manager.total_action_dim), dtype=np.float32)
        for step in range(steps):
            action = 0.8 * action + (0.2 + 0.8 * step / steps) * generator.normal(size=action.shape)
            self.note("action", action.astype(np.float32))
            env.step(torch.tensor(action, dtype=torch.float32))
            env._manual_reset_pending[:] = False  # the state goes on after an end
            rewards = env.reward_manager
            for column, name in enumerate(rewards.active_terms):
                self.note(f"rewards/{name}", rewards._step_reward[:, column])
            for name in env.termination_manager.active_terms:
                self.note(f"terminations/{name}", env.termination_manager.get_term(name))
            if getattr(env.metrics_manager, "active_terms", ()):
                for column, name in enumerate(env.metrics_manager.active_terms):
                    self.note(f"metrics/{name}", env.metrics_manager._step_values[:, column])
            self.note("targets", env.sim.data.ctrl[:])
            self.note_observations()

    def write(self, path):
        """Write all of it, and the names of the parts."""
        model = self.env.sim.mj_model
        names = {
            "joints": [model.joint(index).name for index in range(model.njnt)],
            "geoms": [model.geom(index).name for index in range(model.ngeom)],
            "bodies": [model.body(index).name for index in range(model.nbody)],
            "geom_body": model.geom_bodyid,
            "actuators": [model.actuator(index).name for index in range(model.nu)],
            "origins": self.env.scene.env_origins.cpu().numpy(),
        }
        arrays = {
            name: np.concatenate(rows) if name.startswith("contacts/") else np.array(rows)
            for name, rows in self.kept.items()
        }
        robot = next(each for label, each in self.env.scene.entities.items() if label != "terrain")
        np.savez(path, **names, **arrays, bias=robot.data.encoder_bias.cpu().numpy())


if __name__ == "__main__":
    task, out, worlds, steps, *motion = sys.argv[1:]
    recorder = Recorder(task, int(worlds), motion[0] if motion else "")
    recorder.run(int(steps))
    recorder.write(out)
