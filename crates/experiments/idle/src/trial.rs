//! The shape of a replay: what was read, what is tried on it, and what came of each.

use crate::asked::{Asked, GOVERNORS, HZ_OR_USUAL, PLATFORM_OR_USUAL, TRACE, traced};
use crate::energy::{Energies, Segments, energy};
use crate::envelope::Envelope;
use crate::kernel_file::KernelFile;
use crate::limits::Limit;
use crate::oracle::{Excess, Oracle, worst};
use crate::platform::Platform;
use crate::power_domains::{DOMAIN_GOVERNOR, follow};
use crate::replay::{Agreement, Chooser, GovernorReplay, Ideal, Unsaid, replay};
use crate::trace::TracedIntervals;
use experiment::{Error, Progress, Request};
use idle::{DomainKind, Kind};
use itertools::Itertools;
use recording::facts::Changed;
use std::sync::Arc;

/// The governors of a current kernel.
const CURRENT: [Kind; 2] = [Kind::menu(7, 1), Kind::teo(7, 1)];

/// The input that all trials share: platform, trace and reference results.
pub struct Given {
    /// The platform whose states are entered.
    pub platform: Platform,
    /// The trace.
    pub traced: TracedIntervals,
    /// The traced kernel's own governor, where its states are the platform's.
    pub own: Option<Kind>,
    /// The best that could have been done.
    pub oracle: Oracle,
    segments: Segments,
    domains: DomainKind,
    tick_ns: u64,
}

/// The one who chooses.
#[derive(Clone)]
pub enum Who {
    /// The traced kernel, as recorded.
    Recorded,
    /// A governor that Stopwatt has.
    Known(Kind),
    /// A file of a kernel's tree.
    File(Arc<KernelFile>),
}

/// A governor to replay, with a latency limit or without one.
pub struct Trial {
    /// The one who chooses.
    pub who: Who,
    /// The limit under which it chooses.
    pub limit: Option<Limit>,
    /// The governor that was named before it, for a file without a limit.
    before: Option<Who>,
    /// True if its past may be the traced kernel's own.
    is_own: bool,
}

/// The choices of one who chose, and their cost.
pub struct Row {
    /// The trial.
    pub trial: Trial,
    /// The replays, for each assumption about what the trace does not say.
    pub replays: Vec<(Unsaid, GovernorReplay)>,
    /// The costs, likewise.
    pub energies: Vec<Energies>,
    /// Both ends over the replays; `None` where they are alike.
    pub envelope: Option<Envelope>,
    /// The number of times that it agrees with the traced kernel.
    pub agreement: Option<Agreement>,
    /// A file's choices beside those of the governor that was named before it, and CPU and number
    /// of the first sleep in which they differ.
    pub changed: Option<(Changed, Option<(u16, usize)>)>,
    /// Names of its states.
    pub state_names: Vec<String>,
    /// The interval that cost its first replay most beyond the cheapest state; `None` without
    /// powers.
    pub worst: Option<Excess>,
}

impl Who {
    /// Its name in recordings.
    pub fn name(&self) -> String {
        match self {
            Self::Recorded => "recorded".to_owned(),
            Self::Known(kind) => kind.to_string(),
            Self::File(file) => file.name.clone(),
        }
    }
}

impl Row {
    /// Name of the row in recordings.
    pub fn name(&self) -> String {
        let limit = self
            .trial
            .limit
            .as_ref()
            .map_or_else(String::new, ToString::to_string);
        self.trial.who.name() + &limit
    }
}

impl Given {
    /// Reads what a request names.
    ///
    /// # Errors
    /// There is no such platform or trace, or it cannot be read.
    pub fn read(request: &Request<'_>, progress: &Progress) -> Result<Self, Error> {
        let settings = &request.settings;
        let platform = platforms::idle_states(request.platforms, &settings.get(PLATFORM_OR_USUAL))?;
        progress.say("reading the trace");
        let traced = traced(settings.get(TRACE).as_deref())?;
        let segments = Segments::new(&platform, &traced);
        let is_its = traced.has_states_of(platform.state_names());
        Ok(Self {
            own: traced.governor.filter(|_| is_its),
            oracle: Oracle::new(&platform, &segments, &traced),
            segments,
            domains: settings.get(DOMAIN_GOVERNOR).unwrap_or(DomainKind::CURRENT),
            tick_ns: 1_000_000_000 / settings.get(HZ_OR_USUAL),
            platform,
            traced,
        })
    }

    /// All that a request tries: the traced kernel's own choices and its governor, which shows how
    /// well replays agree with it; the governors that are named; and these under each limit.
    ///
    /// # Errors
    /// A governor's file does not compile.
    pub fn trials(&self, request: &Request<'_>) -> Result<Vec<Trial>, Error> {
        let limits = Limit::all(&request.settings, &self.platform)?;
        let usual = || {
            let own = self.traced.governor.filter(|own| !CURRENT.contains(own));
            own.into_iter().chain(CURRENT).map(Asked::Known).collect()
        };
        let asked = request.settings.get(GOVERNORS).unwrap_or_else(usual);
        let compile = |asked: &Asked| match asked {
            Asked::Known(kind) => Ok(Who::Known(*kind)),
            Asked::File(source) => Ok(Who::File(Arc::new(KernelFile::compile(
                source,
                self.tick_ns,
            )?))),
        };
        let named: Vec<Who> = asked.iter().map(compile).collect::<Result<_, Error>>()?;
        let own = self.own.filter(|own| !asked.contains(&Asked::Known(*own)));
        let recorded = self
            .traced
            .has_states_of(self.platform.state_names())
            .then_some(Who::Recorded);
        // The kernel's own past is no past of a governor under a limit, nor of one that it is held
        // against.
        let free = |who: Who| Trial {
            is_own: limits.is_empty() && matches!(who, Who::Known(kind) if self.own == Some(kind)),
            before: None,
            who,
            limit: None,
        };
        let limited = named.iter().cartesian_product(&limits);
        let limited = limited.map(|(who, limit)| Trial {
            who: who.clone(),
            limit: Some(limit.clone()),
            before: None,
            is_own: false,
        });
        let all = recorded.into_iter().chain(own.map(Who::Known)).map(free);
        let before = std::iter::once(None).chain(named.iter().map(Some));
        let beside = before.zip(&named).map(|(before, who)| Trial {
            before: before.filter(|_| matches!(who, Who::File(_))).cloned(),
            ..free(who.clone())
        });
        Ok(all.chain(beside).chain(limited).collect())
    }

    /// Replays a trial under each assumption, and returns its choices and their cost.
    ///
    /// # Errors
    /// The code of a governor's file crashed or hung.
    pub fn row(&self, trial: Trial) -> Result<Row, Error> {
        let limited = trial.limit.as_ref().map(|limit| limit.of(&self.platform));
        let platform = limited.as_ref().unwrap_or(&self.platform);
        let (traced, segments, is_own) = (&self.traced, &self.segments, trial.is_own);
        // The envelope holds all that there may be.
        let (mut envelope, unsaid) = match &trial.who {
            Who::Recorded => (None, vec![Unsaid::TIMER]),
            Who::Known(kind) => {
                match Envelope::new(platform, traced, segments, *kind, is_own, self.tick_ns) {
                    None => (None, Unsaid::of(*kind, traced, is_own)),
                    some => (some, vec![Unsaid::TIMER]),
                }
            }
            Who::File(file) => {
                let asks = [file.asks[0] && !traced.has_no_waiters, file.asks[1]];
                (None, Unsaid::ends(asks, traced, is_own))
            }
        };
        let replayed = |&unsaid: &Unsaid| {
            let mut replayed = self.replayed(platform, &trial.who, unsaid)?;
            follow(
                platform,
                traced,
                self.domains,
                envelope.as_mut(),
                &mut replayed,
            );
            Ok((unsaid, replayed))
        };
        let replays: Vec<_> = unsaid.iter().map(replayed).collect::<Result<_, Error>>()?;
        let energies = replays
            .iter()
            .map(|(_, replayed)| energy(platform, segments, replayed));
        let energies = energies.collect();
        let is_beside = trial.limit.is_none()
            && !matches!(trial.who, Who::Recorded)
            && traced.has_states_of(platform.state_names());
        let agreement = if is_beside {
            let taught = self.replayed(platform, &trial.who, Unsaid::TAUGHT)?;
            Some(Agreement::new(platform, traced, &taught)).filter(|of| of.all() > 0)
        } else {
            None
        };
        let changed = match &trial.before {
            Some(before) => Some(self.changed(&trial.who, before, &replays)?),
            None => None,
        };
        let first = replays.first().filter(|_| platform.power.is_some());
        Ok(Row {
            worst: first.and_then(|(_, of)| worst(platform, traced, &of.chosen, &self.oracle)),
            state_names: platform.state_names().map(str::to_owned).collect(),
            trial,
            replays,
            energies,
            envelope,
            agreement,
            changed,
        })
    }

    /// The choices of one beside those of another, at each end of what the trace does not say.
    fn changed(
        &self,
        who: &Who,
        before: &Who,
        replays: &[(Unsaid, GovernorReplay)],
    ) -> Result<(Changed, Option<(u16, usize)>), Error> {
        let platform = &self.platform;
        let states = platform.state_names().collect_vec();
        let (mut first, mut all, mut less) = (None, Vec::new(), Vec::new());
        for (unsaid, own) in replays {
            let other = self.replayed(platform, before, *unsaid)?;
            let pairs = |(cpu, (own, other)): (u16, (&Vec<u8>, &Vec<u8>))| {
                let pairs = other.iter().copied().zip(own.iter().copied()).enumerate();
                pairs.map(|(at, pair)| ((cpu, at), pair)).collect_vec()
            };
            let cpus = (0..).zip(own.chosen.iter().zip(&other.chosen));
            let pairs = cpus.flat_map(pairs).collect_vec();
            let mut differing = pairs.iter().filter(|(_, (other, own))| other != own);
            first = first.or(differing.next().map(|(place, _)| *place));
            let name = |state: u8| states[usize::from(state)];
            let choices = pairs
                .iter()
                .map(|(_, (other, own))| (name(*other), name(*own)));
            all.push(Changed::new([who.name(), before.name()], choices));
            let [own, other] = [own, &other].map(|of| energy(platform, &self.segments, of));
            let pairs = own.iter().zip(other).filter(|(_, other)| *other > 0);
            less.extend(pairs.map(|(own, other)| 1.0 - *own as f64 / other as f64));
        }
        let least = all.iter().map(|of| of.different[0]).min();
        let less = less.into_iter().minmax_by(f64::total_cmp).into_option();
        let most = all.into_iter().max_by_key(|of| of.different[1]);
        let mut changed = most.ok_or_else(|| Error::failed("nothing was replayed"))?;
        changed.different[0] = least.unwrap_or(0);
        changed.is_open = replays.len() > 1;
        changed.less = less.filter(|_| platform.power.is_some()).map(Into::into);
        Ok((changed, first))
    }

    fn replayed(
        &self,
        platform: &Platform,
        who: &Who,
        unsaid: Unsaid,
    ) -> Result<GovernorReplay, Error> {
        let (traced, tick_ns) = (&self.traced, self.tick_ns);
        let asked = match who {
            Who::File(file) => file.ask(platform, traced, unsaid, tick_ns)?,
            _ => Vec::new(),
        };
        let chooser = match who {
            Who::Recorded => Chooser::Recorded,
            Who::Known(kind) => Chooser::Governor(*kind),
            Who::File(_) => Chooser::Asked(&asked),
        };
        Ok(replay(
            platform, traced, chooser, unsaid, tick_ns, &mut Ideal,
        ))
    }
}
