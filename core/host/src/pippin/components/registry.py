"""The components of one simulation: plugin objects in their own plugin manager, in the order of the file."""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from typing import Any

import attrs
import pluggy
from pippin.catalog.entries import Catalog
from pippin.catalog.implementation import ATTRIBUTE
from pippin.config import ComponentConfig, SimulationConfig
from pippin.config.fields import needs_of
from pippin.config.tree import Node, key_text
from pippin.errors import ConfigError, PippinError, PluginError
from pippin.hookspecs import Hooks
from pippin.label_mapping import LabelMapping
from pippin.labels import label_fault
from pippin.support.declaration import Declaration

from .contract import (
    add_own_hooks,
    attribute_faults,
    implementation_fault,
    load_plugin,
    names_of_hooks,
    refuse_arguments,
    release_hooks,
)
from .error_attribution import ErrorAttribution
from .making import make_plugin
from .runtime_attributes import RuntimeAttributes
from .tracing import HookTrace

_WRAPPABLE = (
    "configure_builder",
    "extend_prototype",
    "complete_builder",
    "apply_actuators",
    "before_substep",
    "update_sensors",
)
"""Hooks that the host calls through pluggy if a component wraps them; otherwise it calls each implementation."""

_LOGGER = logging.getLogger(__name__)


class _Manager(pluggy.PluginManager):
    """A manager that looks for hooks where some can be: half of the attributes of an object are Python's own."""

    def parse_hookimpl_opts(self, plugin: object, name: str) -> pluggy.HookimplOpts | None:
        if name.startswith("__") or name in getattr(plugin, "unused_hooks", ()):
            return None
        return super().parse_hookimpl_opts(plugin, name)


class Implementation:
    """One component's answer to a hook, called only with the arguments that it names."""

    def __init__(self, hook: str, owner: str, impl: pluggy.HookImpl, trace: HookTrace | None = None) -> None:
        self._hook = hook
        self._trace = trace
        #: The registered name of the component, such as `actuators:legs`.
        self.owner = owner
        self.component: Any = impl.plugin
        self._function = impl.function
        self._names = (*impl.argnames, *impl.kwargnames)

    def takes(self, argument: str) -> bool:
        """Tell whether the component asks for an argument."""
        return argument in self._names

    def bind(self, **arguments: Any) -> Callable[[], Any]:
        """Return the call with those of `arguments` that the component asks for."""
        call = partial(self._function, **{name: arguments[name] for name in self._names})
        return call if self._trace is None else self._trace.timed(self._hook, self.owner, call)

    def call(self, **arguments: Any) -> Any:
        """Call the component now with those of `arguments` that it asks for, and return its answer."""
        return self.bind(**arguments)()


class Components(Mapping[str, Any]):
    """The components of a simulation by name: `solver`, `actuators:legs`, `sensors:torso`, `plugins:push`.

    Args:
        plugins: Objects made in Python, called after the file's plugins. Without labels, their classes give the labels.
        of_stages: Plugins of USD stages, by table and label: the prim of each, and its configuration.

    Raises:
        PluginError: A plugin cannot be loaded or built, or an object has no hook or an unknown hook.
        ConfigError: A plugin refuses its configuration.
    """

    def __init__(
        self,
        config: SimulationConfig,
        plugins: Sequence[Any] | Mapping[str, Any],
        catalog: Catalog,
        trace: HookTrace | None = None,
        of_stages: Mapping[str, Mapping[str, tuple[str, ComponentConfig]]] | None = None,
    ) -> None:
        #: The record of hook calls, or None.
        self.trace = trace
        #: The plugins that the configuration may choose from.
        self.catalog = catalog
        self.manager = _Manager("pippin")
        self.manager.add_hookspecs(Hooks)
        self._components: dict[str, Any] = {}
        self._implementations: dict[str, tuple[Implementation, ...]] = {}
        stages = of_stages or {}
        self._places = {f"{table}:{label}": f"{of[label][0]}: " for table, of in stages.items() for label in of}
        #: Kind and configuration of each plugin chosen by name, in the file or on a stage, in calling order.
        self.choices = _chosen_plugins(config, catalog, stages)
        self._attributions: dict[str, ErrorAttribution] = {}
        for name, (kind, choice) in self.choices.items():
            attribution_of = partial(self._attribution, tree=config.tree)
            self._components[name], self._attributions[name] = make_plugin(name, kind, choice, catalog, attribution_of)
        for name, table in _tables_in_order(config):
            entry: Any = catalog.tables[name]
            plugin = load_plugin(entry)
            self._attributions[name] = self._attribution(name, plugin, str(entry), config.tree)
            with self._attributions[name].during("__init__"):
                self._components[name] = plugin(table)
        for label, plugin in plugins.items() if isinstance(plugins, Mapping) else ((None, each) for each in plugins):
            cls = type(plugin)
            if label is not None and (fault := label_fault(label)):
                raise ConfigError(f"plugins.{key_text(label)}: {fault}")
            name = self._free_name(label or getattr(plugin, "__name__", cls.__name__).lower())
            self._components[name] = plugin
            self._attributions[name] = self._attribution(name, cls, f"class {cls.__qualname__}", config.tree)
        #: The attributes of each component after `bind`, read at each access.
        self.attributes: Mapping[str, RuntimeAttributes] = {
            name: RuntimeAttributes(each, name, self._attributions[name].during)
            for name, each in self._components.items()
        }
        self._own_hooks = add_own_hooks(self.manager, self._components)
        # pluggy calls the plugin that was registered last first; the calling order shall be the file's.
        for name, component in reversed(self._components.items()):
            self._register(name, component)
        #: The declaration of each component, read once.
        self.declarations = {name: self._declared(name, component) for name, component in self._components.items()}

    def __getitem__(self, name: str) -> Any:
        return self._components[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._components)

    def __len__(self) -> int:
        return len(self._components)

    @property
    def solver(self) -> Any:
        """The component that builds the solver, from the file or made in Python."""
        return self[self.solver_name]

    @property
    def solver_name(self) -> str:
        """The name of the component that builds the solver: `solver`, or `plugins:LABEL`."""
        answer = self.single("build_solver")
        assert answer is not None, "Simulation refuses a configuration without one"
        return answer.owner

    def by_label(self, table: str) -> LabelMapping:
        """Return the components of a table, such as `actuators`, by their label in the file."""
        prefix = f"{table}:"
        return LabelMapping(table, {name.removeprefix(prefix): self[name] for name in self if name.startswith(prefix)})

    def tables(self) -> set[str]:
        """Return the names of the tables of a file that may bring components."""
        return {name for name, each in self.catalog.tables.items() if getattr(each, "is_component", True)}

    def implementations(self, hook: str) -> tuple[Implementation, ...]:
        """Return the implementations of `hook`, in calling order, without wrappers."""
        if hook not in self._implementations:
            impls = [impl for impl in self._hook(hook).get_hookimpls() if not _is_wrapper(impl)]
            self._implementations[hook] = tuple(self._implementation(hook, impl) for impl in reversed(impls))
        return self._implementations[hook]

    def wrappers(self, hook: str) -> list[Implementation]:
        """Return the wrappers of `hook`; if there are any, call the hook through pluggy."""
        impls = [impl for impl in self._hook(hook).get_hookimpls() if _is_wrapper(impl)]
        return [self._implementation(hook, impl) for impl in impls]

    def single(self, hook: str) -> Implementation | None:
        """Return the one component that answers `hook`, or None; two that answer are a `PluginError`."""
        found = self.implementations(hook)
        if len(found) > 1:
            owners = " and ".join(impl.owner for impl in found)
            raise PluginError(f"{hook}: answered by {owners}; exactly one component may")
        return found[0] if found else None

    def call(self, hook: str, without: Collection[Any] = (), **arguments: Any) -> Any:
        """Call a hook through pluggy with its wrappers, leaving out the components in `without`."""
        call = partial(self.manager.subset_hook_caller(hook, without), **arguments)
        if self.trace is not None:
            parts = (*self.wrappers(hook), *self.implementations(hook))
            owners = (part.owner for part in parts if not any(part.component is each for each in without))
            call = self.trace.timed(hook, " > ".join(owners), call)
        return call()

    def call_own(self, hook: str, **arguments: Any) -> Any:
        """Call a hook that a component specifies, and return the answers in calling order.

        Raises:
            PluginError: No component specifies it, or it has other arguments.
        """
        specified = self._hook(hook).spec if hook in self._own_hooks else None
        expected = () if specified is None else specified.argnames
        refuse_arguments(hook, self._own_hooks, expected, arguments)
        return self.call(hook, **arguments)

    def call_each(self, hook: str, **arguments: Any) -> None:
        """Call a build-time hook of each component in turn."""
        if self.wrappers(hook):
            self.call(hook, **arguments)
            return
        for implementation in self.implementations(hook):
            implementation.call(**arguments)

    def eager_reason(self, name: str) -> str | None:
        """Return the reason why the hooks of a component may not be recorded; None if they may be."""
        attributes = self.attributes[name]
        if attributes.is_capturable:
            return None
        reason = attributes.eager_reason
        return f"{name} declares that it is not capturable" + (f": {reason}" if reason else "")

    def guarded(self, name: str, what: str, function: Callable[[], Any]) -> Callable[[], Any]:
        """Return a function whose exceptions name a component and `what` it was asked for, as those of hooks do."""
        return self._attributions[name].guarded(what, function)

    def during(self, name: str, what: str) -> AbstractContextManager[None]:
        """Return a context in which what is raised names a component and `what` it was asked for.

        The hooks name their component in any case.
        """
        return self._attributions[name].during(what)

    def noted(self) -> set[str]:
        """Return the notes of all components, each after the name of its component."""
        return {f"{name}: {note}" for name, each in self.attributes.items() for note in each.notes}

    def close(self) -> None:
        """Call every `close`, last component first, and then raise all their errors together.

        What a viewer raises is only logged: looking ends no run.

        Raises:
            PluginError: A component raised; its exception is the cause, or a group if several raised.
        """
        errors: list[Exception] = []
        viewers = {answer.owner for answer in self.implementations("frame")}
        if self.trace is not None:
            self.trace.phase = "close"
        for implementation in reversed(self.implementations("close")):
            try:
                implementation.call()
            except Exception as error:
                if implementation.owner in viewers:
                    _LOGGER.warning("%s", error)
                else:
                    errors.append(error)
        release_hooks(self.manager)
        if len(errors) == 1:
            raise errors[0]
        if errors:
            group = ExceptionGroup("components could not be closed", errors)
            raise PluginError(*(line for error in errors for line in str(error).splitlines())) from group

    @contextmanager
    def closed_on_failure(self) -> Iterator[None]:
        """Close the components if the block raises; errors of `close` become notes on that error."""
        try:
            yield
        except BaseException as error:
            try:
                self.close()
            except PippinError as other:
                error.add_note(str(other))
            raise

    def _implementation(self, hook: str, impl: pluggy.HookImpl) -> Implementation:
        return Implementation(hook, impl.plugin_name, impl, self.trace)

    def _attribution(self, name: str, plugin: type, source: str, tree: Node) -> ErrorAttribution:
        table, _, label = name.partition(":")
        key = f"{table}.{key_text(label)}." if label else f"{table}."
        package = plugin.__module__.partition(".")[0]
        return ErrorAttribution(
            owner=name, place=self._places.get(name, key), source=source, package=package, tree=tree
        )

    def _declared(self, name: str, component: Any) -> Declaration:
        if faults := [f"{name}: {fault}" for fault in attribute_faults(type(component))]:
            raise PluginError("\n".join(faults))
        declared = Declaration.of(component, name)
        is_observer = name in self.choices and self.catalog.kind(self.choices[name][0]).is_observer
        return attrs.evolve(declared, is_observer=True) if is_observer else declared

    def _hook(self, name: str) -> pluggy.HookCaller:
        return getattr(self.manager.hook, name)

    def _free_name(self, label: str) -> str:
        taken = sum(name == f"plugins:{label}" or name.startswith(f"plugins:{label}-") for name in self._components)
        return f"plugins:{label}" + (f"-{taken + 1}" if taken else "")

    def _register(self, name: str, component: Any) -> None:
        if isinstance(component, type):
            raise PluginError(f"{name}: is a class, {component!r}; pass an instance of it")
        for other, plugin in self.manager.list_name_plugin():
            if plugin is component:
                raise PluginError(f"{name}: is the same object as {other}; pass another one")
            if plugin == component:
                raise PluginError(
                    f"{name}: equals {other}, and pluggy tells plugins apart by ==;"
                    " decorate its class with @attrs.define(eq=False)"
                )
        try:
            self.manager.register(component, name=name)
        except (pluggy.PluginValidationError, ValueError, TypeError) as error:
            raise PluginError(f"{name}: {' '.join(str(error).split())}") from error
        callers = self.manager.get_hookcallers(component)
        if not callers:
            source = self._attributions[name].source
            cure = "mark its methods with @pippin.hookimpl"
            if isinstance(component, str | int | float | Mapping | Sequence):
                cure = "values of a file are overrides, as in pippin.Simulation.from_file(file, overrides)"
            raise PluginError(f"{name}: {source} answers no hook; {cure}")
        known = [*names_of_hooks(Hooks), *self._own_hooks]
        own = [(hook.name, impl) for hook in callers for impl in hook.get_hookimpls() if impl.plugin is component]
        if faults := list(filter(None, (implementation_fault(hook, impl, known) for hook, impl in own))):
            raise PluginError("\n".join(f"{name}: {fault}" for fault in faults))
        wrapped = [hook.name for hook in callers if any(w.owner == name for w in self.wrappers(hook.name))]
        unheard = [hook for hook in wrapped if hook not in (*_WRAPPABLE, *self._own_hooks)]
        if unheard:
            raise PluginError(
                f"{name}: {unheard[0]!r} cannot be wrapped, it is not called through pluggy;"
                f" hooks that can: {', '.join(_WRAPPABLE)}"
            )
        for hook, impl in own:
            attribution = self._attributions[name]
            guarded = attribution.guarded_wrapper if _is_wrapper(impl) else attribution.guarded
            # Both pluggy and `Implementation` call the function that stands here.
            object.__setattr__(impl, "function", guarded(hook, impl.function))


def _chosen_plugins(
    config: SimulationConfig, catalog: Catalog, of_stages: Mapping[str, Mapping[str, tuple[str, ComponentConfig]]]
) -> dict[str, tuple[str, ComponentConfig]]:
    """Return kind and configuration of each chosen plugin by registered name, in the order of the kinds and the file.

    Observers come last.
    """
    chosen: dict[str, tuple[str, ComponentConfig]] = {}
    for kind in sorted(catalog.kinds.values(), key=lambda each: each.is_observer):
        if kind.table is None or not kind.is_component:
            continue
        choices = config.tables.get(kind.table)
        if kind.is_labelled:
            found = {label: choice for label, (_, choice) in of_stages.get(kind.table, {}).items()}
            every = {**(choices or {}), **found}
            chosen.update({f"{kind.table}:{label}": (kind.name, choice) for label, choice in every.items()})
        elif choices is not None:
            chosen[kind.table] = (kind.name, choices)
    return chosen


def _tables_in_order(config: SimulationConfig) -> Iterator[tuple[str, Any]]:
    """Yield name and object of each table that brings a component, after the tables that it needs.

    Raises:
        ConfigError: A table that another one needs is missing.
    """
    waiting = {name: each for name, each in config.tables.items() if hasattr(type(each), ATTRIBUTE)}
    while waiting:
        name = next(name for name, each in waiting.items() if waiting.keys().isdisjoint(needs_of(type(each))))
        for needed in needs_of(type(waiting[name])):
            if needed not in config.tables:
                raise ConfigError(f"{name}: there is no [{needed}], which it needs; add one, or leave [{name}] out")
        yield name, waiting.pop(name)


def _is_wrapper(impl: pluggy.HookImpl) -> bool:
    return impl.wrapper or impl.hookwrapper
