"""Built-in problems of benchmarks: a configuration without settings for each problem of `configs.toml`."""

import tomllib
from pathlib import Path

import attrs

_PROBLEMS = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))

for _module, _texts in _PROBLEMS.items():
    for _name, _text in _texts.items():
        _own = {"__doc__": _text, "__module__": __name__, "implementation": f".{_module}:{_name}"}
        globals()[f"{_name}Config"] = attrs.frozen(kw_only=True)(type(f"{_name}Config", (), _own))
