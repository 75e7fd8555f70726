"""What experiments found: the classes of :attr:`stopwatt.Recording.findings`. Written by python/stubs.py from their schema.

A class has the name of its experiment, and its parts begin with that name; parts of several experiments have none before their own. A
field is a key of the JSON that ``stopwatt report --format json`` prints. One whose key is a keyword of Python, such as ``from``, has a
``_`` behind it. One that the JSON leaves out is None, 0 or empty. A number that is not finite is null in JSON, and ``nan`` here. Keys of
an object that differ from recording to recording, such as percentiles, are in ``by_name``.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Optional, Union


@dataclass(frozen=True, kw_only=True)
class PsciLatency:
    """Latencies of PSCI calls. Times are in microseconds."""

    experiment: str
    """The experiment's name."""
    recording: str
    """The recording's folder, as it was named on the command line."""
    cells: list[PsciLatencyCellFacts]
    """Each recorded latency."""
    accuracy: list[PsciLatencyAccuracy]
    """The accuracy of predictions, by release; empty for what was measured."""
    free_running: list[PsciLatencySpread]
    """The scatter of free-running seeds."""
    timer_owners: list[PsciLatencyTimerOwners] = field(default_factory=list)
    """Other sessions that weigh the modes of a release's cells; a release and case that no session speaks of is not among
    them, and has all CPUs alike.
    """
    warnings: list[str] = field(default_factory=list)
    """Doubts about the costs that were used, a sentence each."""


@dataclass(frozen=True, kw_only=True)
class PsciLatencyCellFacts:
    """A cell with what was published, the error, and the causes in microseconds, which add up to the simulated value."""

    release: str
    """The release or configuration."""
    case: str
    """The case."""
    mode: str
    """The mode; may be empty."""
    cluster: int
    """The cluster's number."""
    core: int
    """The core's number in its cluster."""
    cpu: int
    """The CPU's number."""
    role: str
    """The CPU's part, in words."""
    metric: str
    """The interval that was measured."""
    unit: str
    """The unit of the figures: `us` or `ns`."""
    published: Optional[float]
    """The published figure; `None` where none was published."""
    simulated: float
    """The median over the iterations."""
    error_percent: Optional[float]
    """Error against the published figure in percent, signed."""
    used_in_fit: bool
    """True if a fit used the published figure."""
    interval: Optional[tuple[float, float]]
    """Both ends of the 90 % interval in microseconds; `None` where nothing was drawn."""
    iterations: int
    """The number of iterations."""
    min: float
    """The least over the iterations."""
    max: float
    """The greatest over the iterations."""
    causes: dict[str, float]
    """Microseconds by cause."""
    waits: list[PsciLatencyWaitFacts]
    """Waits for other CPUs."""
    modes: list[PsciLatencyMode] = field(default_factory=list)
    """The intervals by who owns the timer, where that decides the figure: the figure if it is not known is that of the
    first.
    """


@dataclass(frozen=True, kw_only=True)
class PsciLatencyWaitFacts:
    """A wait for another CPU."""

    cause: str
    """The cause of the wait."""
    on: int
    """The number of the lock or resource."""
    holder: int
    """The number of the CPU that held it."""
    us: float
    """Length in microseconds."""


@dataclass(frozen=True, kw_only=True)
class PsciLatencyMode:
    """The place of a figure with a probability of 90 %, if one of some CPUs owns the timer that wakes the others."""

    timers: list[str]
    """The CPUs, as cluster.core."""
    weight: float
    """The probability that one of them owns the timer, from 0 to 1."""
    figure: float
    """The figure in microseconds, if the likeliest of them owns it."""
    interval: tuple[float, float]
    """Both ends of the interval in microseconds."""


@dataclass(frozen=True, kw_only=True)
class PsciLatencyAccuracy:
    """Errors of the predicted cells of a release."""

    release: str
    """The release."""
    what: str
    """Which cells, as a table says it."""
    cells: int
    """Number of cells."""
    median_error_percent: float
    """Median of the absolute errors."""
    within_10_percent: int
    """The number of cells whose error is within 10 %, or within half of the last printed digit or a tick of the counter
    where those are more.
    """
    worst_error_percent: float
    """The largest absolute error."""
    guess: Optional[PsciLatencyErrors]
    """Errors over the same cells of what a reader would guess from the tables alone; `None` where the tables do not say
    enough.
    """
    intervals: Optional[PsciLatencyIntervals]
    """The 90 % intervals of the same cells; `None` where nothing was drawn."""


@dataclass(frozen=True, kw_only=True)
class PsciLatencyErrors:
    """Errors over some cells, in percent of the published values."""

    cells: int
    """Number of cells."""
    median_error_percent: float
    """Median of the absolute errors."""
    within_10_percent: int
    """The number of cells whose error is within 10 %, or within half of the last printed digit or a tick of the counter
    where those are more.
    """
    worst_error_percent: float
    """The largest absolute error."""


@dataclass(frozen=True, kw_only=True)
class PsciLatencyIntervals:
    """The counts of intervals that are to hold nine of ten published values."""

    held: int
    """The number that hold the published value."""
    guess_held: Optional[int]
    """The number of the guess's that do; `None` where it has none."""
    width_against_guess: Optional[float]
    """Median of the widths, each as a multiple of that of the guess's."""


@dataclass(frozen=True, kw_only=True)
class PsciLatencySpread:
    """The scatter of free-running seeds: the powerdown of the n-th CPU over all seeds."""

    release: str
    """Release or configuration."""
    case: str
    """Case."""
    seeds: int
    """Number of seeds."""
    powerdown_by_rank: list[PsciLatencyRange]
    """The powerdown of the n-th CPU to finish, in microseconds."""
    orders: int
    """The number of different orders of CPUs that there were."""


@dataclass(frozen=True, kw_only=True)
class PsciLatencyRange:
    """The range of some values."""

    min: float
    """The smallest."""
    median: float
    """The median."""
    max: float
    """The largest."""


@dataclass(frozen=True, kw_only=True)
class PsciLatencyTimerOwners:
    """Sessions of a board other than that of a release, with the CPUs that owned the timer in them."""

    release: str
    """The release or configuration whose modes they weigh."""
    case: str
    """The case."""
    sessions: dict[str, list[str]]
    """Names of the sessions by the CPU, as cluster.core."""


@dataclass(frozen=True, kw_only=True)
class Explore:
    """The exploration: which runs were tried, and what broke."""

    invariant: str
    """The invariant that broke first; empty where nothing broke."""
    what: Optional[str]
    """What broke, in a sentence."""
    operations: Optional[int]
    """Operations of the schedule that breaks it."""
    scenario: list[str]
    """The scenario, in sentences."""
    sentences: list[str]
    """The schedule's deviations from the plainest run, in order."""
    missed: list[str]
    """Loads that missed a newer value, the last first."""
    cause: Optional[str]
    """The cause, in a sentence, where more is known than what broke."""
    causes: list[str]
    """What the run saw that others had stored and that is not usual, what took the place of its own first."""
    coverage: Optional[ExploreCoverage]
    """The reach of the runs; `None` where it was not watched."""
    schedule: Optional[str]
    """The schedule that breaks it; `None` where none is told."""
    schedules_tried: int
    """Schedules that were tried."""
    operations_tried: int
    """Operations over all schedules."""


@dataclass(frozen=True, kw_only=True)
class ExploreCoverage:
    """The reach of an exploration's runs, and what they never did."""

    schedules: int
    """Runs."""
    watched: int
    """Runs in which branches and pairs of operations were watched: one in sixteen."""
    branches: int
    """Branches of the library."""
    taken: int
    """Branches that were taken."""
    both_orders: int
    """Pairs of operations on a word that met in both orders."""
    one_order: int
    """Pairs that met in one order only."""
    never_called: list[str]
    """Functions of the library that were never called, by file."""
    never_taken: list[str]
    """Branches of the other functions that were never taken."""
    one_way: list[str]
    """Some pairs that met in one order only."""
    counted: list[ExploreCoverageItem]
    """Events that are counted in every run, such as calls by outcome."""
    chosen: list[ExploreCoverageItem]
    """The choices of the machine, such as faults of the hardware."""
    curve: list[ExploreGrowth]
    """The reach after some runs."""


@dataclass(frozen=True, kw_only=True)
class ExploreCoverageItem:
    """Something that is counted."""

    group: str
    """The kind of thing: a heading."""
    of: str
    """The call, the domain."""
    what: str
    """Outcome or state that was reached."""
    count: int
    """The number of times."""


@dataclass(frozen=True, kw_only=True)
class ExploreGrowth:
    """The reach after some runs."""

    schedules: int
    """Runs."""
    counted: int
    """Things that are counted in every run."""
    branches: int
    """Branches."""
    both_orders: int
    """Pairs of operations that met in both orders."""


@dataclass(frozen=True, kw_only=True)
class PsciCalls:
    """The instructions of each call."""

    experiment: str
    """The experiment's name."""
    unit: str
    """The unit of all figures: instructions."""
    recording: str
    """The recording's folder, as it was named on the command line."""
    conditions_of_others: Optional[str]
    """The conditions under which other firmware was counted."""
    calls: list[PsciCallsCall]
    """The calls, in the recording's order."""
    by_function: Optional[Functions] = None
    """Counts by function; `None` where none were made."""


@dataclass(frozen=True, kw_only=True)
class PsciCallsCall:
    """A call with the mean instructions of each build: `plain` without stamps and `instrumented` with those that PMF
    serves, or `firmware` for an image of the user's.
    """

    call: str
    """The call's name."""
    others: list[PsciCallsOtherFirmware]
    """Published counts of other firmware."""
    uncertainty: int
    """Instructions by which the counts may be off, either way; 0 where each was counted."""
    by_name: dict[str, float]
    """The values whose keys differ from recording to recording, by key."""


@dataclass(frozen=True, kw_only=True)
class PsciCallsOtherFirmware:
    """The published count of another firmware."""

    implementation: str
    """The firmware's name."""
    build: str
    """The build: `plain` or `instrumented`."""
    low: int
    """The least, or the lower end."""
    high: int
    """The greatest, or the upper end."""


@dataclass(frozen=True, kw_only=True)
class Count:
    """The passages of an image."""

    experiment: str
    """The experiment's name."""
    unit: str
    """The unit of all figures: instructions."""
    recording: str
    """The recording's folder, as it was named on the command line."""
    image: str
    """The image that ran."""
    passage: str
    """The passage's name."""
    passages: int
    """The number of passages."""
    instructions: CountRange
    """Instructions of a passage."""
    lengths: list[CountLength]
    """Numbers of instructions, those that came most often first."""
    by_function: Optional[Functions]
    """Counts by function; `None` where none were made."""


@dataclass(frozen=True, kw_only=True)
class CountRange:
    """Instructions of a passage."""

    least: int
    """The fewest."""
    median: float
    """The median."""
    most: int
    """The most."""


@dataclass(frozen=True, kw_only=True)
class CountLength:
    """A number of instructions, and the passages that took it."""

    instructions: int
    """Instructions of a passage."""
    passages: int
    """The number of passages that took as many."""
    first: int
    """The first of them, from 1."""


@dataclass(frozen=True, kw_only=True)
class Functions:
    """Instructions of passages by function: of calls of firmware, of a function of an image."""

    passages: list[Passage]
    """The passages."""
    by_clock: dict[str, int] = field(default_factory=dict)
    """Calls that were read from the machine's clock, whose instructions were not counted one by one: by how many
    instructions each may be off, either way.
    """
    not_counted: list[str] = field(default_factory=list)
    """Costs that were not counted, a sentence each."""


@dataclass(frozen=True, kw_only=True)
class Passage:
    """The passages of one kind in one build."""

    build: str
    """The build, as the variant of its measures."""
    call: str
    """The call, as the subject of its measure; or the passage between two addresses."""
    calls: int
    """The number of calls that all counts are of together, from 1."""
    functions: list[FunctionCounts]
    """Functions, the one with the most instructions first."""
    stacks: str
    """Instructions by who called whom, the outermost first: lines of names with `;` between them, a blank and the number,
    as tools for flame graphs read them.
    """
    of_others: int = 0
    """Instructions that other CPUs executed meanwhile, of all calls together."""


@dataclass(frozen=True, kw_only=True)
class FunctionCounts:
    """The counts of a function itself, without those that it called."""

    name: str
    """The name."""
    instructions: int
    """Instructions."""
    barriers: int = 0
    """DSB, DMB, ISB and their kin."""
    cache_maintenance: int = 0
    """DC and IC."""
    exception_instructions: int = 0
    """SMC, HVC, SVC, BRK and ERET."""
    exceptions: dict[str, int] = field(default_factory=dict)
    """Exceptions that were taken in it, by kind and origin."""
    loads: int = 0
    """Instructions that read memory."""
    stores: int = 0
    """Instructions that write memory."""
    system_registers: dict[str, int] = field(default_factory=dict)
    """Writes of system registers, by register."""
    translation_maintenance: int = 0
    """TLBI and AT."""
    waits: int = 0
    """WFI and WFE."""


@dataclass(frozen=True, kw_only=True)
class LinuxBoot:
    """A boot of Linux on the firmware."""

    kernel: str
    """The kernel's version."""
    rebooted: bool
    """True if the kernel came up again after a cold and a warm reset."""
    powered_off: bool
    """True if the kernel powered the machine off."""
    trace_lines: int
    """Lines of the kernel's trace."""
    complaints: list[str]
    """What went wrong, a sentence each."""


@dataclass(frozen=True, kw_only=True)
class Dataplane:
    """A graph at full load."""

    threads: list[DataplaneThread]
    """The rate of each worker."""
    drivers: tuple[DataplaneDriver]
    """The driver of the graph's ends."""
    latency_us: DataplaneRounds
    """Times of the graph's rounds."""
    published_nodes: list[DataplanePublishedNode]
    """Published nodes beside ours; only those of the cross connect were published."""
    events_per_packet: dict[str, dict[str, Optional[float]]]
    """Events per packet by node and kind; `None` for a kind that was not counted."""
    graph: str
    """The graph's name."""
    nodes: list[DataplaneNode]
    """The nodes of the graph."""
    errors: list[DataplaneNodeCount]
    """The reasons for which packets ended, and other counts of nodes."""
    clocks_per_packet: float
    """Ticks per packet that came in, in the median window: that with the median of these."""
    mpps: float
    """The rate out in millions of packets per second, in the median window."""
    received_mpps: float
    """The rate in, likewise."""
    windows: Optional[Spread]
    """The rates out of the windows."""
    steadiness: Steadiness
    """Whether the windows agree."""
    counter: str
    """The name of the counter whose ticks are clocks."""
    tick_ns: float
    """Length of a tick of the counter in nanoseconds; 0 where its frequency is not known."""
    checksum_verified: bool
    """True if header checksums were verified."""
    frame_size: int
    """Packets of a frame at most."""
    received: int
    """Packets that were received over the whole run."""
    sent: int
    """Packets that were sent over the whole run."""
    lost: int
    """Packets that were dropped, punted or refused over the whole run."""
    punted: int
    """Packets among them that were handed to the host."""
    recording: str
    """The recording's folder, as it was named on the command line."""


@dataclass(frozen=True, kw_only=True)
class DataplaneThread:
    """A worker of the graph."""

    name: str
    """The worker's name."""
    mpps: float
    """Median of its rate in millions of packets per second."""
    clocks_per_packet: float
    """Median of its ticks per packet."""


@dataclass(frozen=True, kw_only=True)
class DataplaneDriver:
    """A driver of interfaces."""

    name: str
    """Name of the driver."""
    mode: str
    """The mode in which it ran, in words; may be empty."""


@dataclass(frozen=True, kw_only=True)
class DataplaneRounds:
    """Percentiles of the graph's rounds in microseconds, and how many were timed."""

    packets: Optional[float]
    """The number of rounds that were timed; `None` where none were."""
    by_name: dict[str, float]
    """The values whose keys differ from recording to recording, by key."""


@dataclass(frozen=True, kw_only=True)
class DataplanePublishedNode:
    """A published node beside ours. Only the cross connect was published."""

    node: str
    """The published node's name."""
    published_ns: float
    """Published nanoseconds per packet."""
    our_node: str
    """The name of our node that does the same work."""
    ns: float
    """Nanoseconds per packet of our node."""


@dataclass(frozen=True, kw_only=True)
class DataplaneNode:
    """A node in the median window."""

    name: str
    """The node's name."""
    calls: int
    """The number of times that it was called with packets."""
    vectors: int
    """Packets that it took."""
    clocks_per_packet: float
    """Ticks for each packet that it took, at least 0."""
    clocks_of_path: float
    """The same for each packet that came in: its part of the whole path, which leaves out packets that never met it."""
    empty_polls: int
    """The number of times that it found no packets."""


@dataclass(frozen=True, kw_only=True)
class DataplaneNodeCount:
    """Packets that were dropped or punted for a reason, or something else that a node counted."""

    node: str
    """The node's name."""
    reason: str
    """The reason, in the node's words."""
    severity: str
    """The severity of the reason, such as `error`."""
    packets: int
    """The number of packets."""


@dataclass(frozen=True, kw_only=True)
class PrefetchMeasuredStudy:
    """The study on this machine."""

    world: str
    """The world that it ran in, such as `host`."""
    layout: str
    """The layout of the metadata, such as `lanes`."""
    counter: str
    """The name of the counter whose ticks are clocks."""
    tick_ns: float
    """Length of a tick of the counter in nanoseconds; 0 where its frequency is not known."""
    steadiness: Steadiness
    """Whether the machine repeats itself."""
    cells: list[PrefetchCells]
    """The cells of the study, in the order in which they ran."""
    gains: list[PrefetchGain]
    """The gains of each loop."""
    gain_prefetch: Optional[float]
    """The factor by which prefetch speeds up the best of all loops."""
    gain_parallel: Optional[float]
    """The factor by which parallelism speeds up the best of all loops."""
    recording: str
    """The recording's folder, as it was named on the command line."""


@dataclass(frozen=True, kw_only=True)
class PrefetchCells:
    """A cell of the study."""

    loop: str
    """The loop's name, such as `single` or `dual`."""
    stride_first: int
    """Packets ahead at which the first line is prefetched; 0 for no prefetch."""
    stride_second: int
    """Packets ahead at which the second line is prefetched; 0 for no prefetch."""
    frame_size: int
    """Packets of a frame, at least 1."""
    clocks_per_packet: float
    """The median of the repetitions."""
    published_clocks_per_packet: Optional[float]
    """Published ticks per packet; `None` where none were published."""
    published_mpps: Optional[float]
    """Published rate in millions of packets per second; `None` where none was published."""
    mpps: Optional[float]
    """The rate of the whole path, where its rest is known."""
    used_in_fit: bool
    """True if a fit used the published figure."""
    error_percent: Optional[float]
    """Error against the published ticks in percent, signed."""
    stalls: list[PrefetchStall]
    """The accesses at which the core stood still."""


@dataclass(frozen=True, kw_only=True)
class PrefetchStall:
    """Ticks per packet that the core stood still at an access: waiting for its data, or finding no fill buffer free."""

    access: str
    """The access, in words."""
    waited: float
    """Ticks per packet for which the data was waited for, at least 0."""
    blocked: float
    """Ticks per packet for which no fill buffer was free, at least 0."""


@dataclass(frozen=True, kw_only=True)
class PrefetchGain:
    """The parts of a loop's gain. The whole gain is their product."""

    loop: str
    """The loop's name, such as `single` or `dual`."""
    stride_first: int
    """Packets ahead at which the first line is prefetched; 0 for no prefetch."""
    stride_second: int
    """Packets ahead at which the second line is prefetched; 0 for no prefetch."""
    gain_parallel: float
    """Clocks of the single loop without prefetch over those of this loop without prefetch."""
    gain_prefetch: float
    """Clocks of this loop without prefetch over those at its best strides."""
    gain: float
    """Product of both parts: the clocks of the single loop without prefetch over the fewest of this loop."""
    clocks: float
    """Ticks per packet at the best strides."""


@dataclass(frozen=True, kw_only=True)
class PrefetchPredictedStudy:
    """The study on a modelled core."""

    world: str
    """The world that it ran in: `sim`."""
    platform: str
    """The platform's name; empty where it is not known."""
    counter: str
    """The name of the counter whose ticks are clocks."""
    tick_ns: float
    """Length of a tick of the counter in nanoseconds; 0 where its frequency is not known."""
    cells: list[PrefetchCells]
    """The cells of the study, in the order in which they ran."""
    scores: list[PrefetchScore]
    """Errors of the model and of trivial predictors, by loop."""
    rest: Optional[PrefetchRest]
    """Nanoseconds per packet of the path outside of the loop, and the errors of the rates."""
    best: list[PrefetchBestStrides]
    """The best strides of each loop by the model, beside the published ones."""
    gains: list[PrefetchGain]
    """The gains of each loop."""
    gain_prefetch: Optional[float]
    """The factor by which prefetch speeds up the best of all loops."""
    gain_parallel: Optional[float]
    """The factor by which parallelism speeds up the best of all loops."""
    cores: list[PrefetchCores]
    """Several cores at once, each with the best loop."""
    burst_of_eight: list[float]
    """Ticks that each of a burst of eight prefetches finds no fill buffer free."""
    cannot_tell: list[str]
    """The directions that the cells of the fit leave open, as the costs file says."""
    recording: str
    """The recording's folder, as it was named on the command line."""


@dataclass(frozen=True, kw_only=True)
class PrefetchScore:
    """The score of something that predicts a table."""

    loop: str
    """The loop whose table is predicted."""
    predictor: str
    """`model`, or a trivial predictor."""
    fitted: bool
    """True if the table was used in the fit."""
    rms_percent: float
    """Root mean square of the relative errors, in percent."""


@dataclass(frozen=True, kw_only=True)
class PrefetchRest:
    """The path outside of the loop, whose time is the same whatever the strides: what is left of a packet's published time
    without its published clocks. Its mean over the single loop's cells, which the model was fitted to, makes rates of
    modelled clocks.
    """

    ns: float
    """Nanoseconds per packet outside of the loop."""
    ns_over_cells: tuple[float, float]
    """From the least to the greatest over those cells."""
    scores: list[PrefetchScore]
    """Errors of the rates."""


@dataclass(frozen=True, kw_only=True)
class PrefetchBestStrides:
    """The model's best cell of a table, and what the hardware did there."""

    loop: str
    """The loop."""
    predicted: str
    """The strides with the fewest clocks by the model, such as `+4` or `+2/+9`."""
    published: str
    """The strides with the fewest published clocks."""
    cost_percent: float
    """The amount by which the published clocks are more at the model's best than at the published best, in percent."""
    longest_cost_percent: float
    """The same at the longest strides that were tried: what needs no model."""


@dataclass(frozen=True, kw_only=True)
class PrefetchCores:
    """Cores that run the best loop at the same time."""

    cores: int
    """The number of cores, at least 1."""
    clocks_per_packet: float
    """Ticks per packet of each core."""
    rate: float
    """The rate of all of them together, as a multiple of one core's. Where the rest of the path is known, it is part of a
    packet's time.
    """
    memory_busy: float
    """The share of time in which memory is busy."""


@dataclass(frozen=True, kw_only=True)
class WorkingSet:
    """The places of a frame's lines, by the size of a frame and by the number of buffers."""

    platform: str
    """The platform's name."""
    device: str
    """`dram` or `l2`: to where the device writes."""
    l1_bytes: int
    """Size of the first-level data cache in bytes."""
    l2_bytes: int
    """Size of the second-level cache in bytes."""
    frame_sizes: list[WorkingSetWay]
    """Ways with frames of different sizes and the same number of buffers, at each stride."""
    pools: list[WorkingSetWay]
    """Ways with different numbers of buffers and frames of the same size, at each stride."""
    predicted: list[WorkingSetPrediction]
    """The times of nodes as predicted, beside those that were published of this platform; one for each way of writing the
    nodes.
    """


@dataclass(frozen=True, kw_only=True)
class WorkingSetWay:
    """A way through the graph."""

    frame_size: int
    """Packets of a frame, at least 1."""
    pool: int
    """Buffers that go around."""
    buffer_bytes: int
    """Bytes from one buffer to the next."""
    bytes: tuple[int, int, int]
    """Bytes that a frame touches: descriptors, indices, lines."""
    nodes: list[WorkingSetNode]
    """The nodes, in the order in which packets meet them."""


@dataclass(frozen=True, kw_only=True)
class WorkingSetNode:
    """The accesses of a node per packet that do not find their line in L1."""

    node: str
    """The node's name."""
    l2: float
    """Found in L2."""
    memory: float
    """Found in no cache."""
    data: list[WorkingSetData]
    """The same accesses by the kind of data."""


@dataclass(frozen=True, kw_only=True)
class WorkingSetData:
    """The same of one kind of data."""

    kind: str
    """The kind of data, such as `metadata`."""
    l2: float
    """Accesses per packet that are found in L2."""
    memory: float
    """Accesses per packet that are found in no cache."""


@dataclass(frozen=True, kw_only=True)
class WorkingSetPrediction:
    """The times of the nodes of a cross connect."""

    nodes: str
    """`ours`, or `per packet`: written as the published ones are."""
    times: list[WorkingSetNodeTime]
    """The nodes, in the order in which packets meet them."""
    rms_percent: tuple[float, float]
    """Root mean squares of the relative errors in percent: of the prediction, and of times in proportion to instructions."""


@dataclass(frozen=True, kw_only=True)
class WorkingSetNodeTime:
    """The time of a node."""

    node: str
    """The node's name."""
    instructions: float
    """Instructions per packet on aarch64."""
    ns: float
    """Predicted nanoseconds per packet."""
    published_ns: float
    """Published nanoseconds per packet."""
    in_proportion_ns: float
    """The share of all published nanoseconds that the node's share of all instructions gives it."""


@dataclass(frozen=True, kw_only=True)
class Batch:
    """The study of frame sizes."""

    rows: list[BatchRow]
    """The frame sizes, in the order in which they ran."""
    accesses: list[BatchAccess]
    """The kinds of accesses to a cold packet."""
    steadiness: Steadiness
    """Whether the machine repeats itself."""
    counter: str
    """The name of the counter whose ticks are clocks."""
    tick_ns: float
    """Length of a tick of the counter in nanoseconds; 0 where its frequency is not known."""


@dataclass(frozen=True, kw_only=True)
class BatchRow:
    """A frame size."""

    frame_size: int
    """Packets of a frame, at least 1."""
    clocks_per_packet: tuple[float, float]
    """Clocks without prefetch, and with it: medians of the repetitions."""
    outlier: bool
    """True if the repetitions of the row scatter."""
    bytes: tuple[int, int, int, int]
    """Bytes of indices, metadata, header lines, data lines."""
    instruction_bytes: int
    """Bytes of the loop's instructions; 0 where they are not known."""
    published_kb: Optional[tuple[float, float, float]]
    """Published KB of indices, descriptors and buffers."""


@dataclass(frozen=True, kw_only=True)
class BatchAccess:
    """A kind of access to a cold packet, by itself."""

    kind: str
    """The access, in words."""
    quartiles: tuple[float, float, float]
    """The first quartile, the median and the third quartile of its ticks."""
    scatters: bool
    """True if the quartiles lie too far apart for the median to stand for them."""


@dataclass(frozen=True, kw_only=True)
class Tune:
    """The story of a loop."""

    loop: TunedLoop
    """The settings of the run and of its loop."""
    counter: str
    """The name of the counter whose ticks are clocks."""
    tick_ns: float
    """Length of a tick of the counter in nanoseconds; 0 where its frequency is not known."""
    steadiness: Steadiness
    """Whether the machine repeats itself."""
    best: Optional[TuneBest]
    """The best of the largest working set at the batch that was asked for."""
    beside: list[TuneBeside]
    """What stands beside the best, measured in the same rounds: each rule's best."""
    groups: list[TuneGroup]
    """Each working set and batch."""
    cells: list[TunedCell]
    """Each candidate that was compared."""
    recording: str
    """The recording's folder, as it was named on the command line."""


@dataclass(frozen=True, kw_only=True)
class TunedLoop:
    """A loop whose distances and batch were tried."""

    name: str
    """The loop's name."""
    from_: str
    """Origin of the loop: a file, a node, a recipe."""
    processor: str
    """The processor."""
    batch: int
    """Records of a call, where it is not varied."""
    rounds: int
    """Rounds of the last comparison."""
    slices: int
    """Slices that were measured in all."""
    at_the_end: bool
    """True if a distance of the best is the longest that can be tried."""
    is_checked: bool
    """True if it was looked at whether the loop leaves the same results in memory with all values."""
    left_out: list[list[int]]
    """Values with which it leaves others: they were left out."""
    pick: list[int]
    """The values that the search found."""
    beside: list[TunedPlace]
    """What stands beside them."""
    knobs: list[TunedKnob]
    """The loop's knobs."""
    sets: list[TunedSet]
    """The working sets, the largest last."""
    huge: Optional[float] = None
    """The share of the records' memory in huge pages, where the system says it."""


@dataclass(frozen=True, kw_only=True)
class TunedPlace:
    """Values that an engineer would have tried."""

    name: str
    """The rule that they follow; several places may follow one."""
    values: list[int]
    """A value for each knob."""


@dataclass(frozen=True, kw_only=True)
class TunedKnob:
    """A knob of a loop."""

    name: str
    """Name of the knob."""
    is_distance: bool
    """True for a prefetch distance."""
    depth: int
    """Lines that lead to its own."""
    today: int
    """The value in the source today."""
    define: Optional[str] = None
    """The macro in the loop's source."""


@dataclass(frozen=True, kw_only=True)
class TunedSet:
    """A working set."""

    name: str
    """Name of the working set: `warm`, `l2`, `llc`, `memory`."""
    records: int
    """Records of the working set."""
    bytes: int
    """Bytes of the lines that they have."""


@dataclass(frozen=True, kw_only=True)
class TuneBest:
    """The best values, and what is nearly as good."""

    values: list[int]
    """The best value of each knob."""
    clocks: float
    """Ticks per record there."""
    near: list[tuple[int, int]]
    """For each knob the least and the greatest value of a cell within 2 % of the best, the other knobs being as in the
    best.
    """
    none: Optional[float]
    """Ticks per record without prefetch; `None` where that was not measured."""
    today: Optional[float]
    """Ticks per record with the loop's present values; `None` where those were not measured."""
    less_than_today: Optional[TuneLess]
    """How much less the best takes than today's values; `None` where it is today's, or where that cannot be known."""
    is_sure: bool
    """True if nothing that was measured beside it may take less by more than a percent."""
    rival: Optional[TuneRival]
    """What may take less than the best by more than a percent, if anything."""
    defines: list[str]
    """The values that are to be pasted into a source; none unless they surely take less."""


@dataclass(frozen=True, kw_only=True)
class TuneLess:
    """How much less one candidate takes than another, from the rounds in which both were measured."""

    percent: float
    """Clocks less, in percent of the other's: the median over the rounds."""
    interval: tuple[float, float]
    """A 95 % interval of it, of both halves of the rounds where these contradict each other."""
    drifts: bool
    """True if the first half of the rounds and the second one contradict each other: the intervals of both halves have
    nothing in common.
    """


@dataclass(frozen=True, kw_only=True)
class TuneRival:
    """Values that may be better than the best."""

    values: list[int]
    """A value for each knob."""
    less_percent: float
    """Clocks less than the best's at most, in percent: the end of a 95 % interval."""


@dataclass(frozen=True, kw_only=True)
class TuneBeside:
    """A rule that an engineer would follow."""

    name: str
    """The rule."""
    values: list[int]
    """The values that it gives; of several, those that take the least."""
    clocks: float
    """Ticks per record."""
    best_takes_less: Optional[TuneLess]
    """How much less the best takes; `None` where it is the best."""


@dataclass(frozen=True, kw_only=True)
class TuneGroup:
    """A working set with a batch."""

    set: str
    """The working set's name."""
    batch: int
    """Records of a batch, at least 1."""
    values: list[int]
    """The values that take the least of those that were measured there."""
    clocks: float
    """Ticks per record with them."""
    none: Optional[float]
    """Ticks per record without prefetch; `None` where that was not measured."""
    pick: Optional[float]
    """Ticks per record with the best of the search; `None` where that was not measured."""


@dataclass(frozen=True, kw_only=True)
class TunedCell:
    """A candidate, measured."""

    set: str
    """The working set's name."""
    batch: int
    """Records of a batch, at least 1."""
    values: list[int]
    """A value for each knob."""
    clocks: float
    """The median of its rounds. Only cells of one working set and batch have the same rounds."""
    rounds: int
    """The number of rounds that were measured."""


@dataclass(frozen=True, kw_only=True)
class Spread:
    """The range of some values."""

    range: tuple[float, float]
    """The least and the greatest."""
    scatters: bool
    """True if they lie too far apart for one figure."""


@dataclass(frozen=True, kw_only=True)
class IdleReplay:
    """Governors on a trace."""

    intervals: IdleReplayIntervals
    """The idle intervals of the trace."""
    unknown_because: dict[str, Union[float, Range]]
    """Intervals of unknown sleep length, by the reason."""
    kernel_counters: Optional[IdleReplayCounters]
    """The kernel's own counts beside the trace's; `None` where the trace holds none."""
    platform: Optional[str]
    """The platform's name."""
    powers_sourced: bool
    """True if the platform's powers have a source, so that energy says something."""
    own_governor: Optional[str]
    """The traced kernel's own governor, as the rows name it; `None` where the trace does not say it."""
    verdict: IdleReplayVerdict
    """What is said first, with what it rests on."""
    governors: list[IdleReplayGovernor]
    """The governors, with yardsticks and what was recorded."""
    notes: list[str]
    """Sentences that the run left about itself."""
    recording: str
    """The recording's folder, as it was named on the command line."""
    limits: list[IdleReplayLimited] = field(default_factory=list)
    """What limits cost, where governors were replayed under some."""
    power_domains: list[IdleReplayPowerDomain] = field(default_factory=list)
    """Power domains that the operating system switches, by governor of the CPUs."""


@dataclass(frozen=True, kw_only=True)
class IdleReplayIntervals:
    """The idle intervals of the trace, by what is known of their sleep lengths."""

    known: int
    """Intervals whose sleep length is known."""
    bounded: int
    """Intervals whose sleep length has a known bound."""
    unknown: int
    """Intervals of which nothing is known."""


@dataclass(frozen=True, kw_only=True)
class IdleReplayCounters:
    """The kernel's own counts and those of the trace, where the trace holds the kernel's."""

    kernel: IdleReplayCounts
    """The kernel's counts."""
    trace: IdleReplayCounts
    """The trace's counts."""
    tracing_ns: Optional[float]
    """Nanoseconds by which tracing lengthens a stay."""


@dataclass(frozen=True, kw_only=True)
class IdleReplayCounts:
    """Counts of idle states over the same time."""

    entered: Union[float, Range]
    """Entries."""
    above: Union[float, Range]
    """Entries that were too deep."""
    below: Union[float, Range]
    """Entries that were too shallow."""
    rejected: Union[float, Range]
    """Entries that the hardware refused."""
    residency_us: Union[float, Range]
    """Time in microseconds."""


@dataclass(frozen=True, kw_only=True)
class IdleReplayVerdict:
    """What a replay says first. Nothing is claimed that its intervals do not bear."""

    best: Optional[str]
    """The governor that takes least energy where powers have a source, else the one that is wrong least often; `None`
    where none was replayed.
    """
    reference: Optional[str]
    """The governor that it is compared with."""
    less: Optional[Union[float, Range]]
    """The share of the reference's energy that the best takes less, from both ends of what is not known; `None` where
    energy is not compared.
    """
    saving: Optional[Union[float, Range]]
    """The share that is claimed as saved: `less`, if its sign is certain and the replay comes to what the kernel did."""
    is_certain: bool
    """True if the best is better than the reference whatever is not known, and the replay comes to what the kernel did."""
    outside: list[IdleReplayOutside]
    """The states that the traced kernel entered more or less often than its own governor does in the replay. Empty where
    the replay comes to what the kernel did, and where the trace does not name its governor.
    """


@dataclass(frozen=True, kw_only=True)
class IdleReplayOutside:
    """A state that the kernel entered more or less often than a replay."""

    state: str
    """The state's name."""
    recorded: float
    """Entries by the traced kernel."""
    replayed: Union[float, Range]
    """Entries in the replay."""


@dataclass(frozen=True, kw_only=True)
class IdleReplayGovernor:
    """A governor's choices and their cost."""

    name: str
    """The governor's name."""
    states: list[IdleReplayState]
    """The idle states, from shallow to deep."""
    energy_j: Optional[IdleReplayEnds]
    """Energy in joules; `None` where no unit is known in watts."""
    energy_unit_s: Optional[IdleReplayEnds]
    """Energy in units of the platform's table times seconds; `None` without a table."""
    above: Optional[Union[float, Range]]
    """Entries into a state that was too deep; `None` where not counted."""
    below: Optional[Union[float, Range]]
    """Entries into a state that was too shallow; `None` where not counted."""
    above_percent: Optional[Union[float, Range]]
    """Entries into a state that was too deep, in percent of all; `None` where not counted."""
    below_percent: Optional[Union[float, Range]]
    """Entries into a state that was too shallow, in percent of all; `None` where not counted."""
    wrong_percent: Optional[Union[float, Range]]
    """Both together, in percent."""
    delay_us: IdleReplayDelays
    """Delays by exit latencies, in microseconds."""
    wins: dict[str, float]
    """The share of the range of a round trip's cost in which it takes less energy than another governor, by that
    governor's name; from 0 to 1.
    """
    decided_by: list[IdleReplayDecision]
    """The intervals in which it lost most, the worst first."""
    agreement: Optional[IdleReplayAgreement] = None
    """Agreement with the traced kernel; `None` where that was not compared."""


@dataclass(frozen=True, kw_only=True)
class IdleReplayState:
    """An idle state under a governor."""

    name: str
    """The state's name."""
    entered: Optional[Union[float, Range]]
    """Entries; `None` where they were not counted."""
    above: Optional[Union[float, Range]]
    """Entries that were too deep; `None` where not counted."""
    below: Optional[Union[float, Range]]
    """Entries that were too shallow; `None` where not counted."""
    residency_us: Optional[Union[float, Range]]
    """Time in the state in microseconds; `None` where not counted."""


@dataclass(frozen=True, kw_only=True)
class IdleReplayEnds:
    """Both ends of a figure, even where it is known."""

    low: float
    """The least, or the lower end."""
    high: float
    """The greatest, or the upper end."""


@dataclass(frozen=True, kw_only=True)
class IdleReplayDelays:
    """Percentiles of delays."""

    p50: Optional[Union[float, Range]]
    """The median in microseconds."""
    p99: Optional[Union[float, Range]]
    """The 99th percentile in microseconds."""


@dataclass(frozen=True, kw_only=True)
class IdleReplayDecision:
    """An interval in which a governor lost much."""

    cpu: Optional[int]
    """The CPU's number."""
    at_us: Optional[float]
    """Microseconds from the trace's beginning."""
    interval_us: Optional[float]
    """Length of the interval in microseconds."""
    chosen: str
    """The state that was chosen."""
    cheapest: str
    """The state that would have been cheapest."""
    excess_unit_s: float
    """Energy above the cheapest, in units times seconds."""


@dataclass(frozen=True, kw_only=True)
class IdleReplayAgreement:
    """The number of times that a governor chooses as the traced kernel did."""

    same: float
    """The share of choices that are the same, from 0 to 1."""
    balanced: Optional[float]
    """The mean of that share over the states, from 0 to 1."""
    commonest_state: Optional[float]
    """The share that the commonest state alone would reach, from 0 to 1."""
    compared: Optional[int]
    """The number of intervals that were compared."""


@dataclass(frozen=True, kw_only=True)
class IdleReplayLimited:
    """A governor under a limit, beside the same without it."""

    name: str
    """The row under the limit."""
    of: str
    """The row without it."""
    latency_us: Optional[int]
    """The longest exit latency that was allowed, in microseconds; `None` where any was."""
    left: list[str]
    """The idle states that it could choose."""
    less: Optional[Union[float, Range]]
    """The share of the energy without the limit that it takes less; `None` where powers have no source."""
    is_same: bool
    """True if it chose as without the limit, as far as counts of states tell."""


@dataclass(frozen=True, kw_only=True)
class IdleReplayPowerDomain:
    """A power domain that the operating system switches, under a governor of its CPUs."""

    name: str
    """The domain's name."""
    governor: str
    """The governor of its CPUs."""
    together_us: Optional[Union[float, Range]]
    """The time in which all of its CPUs were idle, in microseconds."""
    states: list[IdleReplayState]
    """Its states, from shallow to deep."""


@dataclass(frozen=True, kw_only=True)
class Range:
    """Both ends of a figure, as JSON has them."""

    low: float
    """The least, or the lower end."""
    high: float
    """The greatest, or the upper end."""


@dataclass(frozen=True, kw_only=True)
class IdleClock:
    """Clocks, divisions, and what they change."""

    clocks: list[IdleClockClock]
    """Reads of each clock, by number of threads."""
    divisions: list[IdleClockDivision]
    """Divisions, by what the compiler knows of the divisor."""
    changes: list[IdleClockChange]
    """The choices that change with another clock or division, by governor."""
    saving_per_sleep_ns: Optional[float]
    """Nanoseconds that a faster clock saves on each sleep; `None` unless two clocks were compared."""
    shift_bias: float
    """The share by which a shift by 10 bits counts less than a division by 1000."""
    clock_source: Optional[str]
    """The kernel's clock source; `None` where it is not known."""
    notes: list[str]
    """Sentences that the run left about itself."""
    recording: str
    """The recording's folder, as it was named on the command line."""
    steadiness: Steadiness
    """Whether the machine repeats itself."""
    tick_ns: float
    """Length of a tick of the counter that times reads, in nanoseconds; 0 where it is not known. A read that takes less is
    not told from none.
    """


@dataclass(frozen=True, kw_only=True)
class IdleClockClock:
    """Reads of a clock with a number of threads."""

    name: str
    """The clock's name."""
    threads: Optional[int]
    """The number of threads that read it at the same time; `None` where it is not known."""
    virtual_machine: bool
    """True if it was measured in a virtual machine."""
    average_ns: Optional[float]
    """The mean."""
    trimmed_ns: Optional[float]
    """The mean without the longest of 100."""
    stddev_ns: Optional[float]
    """The standard deviation."""
    min_ns: Optional[float]
    """The least."""
    max_ns: Optional[float]
    """The greatest."""
    p50_ns: Optional[float]
    """The median."""
    p99_ns: Optional[float]
    """The 99th percentile."""
    p99_9_ns: Optional[float]
    """The 99.9th percentile."""


@dataclass(frozen=True, kw_only=True)
class IdleClockDivision:
    """A division, each waiting for the one before it."""

    name: str
    """The division's name."""
    divisor_known: bool
    """True if the compiler knew the divisor."""
    average_ns: Optional[float]
    """The mean."""
    trimmed_ns: Optional[float]
    """The mean without the longest of 100."""
    stddev_ns: Optional[float]
    """The standard deviation."""
    min_ns: Optional[float]
    """The least."""
    max_ns: Optional[float]
    """The greatest."""
    p50_ns: Optional[float]
    """The median."""
    p99_ns: Optional[float]
    """The 99th percentile."""
    p99_9_ns: Optional[float]
    """The 99.9th percentile."""


@dataclass(frozen=True, kw_only=True)
class IdleClockChange:
    """The choices that a governor changes with another clock or another division."""

    governor: str
    """The governor's name."""
    unsaid: str
    """The assumption about what the trace does not say; empty where it says all."""
    with_: str
    """The clock or division that takes the place of the usual one."""
    changed_choices: float
    """The share of the choices that change, from 0 to 1."""
    changed_energy: Optional[float]
    """The relative change of the energy, signed; `None` where no energy is known."""


@dataclass(frozen=True, kw_only=True)
class Steadiness:
    """Whether a machine repeats itself, over all that an experiment measured several times."""

    cells: int
    """The number of cells that were measured more than once."""
    scattering: int
    """The cells among them whose repetitions scatter: their quartiles lie apart by more than a tenth of the median."""
    apart_percent: float
    """The distance between the quartiles of a cell's repetitions in percent of their median: the median over the cells."""
    repeats: bool
    """True if what the answer rests on was repeated and does not scatter, and neither do three quarters of the cells.
    Otherwise no factor may be told.
    """


@dataclass(frozen=True, kw_only=True)
class Cpuidle:
    """The counts in each test of each kernel."""

    tests: list[CpuidleTest]
    """The tests of each kernel."""
    clusters: str
    """A sentence about the clusters; empty where nothing is to be said."""
    recording: str
    """The recording's folder, as it was named on the command line."""
    domains: list[CpuidleDomainSleep] = field(default_factory=list)
    """How the clusters of a trace slept, where they have states of their own."""
    wake_ups: Optional[CpuidleWakeUps] = None
    """Who woke the CPUs of a trace; `None` where that was not looked for."""


@dataclass(frozen=True, kw_only=True)
class CpuidleTest:
    """The counts in a test of a kernel."""

    case: str
    """The test's name."""
    kernel: str
    """The kernel's name."""
    seconds: Optional[float]
    """Length of the test in seconds; `None` where it is not known."""
    cpus: int
    """The number of CPUs that were counted each by itself; 0 where all were counted together."""
    entered: float
    """Entries into idle states."""
    above_percent: Optional[float]
    """Entries into a state that was too deep, in percent; `None` where not counted."""
    below_percent: Optional[float]
    """Entries into a state that was too shallow, in percent; `None` where not counted."""
    misses_percent: Optional[float]
    """Both of these, in percent; `None` where not counted."""
    states: list[CpuidleState]
    """The states, summed over each cluster."""
    states_of_cpus: list[CpuidleState]
    """The states of each CPU; empty if there is one CPU."""


@dataclass(frozen=True, kw_only=True)
class CpuidleState:
    """The counts of a state: of a CPU, of a cluster, or of all CPUs."""

    cluster: Optional[int]
    """The cluster's number; `None` where there are no clusters."""
    cpu: Optional[int]
    """The CPU's number; `None` in a sum over CPUs."""
    state: str
    """The state's name."""
    exit_latency_us: Optional[int]
    """The kernel's exit latency in microseconds; `None` where it is not known."""
    residency_us: Optional[int]
    """The kernel's target residency in microseconds; `None` where it is not known."""
    disabled: bool
    """True if the state was disabled."""
    entered: float
    """Entries into the state."""
    entered_per_second: Optional[float]
    """Entries per second; `None` where the length of the test is not known."""
    time_us: Optional[float]
    """Time in the state in microseconds; `None` where it was not counted."""
    mean_us: Optional[float]
    """Mean length of a stay in microseconds; `None` where times were not counted."""
    share_percent: Optional[float]
    """The share of the idle time in percent, or of the entries where times were not counted."""
    above: Optional[float]
    """Entries that were too deep; `None` where not counted."""
    below: Optional[float]
    """Entries that were too shallow; `None` where not counted."""
    rejected: Optional[float]
    """Entries that the hardware refused; `None` where not counted."""


@dataclass(frozen=True, kw_only=True)
class CpuidleDomainSleep:
    """The sleep of a cluster."""

    cpus: list[int]
    """CPUs of the cluster."""
    what: str
    """What slept: all CPUs, the cluster in a state, all CPUs but not the cluster."""
    entered: Optional[int]
    """Stays; `None` where they are not counted."""
    total_ns: int
    """Nanoseconds in all."""


@dataclass(frozen=True, kw_only=True)
class CpuidleWakeUps:
    """Who woke the CPUs. The commonest stand first."""

    causes: list[CpuidleWakeRow]
    """Wake-ups by cause."""
    cpus: list[CpuidleWakeRow]
    """Wake-ups of each CPU by state and cause."""
    callers: list[CpuidleWakeRow]
    """Wake-ups by cause, caller and the task that ran first."""
    called_before: Optional[int]
    """Entries into idle states with a call from another CPU on its way; `None` where the trace does not tell."""
    unseen: list[str]
    """Events that are not in the trace, and what is not known without them, a phrase each."""


@dataclass(frozen=True, kw_only=True)
class CpuidleWakeRow:
    """Wake-ups of idle CPUs. What they are not told apart by is `None`, and so is what is not known."""

    cause: str
    """The cause: `timer`, `interrupt`, `IPI`, `task` or `unknown`, and its name."""
    way: Optional[str]
    """The interrupt by which the cause came, where that is not the cause itself."""
    cpu: Optional[int]
    """The CPU that was woken."""
    state: Optional[str]
    """The name of the state that it was in."""
    by_cpu: Optional[int]
    """The CPU that called it."""
    by: Optional[str]
    """The task that ran there."""
    first: Optional[str]
    """The task that ran first on the CPU that was woken."""
    count: int
    """Wake-ups."""
    to_exit_ns: Optional[tuple[int, int]]
    """Nanoseconds from the cause to the end of the idle state: the median, the largest."""
    to_run_ns: Optional[tuple[int, int]]
    """Nanoseconds from there to the first handler or task: the median, the largest."""


@dataclass(frozen=True, kw_only=True)
class RcuEnergy:
    """The talk's table: benchmarks in configurations, each beside its published figure."""

    cells: list[RcuEnergyCell]
    """Each benchmark in each configuration."""
    references: list[RcuEnergyReference]
    """Each benchmark in its reference."""
    owners: list[RcuEnergyShares]
    """Shares of the owners of energy in each cell."""
    watts_per_unit: Optional[float]
    """Watts of a unit of the platform's table, fitted to one benchmark; `None` without published figures."""
    predictors: list[RcuEnergyPredictor]
    """The medians beside other predictors of the published benefits, the nearest first."""
    nearest: Optional[str]
    """The name of the nearest predictor; `None` where several are as near."""
    best_order: Optional[str]
    """The name of the predictor that orders the benefits best; `None` where several do as well."""
    without_a_fit: RcuEnergyUnfittedFigures
    """Figures that no fit was made for."""
    claims: list[RcuEnergyClaim]
    """The talk's claims, by benchmark."""
    effects: RcuEnergyEffects
    """Effects beside energy."""
    doses: list[RcuEnergyDose]
    """Benefits against doses of callbacks."""
    draws: int
    """The number of draws; 0 where nothing was drawn."""
    seed: int
    """The first seed."""
    settings: dict[str, str]
    """The settings of the run, by name."""
    recording: str
    """The recording's folder, as it was named on the command line."""


@dataclass(frozen=True, kw_only=True)
class RcuEnergyCell:
    """A benchmark in a configuration. Intervals are over the draws."""

    benchmark: str
    """The benchmark's name."""
    configuration: str
    """The configuration's name."""
    energy_j: Optional[Interval]
    """Energy in joules; `None` where no unit is known in watts."""
    energy_unit_s: Interval
    """Energy in units of the platform's table times seconds."""
    time_s: Interval
    """Run time in seconds."""
    energy_benefit_percent: Optional[Interval]
    """Energy saved against the reference, in percent of it; `None` in the reference itself."""
    time_benefit_percent: Optional[Interval]
    """Time saved against the reference, in percent of it; `None` in the reference itself."""
    central_energy_benefit_percent: Optional[Interval]
    """Energy saved at the central point, over its seeds; `None` in the reference itself."""
    verdict: Optional[str]
    """`certain` where the benefit's interval excludes zero, else `undecided`; `None` in the reference and where fewer than
    39 draws were made.
    """
    wrong_sign: bool
    """True if the sign is certain and the published one is the other."""
    decides: Optional[RcuEnergyDecidingUnknown]
    """The unknown that goes most with the benefit; `None` of fewer than 39 draws."""
    exceeds_rcu: Optional[bool]
    """True if the published benefit is more than RCU costs at all in 97.5 % of the draws; `None` without a published
    benefit and of fewer than 39 draws.
    """
    rcu_bound_percent: Optional[float]
    """The cost of RCU that 97.5 % of the draws stay below, in percent of the reference; of fewer than 39 draws the most."""
    draws_beyond_bound: int
    """The number of draws in which more is saved than RCU costs there (or than nothing, where it costs less) and the seeds
    spread.
    """
    most_points_beyond_bound: float
    """The most points by which a draw does so; 0 where none does."""
    published_energy_j: Optional[float]
    """Published energy in joules."""
    published_time_s: Optional[float]
    """Published run time in seconds."""
    published_energy_benefit_percent: Optional[float]
    """Published benefit in energy, in percent of the reference."""
    published_time_benefit_percent: Optional[float]
    """Published benefit in time, in percent of the reference."""
    used_in_fit: bool
    """True if the published figure gave the scale."""


@dataclass(frozen=True, kw_only=True)
class RcuEnergyDecidingUnknown:
    """The unknown that goes most with a benefit."""

    unknown: str
    """The unknown's name."""
    spearman: float
    """Spearman's rank correlation with the benefit, from -1 to 1."""


@dataclass(frozen=True, kw_only=True)
class RcuEnergyReference:
    """A benchmark in its reference. Intervals are over the draws."""

    benchmark: str
    """The benchmark's name."""
    busy: bool
    """True if the benchmark is of those that keep CPUs busy."""
    power_unit: Interval
    """Power in units of the platform's table."""
    power_w: Optional[Interval]
    """Power in watts; `None` where no unit is known in watts."""
    published_power_w: Optional[float]
    """Published power in watts."""
    rcu_bound_percent: Interval
    """The cost of RCU as a whole: the reference less the same without callbacks, in percent of the reference."""
    rcu_owned_percent: Interval
    """The share of RCU's owners in the energy, in percent."""
    draws_in_which_rcu_helps: int
    """The number of draws in which RCU costs less than nothing."""
    most_percent_by_which_rcu_helps: float
    """The most that RCU costs less than nothing, in percent of the reference; 0 where it never does."""


@dataclass(frozen=True, kw_only=True)
class RcuEnergyShares:
    """Shares of the owners in a benchmark and a configuration."""

    benchmark: str
    """The benchmark's name."""
    configuration: str
    """The configuration's name."""
    percent: dict[str, float]
    """Shares by owner in percent of the energy: means over the predictions, so that they add up."""
    sum_off_by: float
    """The distance of the owners' sum from the energy, as a part of it: the most over the predictions."""


@dataclass(frozen=True, kw_only=True)
class RcuEnergyPredictor:
    """A predictor of the published benefits, and how near it comes."""

    name: str
    """The predictor, in words."""
    fitted_to_published_benefits: int
    """The number of its parameters that were fitted to the published benefits."""
    rms_points: float
    """Root mean square of the errors, in points of benefit."""
    spearman: Optional[float]
    """Spearman's rank correlation with the published benefits, from -1 to 1; `None` where it says the same of all."""


@dataclass(frozen=True, kw_only=True)
class RcuEnergyUnfittedFigures:
    """Figures that no fit was made for."""

    andebench2_reference: Optional[RcuEnergyPower]
    """The power of andebench2's reference; `None` without published figures."""
    sysbench_reference: Optional[RcuEnergySysbench]
    """The power of sysbench's reference by its number of threads."""
    callback_core_energy_big_to_little: Optional[float]
    """Core energy of a callback on a big CPU over that on a LITTLE one."""
    callback_time_little_to_big: Optional[float]
    """Time of a callback on a LITTLE CPU over that on a big one."""
    talk_says: Optional[str]
    """The talk's words about callbacks on LITTLE CPUs."""


@dataclass(frozen=True, kw_only=True)
class RcuEnergyPower:
    """The power of a reference beside the published one, in watts."""

    power_w: float
    """Predicted power in watts."""
    published_power_w: float
    """Published power in watts."""
    error_percent: float
    """Error against the published power in percent, signed."""
    within_10_percent: bool
    """True if the error is at most 10 %."""


@dataclass(frozen=True, kw_only=True)
class RcuEnergySysbench:
    """The reference power of sysbench by its number of threads, which was not published."""

    by_threads: list[RcuEnergyThreadPower]
    """Power by number of threads."""
    published_power_w: float
    """Published power in watts."""
    covers_published: bool
    """True if the published power lies within all of them."""


@dataclass(frozen=True, kw_only=True)
class RcuEnergyThreadPower:
    """The power with a number of threads."""

    threads: float
    """The number of threads."""
    power_w: Interval
    """Power in watts over the draws."""


@dataclass(frozen=True, kw_only=True)
class RcuEnergyClaim:
    """The shares of the predictions in which the talk's claims about a benchmark come out."""

    benchmark: str
    """The benchmark's name."""
    enforced_idle_saves_more_than_offload: float
    """The share in which enforced idle saves more energy than offloading, from 0 to 1."""
    both_save_at_most_1_point_more_than_the_better: float
    """The share in which both together save at most one point more than the better, from 0 to 1."""
    offload_is_faster_than_enforced_idle: float
    """The share in which offloading takes less time than enforced idle, from 0 to 1."""


@dataclass(frozen=True, kw_only=True)
class RcuEnergyEffects:
    """Effects beside energy."""

    latency_us: RcuEnergyLatencies
    """Wake-up latencies by configuration."""
    offload_p999_against_reference: Optional[RcuEnergySteadiness]
    """Shares of the predictions in which offloading makes the longest latencies shorter, and longer; `None` where they
    were not recorded.
    """
    big_cluster_down: list[RcuEnergySleepShares]
    """The share of the time in which the big cluster sleeps, by benchmark."""


@dataclass(frozen=True, kw_only=True)
class RcuEnergyLatencies:
    """Wake-up latencies of a benchmark."""

    benchmark: str
    """The benchmark's name."""
    rows: list[RcuEnergyLateness]
    """A row for each configuration."""


@dataclass(frozen=True, kw_only=True)
class RcuEnergyLateness:
    """Medians over the predictions, in us."""

    configuration: str
    """The configuration's name."""
    p50: float
    """The median in microseconds."""
    p99: float
    """The 99th percentile in microseconds."""
    p999: float
    """The 99.9th percentile in microseconds."""


@dataclass(frozen=True, kw_only=True)
class RcuEnergySteadiness:
    """The shares of the predictions in which the longest latencies of offloaded callbacks are shorter than the
    reference's, and longer.
    """

    below: float
    """The share in which they are shorter, from 0 to 1."""
    above: float
    """The share in which they are longer, from 0 to 1."""


@dataclass(frozen=True, kw_only=True)
class RcuEnergySleepShares:
    """The share of the time in which the big cluster sleeps, by configuration: medians."""

    benchmark: str
    """The benchmark's name."""
    share: dict[str, float]
    """Shares by configuration, from 0 to 1."""


@dataclass(frozen=True, kw_only=True)
class RcuEnergyDose:
    """Benefits against doses of callbacks."""

    benchmark: str
    """The benchmark's name."""
    configuration: str
    """The configuration's name."""
    points: list[RcuEnergyDosePoint]
    """The points of the curve, by rising dose."""


@dataclass(frozen=True, kw_only=True)
class RcuEnergyDosePoint:
    """A dose and the benefit there."""

    callbacks_per_second_and_cpu: float
    """Callbacks per second on each CPU, at least 0."""
    energy_benefit_percent: float
    """Energy saved against the reference, in percent of it."""


@dataclass(frozen=True, kw_only=True)
class EasEnergy:
    """Numbers of equal tasks on some boards."""

    boards: list[EasEnergyBoard]
    """The boards, in the order in which they were asked for."""
    tasks: list[int]
    """The numbers of equal tasks, each at least 1; lists of a board are in this order."""
    period_ms: int
    """Period of each task in milliseconds."""
    duty_percent: int
    """CPU time of each task on the fastest core, in percent of its period."""
    seconds: int
    """Length of a run in seconds."""
    seeds: int
    """The number of seeds."""
    published_source: Optional[str]
    """The source of the published figures, if there are any for this workload."""
    published_conditions: Optional[str]
    """The conditions under which the published figures were measured."""
    recording: str
    """The recording's folder, as it was named on the command line."""


@dataclass(frozen=True, kw_only=True)
class EasEnergyBoard:
    """A board."""

    name: str
    """The board's name."""
    title: str
    """The board's name as a title."""
    unit: str
    """`J`, or `unit s` where nobody says how many watts a unit is."""
    assumed: list[str]
    """What was assumed, a run each: numbers are round trips into idle states in parts of 1024 of their range."""
    gain_percent: Optional[Interval]
    """The gains of all rules with an energy model over all seeds, numbers of tasks and assumptions; `None` without rules
    to compare.
    """
    rules: list[EasEnergyRules]
    """Each of the rules of placement that ran."""
    published: list[Optional[float]]
    """Published energy in joules by number of tasks; `None` where none was published."""
    predictors: list[EasEnergyPredictor]
    """Predictors of the published energies; none without published figures."""


@dataclass(frozen=True, kw_only=True)
class EasEnergyRules:
    """Rules of placement on a board; lists are by number of tasks."""

    name: str
    """The name of the rules."""
    energy: list[list[float]]
    """Means over the seeds, by what is assumed, in the order of the board's list."""
    gain_percent: list[Interval]
    """The share of the energy that the energy model gains, in percent: the least and the most over all seeds and all that
    is assumed, and the mean with the usual assumptions. Empty for the rules without an energy model, and where those
    did not run.
    """
    big_runs_percent: list[float]
    """The share of the time in which the fastest domain runs, in percent."""
    p95_ms: list[float]
    """The 95th percentile of the tasks' response in milliseconds."""
    moves: list[float]
    """Moves of tasks between CPUs, means over the seeds."""


@dataclass(frozen=True, kw_only=True)
class EasEnergyPredictor:
    """A predictor of the published figures."""

    name: str
    """The predictor, in words."""
    fitted: int
    """The number of its parameters that were fitted to the published figures."""
    rms_percent: float
    """Root mean square of the relative errors, in percent."""
    scale: Optional[float]
    """The scale by which it is multiplied."""
    errors_percent: list[float]
    """The relative errors in percent, by published figure, signed."""
    least_at: Optional[int]
    """The number of tasks at which a task takes least."""


@dataclass(frozen=True, kw_only=True)
class Placement:
    """A workload under each policy."""

    workload: str
    """The workload's name."""
    platform: Optional[str]
    """The platform's name."""
    frequency: str
    """The rule for frequencies: `schedutil`, or the highest operating points."""
    rcu: str
    """The configuration of RCU."""
    seeds: int
    """The number of seeds."""
    task: Optional[str]
    """The task that latency is about: the first periodic one."""
    policies: list[PlacementPolicy]
    """The policies, in the order in which they ran."""
    wins: PlacementWins
    """The policies for which latency or energy is least."""
    expectations: list[PlacementExpectation]
    """Expectations of the usual workload from before it ran; empty for others."""
    operating_points: list[PlacementPoint]
    """The cost of work at each operating point."""
    top_points: Optional[PlacementTop]
    """The top points of the fastest domain and of the slowest; `None` with one domain."""
    notes: list[str]
    """Sentences that the run left about itself."""
    recording: str
    """The recording's folder, as it was named on the command line."""


@dataclass(frozen=True, kw_only=True)
class PlacementPolicy:
    """The figures of a policy."""

    name: str
    """The policy's name."""
    energy_unit_s: Optional[Interval]
    """Energy in units of the platform's table times seconds."""
    energy_j: Optional[Interval]
    """Energy in joules; `None` where no unit is known in watts."""
    energy_of_all_big: Optional[Interval]
    """Energy as a multiple of that of all-big, seed by seed."""
    unfinished_share: float
    """The share of periods that it left undone, against the policy that finished most: what is not done takes no energy."""
    run_time_s: Optional[Interval]
    """Run time in seconds."""
    running: dict[str, float]
    """The share of the time in which each domain runs, from 0 to 1."""
    middle_seed: int
    """The seed whose energy lies in the middle: its owners are those below."""
    owners_unit_s: dict[str, float]
    """Energy of each owner with the middle seed, in units times seconds."""
    wake_ups_per_s: dict[str, float]
    """Wake-ups per second by their cause, means over the seeds."""
    idle_entered: dict[str, float]
    """Entries into each idle state, means over the seeds."""
    idle_time_us: dict[str, float]
    """Time in each idle state in microseconds, means over the seeds."""
    callbacks_per_s: float
    """Callbacks of RCU per second, mean over the seeds."""
    tasks: dict[str, PlacementTask]
    """The tasks by name."""


@dataclass(frozen=True, kw_only=True)
class Interval:
    """The range of some values, or what a further draw lies between with 95 %; and their median."""

    low: float
    """The least value; of 39 draws and more, a further one lies below it with 2.5 %."""
    median: float
    """The median."""
    high: float
    """The greatest value; of 39 draws and more, a further one lies above it with 2.5 %."""


@dataclass(frozen=True, kw_only=True)
class PlacementTask:
    """A task under a policy."""

    periods: float
    """Periods of all seeds."""
    missed_periods: float
    """Periods of all seeds that were over when the task came to wait for the next one, and those that were left out
    because of that.
    """
    skipped_periods: float
    """Periods of all seeds that were left out."""
    migrations: float
    """Moves between CPUs, mean over the seeds."""
    cpu_time_us_per_s: float
    """CPU time in microseconds per second, over all seeds."""
    wake_ups_per_s: float
    """Wake-ups per second, over all seeds."""
    share_by_cpu: dict[str, float]
    """Shares of the task's CPU time by CPU, from 0 to 1."""
    share_by_operating_point: dict[str, float]
    """Shares of its CPU time by operating point, from 0 to 1."""
    response_ms: Optional[dict[str, float]]
    """Percentiles of its response in milliseconds, over the periods of all seeds."""
    p95_ms_by_seed: Optional[Interval]
    """The 95th percentile of its response in milliseconds, over the seeds."""
    wake_latency_us: Optional[dict[str, float]]
    """Percentiles of how late it is woken, in microseconds."""


@dataclass(frozen=True, kw_only=True)
class PlacementWins:
    """The policies for which something is least: several where three digits do not tell them apart, and none where that is
    all of them.
    """

    latency: list[str]
    """The policies with the lowest latency."""
    energy: list[str]
    """The policies with the least energy."""
    energy_at_latency_within_10_percent: list[str]
    """The policies with the least energy of those whose latency is within 10 % of the lowest."""


@dataclass(frozen=True, kw_only=True)
class PlacementExpectation:
    """The expectation about the user interface before it ran, whether it holds, and what came out."""

    expectation: str
    """The expectation, in words."""
    holds: bool
    """True if it holds."""
    found: str
    """The outcome, in words."""


@dataclass(frozen=True, kw_only=True)
class PlacementPoint:
    """An operating point with the energy of work there."""

    domain: str
    """The domain's name."""
    point: str
    """The operating point's name."""
    capacity: float
    """Capacity, 1024 for the fastest."""
    core: float
    """Energy of a core for the work that a core of capacity 1024 does in a second, in units times seconds."""
    core_and_cluster: float
    """The same with the whole cluster, one core busy."""
    full_cluster: float
    """The same for each core of a cluster whose cores are all busy."""


@dataclass(frozen=True, kw_only=True)
class PlacementTop:
    """The top points of the fastest domain and of the slowest."""

    fast: str
    """The fastest domain."""
    slow: str
    """The slowest domain."""
    times_as_fast: float
    """The speed of the fastest as a multiple of the slowest's."""
    times_the_energy: float
    """The energy of its core for the same work, as a multiple of the slowest's."""
    times_the_energy_with_cluster: float
    """The energy of its core and cluster for the same work, as a multiple of the slowest's."""


Prefetch = Union[PrefetchMeasuredStudy, PrefetchPredictedStudy]
"""The stride study, measured or predicted."""

Findings = Union[
    PsciLatency,
    Explore,
    PsciCalls,
    Count,
    LinuxBoot,
    Dataplane,
    Prefetch,
    WorkingSet,
    Batch,
    Tune,
    IdleReplay,
    IdleClock,
    Cpuidle,
    RcuEnergy,
    EasEnergy,
    Placement,
]
"""What any experiment found."""
