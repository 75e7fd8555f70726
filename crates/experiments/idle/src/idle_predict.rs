//! `idle-replay --predict`: what a machine would have done with another governor.

use crate::asked::{GOVERNORS, HZ_OR_USUAL, PLATFORM_OR_USUAL, TRACE, check_there, traced};
use crate::limits::Limit;
use crate::platform::Platform;
use crate::predict::{Counts, Latencies, Unknown, predict, recorded, span_ns};
use crate::replay::{Chooser, Reading, Unsaid, replay};
use crate::trace::TracedIntervals;
use experiment::setting::{InputFile, Switch};
use experiment::{Error, Request, Settings, Sink, World};
use idle::{Clock, Kind};
use recording::{Header, Recording, metrics};

/// The experiment that its recordings name: they have a story of their own.
const NAME: &str = "idle-predict";

/// The platform where none is named: that of the sample trace.
const USUAL_PLATFORM: &str = "qemu-virt";

pub(crate) const PREDICT: Switch = Switch::new(
    "predict",
    "Closed loop: what each governor would have done on a new run of the traced workload. Sleeps that only ticks parted are one; a governor \
     that keeps the tick sees it; a deeper state delays the work, the timers that it arms and the CPUs that it wakes [default platform: \
     qemu-virt].",
);

pub(crate) const OBSERVED: InputFile = InputFile::new(
    "observed",
    "With --predict: a trace of the predicted governor on the same workload; the predictions' errors are shown.",
);

fn platform_name(settings: &Settings) -> String {
    match settings.is_given(&PLATFORM_OR_USUAL) {
        true => settings.get(PLATFORM_OR_USUAL),
        false => USUAL_PLATFORM.to_owned(),
    }
}

/// A trace's stays are longer than the kernel's own by the time of tracing.
struct Tracing(u64);

impl Reading for Tracing {
    fn reads_ns(&mut self) -> [u64; 2] {
        [self.0, 0]
    }

    fn clock(&self) -> Clock {
        Clock::Nanoseconds
    }
}

/// Says what is wrong with a request.
///
/// # Errors
/// The traces or the platform are not there.
pub(crate) fn check(request: &Request<'_>) -> Result<(), Error> {
    check_there(request.settings.get(TRACE).as_deref())?;
    check_there(request.settings.get(OBSERVED).as_deref())?;
    let platform = platforms::idle_states(request.platforms, &platform_name(&request.settings))?;
    Limit::all(&request.settings, &platform).map(drop)
}

/// Predicts the counts of governors from a trace of another.
///
/// # Errors
/// A trace cannot be read, or is of another platform; the run is to stop.
pub(crate) fn run(request: &Request<'_>, sink: &mut dyn Sink) -> Result<(), Error> {
    let settings = &request.settings;
    let platform = platforms::idle_states(request.platforms, &platform_name(settings))?;
    let progress = sink.progress();
    progress.say("reading the trace");
    let trace = traced(settings.get(TRACE).as_deref())?;
    let seen = settings
        .get(OBSERVED)
        .map(|path| TracedIntervals::open(&path))
        .transpose()?;
    for trace in [Some(&trace), seen.as_ref()].into_iter().flatten() {
        if !trace.has_states_of(platform.state_names()) {
            return Err(Error::usage(
                format!(
                    "the traced kernel's idle states are {}, and not those of {}",
                    trace.states.join(", "),
                    platform.name
                ),
                "name the platform that was traced with --platform; only its own states can be predicted",
            ));
        }
    }
    let observed = seen.as_ref().map(|seen| recorded(&platform, seen));
    let kinds = settings
        .get(GOVERNORS)
        .unwrap_or_else(|| vec![Kind::Menu61, Kind::Menu, Kind::Ladder]);
    let tick_ns = 1_000_000_000 / settings.get(HZ_OR_USUAL);
    let mut header = Header::new(NAME, World::Sim.name(), "ns");
    header.iterations = 1;
    header.notes.push(
            "Closed loop: sleeps that only ticks parted are one; a governor that keeps the tick sees it; a deeper state delays the work, the timers that it arms and the CPUs that it wakes. The work itself, and its order on each CPU, stays as it was traced."
                .to_owned(),
        );
    header.notes.push(
            "What the trace lacks is assumed once at its least and once at its most: timers that it does not show, and the time of entering and leaving states that it rarely has."
                .to_owned(),
        );
    header
        .notes
        .push("Open loop: nothing moves. As traced: the traced kernel's own counts.".to_owned());
    header.notes.extend(trace.notes.iter().cloned());
    let mut recording = Recording::new(header);
    let limits = Limit::all(settings, &platform)?;
    let limits: Vec<Option<&Limit>> = std::iter::once(None)
        .chain(limits.iter().map(Some))
        .collect();
    progress.expect((kinds.len() * limits.len()) as u64, "governors");
    let own = recorded(&platform, &trace);
    for (kind, limit) in kinds
        .into_iter()
        .flat_map(|kind| limits.iter().map(move |limit| (kind, *limit)))
    {
        progress.check()?;
        let name = limit.map_or_else(|| kind.to_string(), |limit| format!("{kind}{limit}"));
        let limited = limit.map(|limit| limit.of(&platform));
        let platform = limited.as_ref().unwrap_or(&platform);
        // What was observed had no limit.
        let seen = observed.as_ref().filter(|_| limit.is_none());
        for unsaid in Unsaid::of(kind, &trace, false) {
            for latencies in Latencies::BOTH {
                let counts = predict(
                    platform,
                    &trace,
                    kind,
                    Unknown { unsaid, latencies },
                    tick_ns,
                );
                let mode = format!("{}, {}", unsaid.name(), latencies.name());
                add(
                    &mut recording,
                    platform,
                    ["closed loop", &mode],
                    &name,
                    &counts,
                    seen,
                );
            }
            let tracing = &mut Tracing(trace.tracing_ns().unwrap_or(0));
            let states = replay(
                platform,
                &trace,
                Chooser::Governor(kind),
                unsaid,
                tick_ns,
                tracing,
            )
            .states;
            let counts = Counts {
                states,
                span_ns: span_ns(&trace),
            };
            add(
                &mut recording,
                platform,
                ["open loop", &unsaid.name()],
                &name,
                &counts,
                seen,
            );
        }
        progress.step();
    }
    add(
        &mut recording,
        &platform,
        ["as traced", ""],
        "traced",
        &own,
        observed.as_ref(),
    );
    if let Some(observed) = &observed {
        add(
            &mut recording,
            &platform,
            ["observed", ""],
            "observed",
            observed,
            None,
        );
    }
    sink.start(recording.header.clone())?;
    sink.append(&recording)
}

/// Adds the counts of a predictor, and its errors where something was observed.
fn add(
    recording: &mut Recording,
    platform: &Platform,
    [case, mode]: [&str; 2],
    name: &str,
    counts: &Counts,
    observed: Option<&Counts>,
) {
    let series = recording.series(name, case, mode);
    for (state, (named, usage)) in platform.state_names().zip(&counts.states).enumerate() {
        for (metric, value) in [
            (metrics::IDLE_ENTERED, usage.entered as f64),
            (metrics::IDLE_SHARE, counts.share(state)),
            (metrics::IDLE_ABOVE, usage.above as f64),
            (metrics::IDLE_BELOW, usage.below as f64),
        ] {
            recording.add(series, 0, metric, named, value);
        }
    }
    recording.add(series, 0, metrics::IDLE_MISS_RATE, "", counts.misses());
    if let Some(observed) = observed {
        let (shares, misses) = counts.errors(observed);
        for (metric, value) in [
            (metrics::IDLE_SHARE_ERROR, shares),
            (metrics::IDLE_MISS_ERROR, misses),
        ] {
            recording.add(series, 0, metric, "", value);
        }
    }
}
