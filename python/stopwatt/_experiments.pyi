"""Experiments, each with its settings. Written by python/stubs.py from the experiments' descriptions."""

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any, Literal, Optional, Union, overload

from . import findings
from ._recording import Recording

Path = Union[str, os.PathLike[str], Recording]

def settings_of(given: Mapping[str, object]) -> list[tuple[str, str]]: ...
def written(given: Mapping[str, object]) -> AbstractContextManager[dict[str, object]]: ...

class Experiment:
    name: str
    title: str
    cases: list[str]
    worlds: list[str]
    settings: dict[str, dict[str, Any]]
    def __call__(self, **settings: Any) -> Recording: ...

class _PsciLatencyRecording(Recording):
    @property
    def findings(self) -> findings.PsciLatency: ...

class _PsciCallsRecording(Recording):
    @property
    def findings(self) -> findings.PsciCalls: ...

class _LinuxBootRecording(Recording):
    @property
    def findings(self) -> findings.LinuxBoot: ...

class _DataplaneRecording(Recording):
    @property
    def findings(self) -> findings.Dataplane: ...

class _PrefetchRecording(Recording):
    @property
    def findings(self) -> findings.Prefetch: ...

class _BatchRecording(Recording):
    @property
    def findings(self) -> Union[findings.Batch, findings.WorkingSet]: ...

class _TuneRecording(Recording):
    @property
    def findings(self) -> findings.Tune: ...

class _IdleReplayRecording(Recording):
    @property
    def findings(self) -> findings.IdleReplay: ...

class _IdleClockRecording(Recording):
    @property
    def findings(self) -> findings.IdleClock: ...

class _RcuEnergyRecording(Recording):
    @property
    def findings(self) -> findings.RcuEnergy: ...

class _PlacementRecording(Recording):
    @property
    def findings(self) -> Union[findings.EasEnergy, findings.Placement]: ...

@overload
def run(
    experiment: Literal["psci-latency"],
    *,
    world: Optional[str] = None,
    settings: Optional[Mapping[str, object]] = None,
    progress: object = None,
    **more: object,
) -> _PsciLatencyRecording: ...

@overload
def run(
    experiment: Literal["psci-calls"],
    *,
    world: Optional[str] = None,
    settings: Optional[Mapping[str, object]] = None,
    progress: object = None,
    **more: object,
) -> _PsciCallsRecording: ...

@overload
def run(
    experiment: Literal["linux-boot"],
    *,
    world: Optional[str] = None,
    settings: Optional[Mapping[str, object]] = None,
    progress: object = None,
    **more: object,
) -> _LinuxBootRecording: ...

@overload
def run(
    experiment: Literal["dataplane"],
    *,
    world: Optional[str] = None,
    settings: Optional[Mapping[str, object]] = None,
    progress: object = None,
    **more: object,
) -> _DataplaneRecording: ...

@overload
def run(
    experiment: Literal["prefetch"],
    *,
    world: Optional[str] = None,
    settings: Optional[Mapping[str, object]] = None,
    progress: object = None,
    **more: object,
) -> _PrefetchRecording: ...

@overload
def run(
    experiment: Literal["batch"],
    *,
    world: Optional[str] = None,
    settings: Optional[Mapping[str, object]] = None,
    progress: object = None,
    **more: object,
) -> _BatchRecording: ...

@overload
def run(
    experiment: Literal["tune"],
    *,
    world: Optional[str] = None,
    settings: Optional[Mapping[str, object]] = None,
    progress: object = None,
    **more: object,
) -> _TuneRecording: ...

@overload
def run(
    experiment: Literal["idle-replay"],
    *,
    world: Optional[str] = None,
    settings: Optional[Mapping[str, object]] = None,
    progress: object = None,
    **more: object,
) -> _IdleReplayRecording: ...

@overload
def run(
    experiment: Literal["idle-clock"],
    *,
    world: Optional[str] = None,
    settings: Optional[Mapping[str, object]] = None,
    progress: object = None,
    **more: object,
) -> _IdleClockRecording: ...

@overload
def run(
    experiment: Literal["rcu-energy"],
    *,
    world: Optional[str] = None,
    settings: Optional[Mapping[str, object]] = None,
    progress: object = None,
    **more: object,
) -> _RcuEnergyRecording: ...

@overload
def run(
    experiment: Literal["placement"],
    *,
    world: Optional[str] = None,
    settings: Optional[Mapping[str, object]] = None,
    progress: object = None,
    **more: object,
) -> _PlacementRecording: ...

@overload
def run(
    experiment: str,
    *,
    world: Optional[str] = None,
    settings: Optional[Mapping[str, object]] = None,
    progress: object = None,
    **more: object,
) -> Recording: ...

class _PsciLatency(Experiment):
    def __call__(  # type: ignore[override]
        self,
        *,
        world: Optional[Literal["sim", "qemu"]] = None,
        platform: Optional[Path] = None,
        release: Optional[Union[str, Sequence[str]]] = None,
        set: Optional[Union[str, Sequence[str], Mapping[str, object]]] = None,
        seed: Optional[int] = None,
        iterations: Optional[int] = None,
        free_seeds: Optional[int] = None,
        order: Optional[Union[str, float, Sequence[Union[str, float]]]] = None,
        case: Optional[Union[str, float, Sequence[Union[str, float]]]] = None,
        mode: Optional[Literal["parallel", "serial"]] = None,
        cpus: Optional[int] = None,
        gic: Optional[Literal["2", "3"]] = None,
        virtualization: Optional[bool] = None,
        settings: Optional[Mapping[str, object]] = None,
        progress: object = None,
    ) -> _PsciLatencyRecording: ...

class _PsciCalls(Experiment):
    def __call__(  # type: ignore[override]
        self,
        *,
        world: Optional[Literal["qemu"]] = None,
        cpus: Optional[int] = None,
        gic: Optional[Literal["2", "3"]] = None,
        virtualization: Optional[bool] = None,
        cpu: Optional[Union[str, float, Sequence[Union[str, float]]]] = None,
        count: Optional[int] = None,
        firmware: Optional[Path] = None,
        firmware_at: Optional[Union[str, float, Sequence[Union[str, float]]]] = None,
        payload_in_memory: Optional[bool] = None,
        payload_offset: Optional[Union[str, float, Sequence[Union[str, float]]]] = None,
        by_function: Optional[bool] = None,
        symbols: Optional[Path] = None,
        standby_state: Optional[Union[str, float, Sequence[Union[str, float]]]] = None,
        power_down_state: Optional[Union[str, float, Sequence[Union[str, float]]]] = None,
        settings: Optional[Mapping[str, object]] = None,
        progress: object = None,
    ) -> _PsciCallsRecording: ...

class _LinuxBoot(Experiment):
    def __call__(  # type: ignore[override]
        self,
        *,
        world: Optional[Literal["qemu"]] = None,
        cpus: Optional[int] = None,
        gic: Optional[Literal["2", "3"]] = None,
        virtualization: Optional[bool] = None,
        cpu: Optional[Union[str, float, Sequence[Union[str, float]]]] = None,
        cycles: Optional[int] = None,
        stay: Optional[int] = None,
        suspend_mode: Optional[Literal["platform", "os-initiated"]] = None,
        cache: Optional[Path] = None,
        kernel: Optional[Union[str, float, Sequence[Union[str, float]]]] = None,
        trace: Optional[Path] = None,
        governor: Optional[Literal["menu", "ladder", "teo"]] = None,
        workload: Optional[Literal["mixed", "idle", "hackbench", "sqlite", "fio"]] = None,
        trace_seconds: Optional[int] = None,
        settings: Optional[Mapping[str, object]] = None,
        progress: object = None,
    ) -> _LinuxBootRecording: ...

class _Dataplane(Experiment):
    def __call__(  # type: ignore[override]
        self,
        *,
        world: Optional[Literal["host"]] = None,
        graph: Optional[Union[str, float, Sequence[Union[str, float]]]] = None,
        nodes: Optional[Union[str, float, Sequence[Union[str, float]]]] = None,
        patience: Optional[int] = None,
        windows: Optional[int] = None,
        window: Optional[int] = None,
        frame_size: Optional[Union[str, float, Sequence[Union[str, float]]]] = None,
        loop: Optional[Literal["single", "dual", "quad"]] = None,
        strides: Optional[Union[str, float, Sequence[Union[str, float]]]] = None,
        buffers: Optional[int] = None,
        hot: Optional[bool] = None,
        routes: Optional[int] = None,
        outputs: Optional[int] = None,
        flows: Optional[int] = None,
        no_checksum: Optional[bool] = None,
        workers: Optional[int] = None,
        receive: Optional[Path] = None,
        trace: Optional[int] = None,
        counters: Optional[Literal["hardware", "software", "none"]] = None,
        settings: Optional[Mapping[str, object]] = None,
        progress: object = None,
    ) -> _DataplaneRecording: ...

class _Prefetch(Experiment):
    def __call__(  # type: ignore[override]
        self,
        *,
        world: Optional[Literal["host", "sim"]] = None,
        platform: Optional[Path] = None,
        seed: Optional[int] = None,
        frame_size: Optional[Union[str, float, Sequence[Union[str, float]]]] = None,
        frames: Optional[int] = None,
        repetitions: Optional[int] = None,
        buffers: Optional[int] = None,
        rounds: Optional[int] = None,
        in_frame: Optional[bool] = None,
        work: Optional[Literal["chained", "independent"]] = None,
        header_in: Optional[Literal["l2", "llc", "dram"]] = None,
        data_in: Optional[Literal["l2", "llc", "dram"]] = None,
        settings: Optional[Mapping[str, object]] = None,
        progress: object = None,
    ) -> _PrefetchRecording: ...

class _Batch(Experiment):
    def __call__(  # type: ignore[override]
        self,
        *,
        world: Optional[Literal["host", "sim"]] = None,
        platform: Optional[Path] = None,
        buffer_bytes: Optional[int] = None,
        frame_size: Optional[Union[str, float, Sequence[Union[str, float]]]] = None,
        frames: Optional[int] = None,
        repetitions: Optional[int] = None,
        buffers: Optional[int] = None,
        rounds: Optional[int] = None,
        in_frame: Optional[bool] = None,
        work: Optional[Literal["chained", "independent"]] = None,
        header_in: Optional[Literal["l2", "llc", "dram"]] = None,
        data_in: Optional[Literal["l2", "llc", "dram"]] = None,
        settings: Optional[Mapping[str, object]] = None,
        progress: object = None,
    ) -> _BatchRecording: ...

class _Tune(Experiment):
    def __call__(  # type: ignore[override]
        self,
        *,
        world: Optional[Literal["host"]] = None,
        loop: Optional[Path] = None,
        name: Optional[Union[str, float, Sequence[Union[str, float]]]] = None,
        batch: Optional[int] = None,
        rounds: Optional[int] = None,
        memory: Optional[int] = None,
        patience: Optional[int] = None,
        results_may_differ: Optional[bool] = None,
        small_pages: Optional[bool] = None,
        settings: Optional[Mapping[str, object]] = None,
        progress: object = None,
    ) -> _TuneRecording: ...

class _IdleReplay(Experiment):
    def __call__(  # type: ignore[override]
        self,
        *,
        world: Optional[Literal["sim"]] = None,
        trace: Optional[Path] = None,
        platform: Optional[Path] = None,
        governors: Optional[Union[str, float, Sequence[Union[str, float]]]] = None,
        hz: Optional[int] = None,
        latency_limit: Optional[Union[str, float, Sequence[Union[str, float]]]] = None,
        disable: Optional[Union[str, float, Sequence[Union[str, float]]]] = None,
        domain_governor: Optional[Union[str, float, Sequence[Union[str, float]]]] = None,
        settings: Optional[Mapping[str, object]] = None,
        progress: object = None,
    ) -> _IdleReplayRecording: ...

class _IdleClock(Experiment):
    def __call__(  # type: ignore[override]
        self,
        *,
        world: Optional[Literal["host", "sim"]] = None,
        trace: Optional[Path] = None,
        threads: Optional[int] = None,
        rounds: Optional[int] = None,
        reads: Optional[int] = None,
        platform: Optional[Path] = None,
        governors: Optional[Union[str, float, Sequence[Union[str, float]]]] = None,
        hz: Optional[int] = None,
        seed: Optional[int] = None,
        settings: Optional[Mapping[str, object]] = None,
        progress: object = None,
    ) -> _IdleClockRecording: ...

class _RcuEnergy(Experiment):
    def __call__(  # type: ignore[override]
        self,
        *,
        world: Optional[Literal["sim"]] = None,
        platform: Optional[Path] = None,
        draws: Optional[int] = None,
        full: Optional[bool] = None,
        benchmarks: Optional[Union[str, float, Sequence[Union[str, float]]]] = None,
        set: Optional[Union[str, Sequence[str], Mapping[str, object]]] = None,
        part: Optional[Union[str, float, Sequence[Union[str, float]]]] = None,
        ranges: Optional[Path] = None,
        settings: Optional[Mapping[str, object]] = None,
        progress: object = None,
    ) -> _RcuEnergyRecording: ...

class _Placement(Experiment):
    def __call__(  # type: ignore[override]
        self,
        *,
        world: Optional[Literal["sim"]] = None,
        workload: Optional[Path] = None,
        platform: Optional[Path] = None,
        idle: Optional[Path] = None,
        policies: Optional[Union[str, float, Sequence[Union[str, float]]]] = None,
        frequency: Optional[Literal["highest", "schedutil"]] = None,
        rcu: Optional[Literal["ordinary", "offloaded"]] = None,
        seconds: Optional[int] = None,
        seeds: Optional[int] = None,
        seed: Optional[int] = None,
        round_trip: Optional[int] = None,
        latency_limit: Optional[int] = None,
        disable: Optional[Union[str, float, Sequence[Union[str, float]]]] = None,
        operating_points: Optional[bool] = None,
        memory_bytes_per_us: Optional[int] = None,
        device_bytes_per_us: Optional[int] = None,
        set: Optional[Union[str, Sequence[str], Mapping[str, object]]] = None,
        tasks: Optional[Union[str, float, Sequence[Union[str, float]]]] = None,
        duty: Optional[int] = None,
        period: Optional[int] = None,
        rules: Optional[Union[str, float, Sequence[Union[str, float]]]] = None,
        full: Optional[bool] = None,
        settings: Optional[Mapping[str, object]] = None,
        progress: object = None,
    ) -> _PlacementRecording: ...

class Experiments(Mapping[str, Experiment]):
    @property
    def psci_latency(self) -> _PsciLatency: ...
    @property
    def psci_calls(self) -> _PsciCalls: ...
    @property
    def linux_boot(self) -> _LinuxBoot: ...
    @property
    def dataplane(self) -> _Dataplane: ...
    @property
    def prefetch(self) -> _Prefetch: ...
    @property
    def batch(self) -> _Batch: ...
    @property
    def tune(self) -> _Tune: ...
    @property
    def idle_replay(self) -> _IdleReplay: ...
    @property
    def idle_clock(self) -> _IdleClock: ...
    @property
    def rcu_energy(self) -> _RcuEnergy: ...
    @property
    def placement(self) -> _Placement: ...
    def __getitem__(self, name: str) -> Experiment: ...
    def __iter__(self) -> Iterator[str]: ...
    def __len__(self) -> int: ...

def experiments() -> Experiments: ...
