//! `cpuidle`: what a kernel counted of its idle states.

use super::story::Story;
use crate::blocks::{Bar, Blocks, Cell, Drawing, Figure, Picture, Table, fixed, grouped, name, whole};
use findings::Run;
use recording::facts::{CountedState, FactsError, IdleCounts};
use recording::idle::{IdleCount, IdleSum, idle_counts, percent_of};
use recording::metrics;
use serde::Serialize;

/// The counts in each test of each kernel.
#[derive(Serialize)]
pub(super) struct Counted<'r> {
    tests: Vec<Test<'r>>,
    clusters: String,
    recording: &'r str,
}

/// The counts in a test of a kernel.
#[derive(Serialize)]
struct Test<'r> {
    case: &'r str,
    kernel: &'r str,
    seconds: Option<f64>,
    cpus: usize,
    entered: f64,
    above_percent: Option<f64>,
    below_percent: Option<f64>,
    misses_percent: Option<f64>,
    states: Vec<State<'r>>,
    states_of_cpus: Vec<State<'r>>,
    #[serde(skip)]
    sum: IdleSum,
}

/// The counts of a state: of a CPU, of a cluster, or of all CPUs.
#[derive(Serialize)]
struct State<'r> {
    cluster: Option<u16>,
    cpu: Option<u16>,
    state: &'r str,
    exit_latency_us: Option<u64>,
    residency_us: Option<u64>,
    disabled: bool,
    entered: f64,
    entered_per_second: Option<f64>,
    time_us: Option<f64>,
    mean_us: Option<f64>,
    share_percent: Option<f64>,
    above: Option<f64>,
    below: Option<f64>,
    rejected: Option<f64>,
}

/// Reads what was counted.
pub(super) fn read<'r>(run: &Run<'r>) -> Result<Counted<'r>, FactsError> {
    let recording = run.recording;
    let facts: IdleCounts = recording.header.facts()?;
    let counts = idle_counts(recording);
    let mut names: Vec<(&str, &str)> = Vec::new();
    for count in &counts {
        if !names.contains(&(count.variant, count.case)) {
            names.push((count.variant, count.case));
        }
    }
    let test = |(kernel, case): (&'r str, &'r str)| {
        let of: Vec<&IdleCount<'r>> =
            counts.iter().filter(|count| (count.variant, count.case) == (kernel, case)).collect();
        let window = recording.measures().iter().find(|measure| {
            let (variant, test, _) = recording.series_texts(measure.series);
            recording.text(measure.metric) == metrics::WINDOW.name && (variant, test) == (kernel, case)
        });
        let seconds = window.map(|measure| measure.value).filter(|seconds| *seconds > 0.0);
        let mut cpus: Vec<Option<u16>> = of.iter().map(|count| count.cpu).collect();
        cpus.sort_unstable();
        cpus.dedup();
        let known: Vec<&CountedState> = facts
            .states
            .iter()
            .filter(|state| (state.variant.as_str(), state.case.as_str()) == (kernel, case))
            .collect();
        let sum = IdleSum::over(of.iter().map(|count| count.sum));
        let each = |by_cpu: bool| grouped_states(&of, &known, seconds, by_cpu);
        Test {
            case,
            kernel,
            seconds,
            cpus: cpus.iter().flatten().count(),
            entered: sum.entered,
            above_percent: percent_of(sum.above, sum.entered),
            below_percent: percent_of(sum.below, sum.entered),
            misses_percent: percent_of(sum.misses(), sum.entered),
            states: each(false),
            states_of_cpus: if cpus.len() > 1 { each(true) } else { Vec::new() },
            sum,
        }
    };
    Ok(Counted { tests: names.into_iter().map(test).collect(), clusters: facts.clusters, recording: run.folder })
}

/// The states, summed over each cluster or over each CPU, with what is known of them.
fn grouped_states<'r>(
    counts: &[&IdleCount<'r>],
    known: &[&CountedState],
    seconds: Option<f64>,
    by_cpu: bool,
) -> Vec<State<'r>> {
    type Group<'r> = (Option<u16>, Option<u16>, Vec<(&'r str, IdleSum)>);
    let mut groups: Vec<Group<'r>> = Vec::new();
    for count in counts {
        let key = (count.cluster, count.cpu.filter(|_| by_cpu));
        let at = groups.iter().position(|(cluster, cpu, _)| (*cluster, *cpu) == key).unwrap_or_else(|| {
            groups.push((key.0, key.1, Vec::new()));
            groups.len() - 1
        });
        let states = &mut groups[at].2;
        match states.iter_mut().find(|(state, _)| *state == count.state) {
            Some((_, sum)) => *sum = sum.plus(count.sum),
            None => states.push((count.state, count.sum)),
        }
    }
    groups.sort_by_key(|(cluster, cpu, _)| (*cluster, *cpu));
    let mut all = Vec::new();
    for (cluster, cpu, states) in groups {
        let whole = IdleSum::over(states.iter().map(|(_, sum)| *sum));
        for (state, sum) in states {
            let fact = known.iter().find(|known| known.name == state && known.cluster == cluster);
            all.push(State {
                cluster,
                cpu,
                state,
                exit_latency_us: fact.and_then(|fact| fact.exit_latency_us),
                residency_us: fact.and_then(|fact| fact.residency_us),
                disabled: fact.is_some_and(|fact| fact.disabled),
                entered: sum.entered,
                entered_per_second: seconds.map(|seconds| sum.entered / seconds),
                time_us: sum.time_us,
                mean_us: sum.time_us.filter(|_| sum.entered > 0.0).map(|time| time / sum.entered),
                share_percent: match (sum.time_us, whole.time_us) {
                    (Some(time), Some(whole)) => percent_of(Some(time), whole),
                    _ => percent_of(Some(sum.entered), whole.entered),
                },
                above: sum.above,
                below: sum.below,
                rejected: sum.rejected,
            });
        }
    }
    all
}

impl Test<'_> {
    /// The kernel and the test; the test alone where it is the usual one.
    fn title(&self) -> String {
        if self.case == "cpuidle" { self.kernel.to_owned() } else { format!("{}, {}", self.case, self.kernel) }
    }

    fn answer(&self) -> String {
        let seconds = self.seconds.map_or_else(String::new, |seconds| format!(" in {seconds:.1} s"));
        let who = match self.cpus {
            0 => "all CPUs together".to_owned(),
            1 => "1 CPU".to_owned(),
            count => format!("{count} CPUs"),
        };
        let count = grouped(self.entered as u64);
        let mut told = format!("On {}, {who} entered idle states {count} times{seconds}", self.title());
        if let (Some(misses), Some(above), Some(below)) = (self.misses_percent, self.above_percent, self.below_percent)
        {
            told += &format!(
                "; {misses:.2} % of the entries missed, {above:.2} % into a state that was too deep and {below:.2} % into one that was too shallow"
            );
        }
        told.push('.');
        let of_all: Vec<&State<'_>> =
            self.states.iter().filter(|state| state.cluster == self.states[0].cluster).collect();
        let clusters = self.states.iter().any(|state| state.cluster != self.states[0].cluster);
        let most = of_all
            .iter()
            .filter(|_| !clusters)
            .max_by(|a, b| a.share_percent.unwrap_or(0.0).total_cmp(&b.share_percent.unwrap_or(0.0)));
        if let Some((state, share)) = most.and_then(|state| Some((state.state, state.share_percent?))) {
            let what = if self.sum.time_us.is_some() { "idle time was" } else { "entries were" };
            told += &format!(" {share:.2} % of the {what} in {state}.");
        }
        told
    }
}

impl Counted<'_> {
    /// The tests with their sums.
    fn overview(&self, told: &mut Blocks) {
        let number = |value: Option<f64>| value.map(|value| fixed(value, 2));
        let table = Table::with_rows(&self.tests)
            .words("test", |test| name(test.case))
            .words("kernel", |test| name(test.kernel))
            .numbers("entries", "", |test| grouped(test.entered as u64))
            .numbers("above", "%", |test| number(test.above_percent))
            .numbers("below", "%", |test| number(test.below_percent))
            .numbers("misses", "%", |test| number(test.misses_percent));
        told.table(table.done());
    }
}

/// The states of a test in a table.
fn states_table(test: &Test<'_>, states: &[State<'_>]) -> Table {
    let count = |value: Option<f64>| value.map(|value| grouped(value as u64));
    let has = |of: fn(&State<'_>) -> bool| states.iter().any(of);
    let timed = test.sum.time_us.is_some();
    let table = Table::with_rows(states)
        .when(has(|state| state.cluster.is_some()), |table| {
            table.words("cluster", |state| state.cluster.map(|cluster| cluster.to_string()))
        })
        .when(has(|state| state.cpu.is_some()), |table| {
            table.words("CPU", |state| state.cpu.map(|cpu| cpu.to_string()))
        })
        .words("state", |state| name(state.state))
        .when(has(|state| state.residency_us.is_some()), |table| {
            table.numbers("residency", "us", |state| state.residency_us.map(|us| whole(us as f64)))
        })
        .numbers("entries", "", |state| grouped(state.entered as u64))
        .when(test.seconds.is_some(), |table| {
            table.numbers("entries", "1/s", |state| state.entered_per_second.map(|rate| fixed(rate, 1)))
        })
        .when(timed, |table| {
            table.numbers("time", "s", |state| state.time_us.map(|us| fixed(us / 1e6, 3))).numbers(
                "mean",
                "us",
                |state| state.mean_us.map(|us| fixed(us, 1)),
            )
        })
        .numbers(if timed { "share of idle time" } else { "share of entries" }, "%", |state| {
            state.share_percent.map(|share| fixed(share, 2))
        })
        .numbers("above", "", |state| count(state.above))
        .numbers("below", "", |state| count(state.below))
        .when(has(|state| state.rejected.is_some()), |table| {
            table.numbers("rejected", "", |state| count(state.rejected))
        })
        .when(has(|state| state.disabled), |table| {
            table.words("", |state| state.disabled.then_some("disabled").map(Cell::from))
        });
    table.done()
}

impl Story for Counted<'_> {
    fn tell(&self, told: &mut Blocks) {
        let Some(first) = self.tests.first() else { return };
        match &self.tests[..] {
            [one] => told.answer(one.answer()),
            several => {
                let by_misses = |a: &&Test<'_>, b: &&Test<'_>| {
                    a.misses_percent.unwrap_or(0.0).total_cmp(&b.misses_percent.unwrap_or(0.0))
                };
                let (least, most) = (several.iter().min_by(by_misses), several.iter().max_by(by_misses));
                let (least, most) = (least.unwrap_or(first), most.unwrap_or(first));
                let percent = |test: &Test<'_>| fixed(test.misses_percent.unwrap_or(0.0), 2);
                told.answer(format!(
                    "Of {} measurements, {} has the fewest entries into a wrong idle state, {} %, and {} the most, {} %.",
                    several.len(),
                    least.title(),
                    percent(least),
                    most.title(),
                    percent(most)
                ));
            }
        }
        let bar = |test: &Test<'_>| {
            let clusters = test.states.chunk_by(|a, b| a.cluster == b.cluster);
            let bars = clusters.map(|states| Bar {
                name: match states[0].cluster {
                    Some(cluster) => format!("{}, cluster {cluster}", test.title()),
                    None => test.title(),
                },
                parts: states
                    .iter()
                    .map(|state| {
                        let value = state.share_percent.unwrap_or(0.0);
                        (state.state.to_owned(), Figure { value, published: None })
                    })
                    .collect(),
            });
            bars.collect::<Vec<_>>()
        };
        let timed = self.tests.iter().all(|test| test.sum.time_us.is_some());
        let title = if timed { "Share of the idle time" } else { "Share of the entries" };
        told.picture(Picture::new(title, "", "%", Drawing::Bars(self.tests.iter().flat_map(bar).collect())));
        if self.tests.len() > 1 {
            self.overview(told);
            told.rest();
        }
        for test in &self.tests {
            let mut table = states_table(test, &test.states).titled(test.title());
            if !self.clusters.is_empty() {
                table = table.noted(format!("{}.", self.clusters));
            }
            told.table(table);
        }
        told.note(
            "above: stays shorter than the state's target residency, though a shallower state was there; below: stays for which a deeper state would have paid. misses: both, of all entries.",
        );
        told.rest();
        for test in &self.tests {
            let title = format!("{}, each CPU", test.title());
            told.table(states_table(test, &test.states_of_cpus).titled(title));
        }
    }
}
