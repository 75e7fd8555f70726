//! Device trees: CPUs, their map, idle states, power domains, operating points and caches.

use super::blob::Tree;
use super::what::{Board, Cpu, State};
use document::{Error, Result, printable};
use itertools::Itertools;
use soc::config::MAX_CPUS;

/// The most power domains, one within the other, and states of each that are looked at.
const DEEPEST: usize = 16;
/// The most operating points of a CPU.
const MOST_POINTS: usize = 256;

/// The board that a blob describes; `file` is its name for people.
pub fn board(file: &str, blob: &[u8]) -> Result<Board> {
    let tree = Tree::read(file, blob)?;
    let is_cpu = |at: &usize| {
        let is_named = tree.nodes[*at].name.split('@').next() == Some("cpu");
        let is_there = is_named && tree.path(tree.nodes[*at].parent) == "/cpus";
        is_there
            && !tree
                .text(*at, "status")
                .is_some_and(|status| status.starts_with("fail"))
    };
    let nodes = (0..tree.nodes.len()).filter(is_cpu).collect_vec();
    if nodes.is_empty() || nodes.len() > MAX_CPUS {
        let help =
            "name the board's whole device tree, not an overlay or a part that others include";
        return Err(Error::new(
            format!("{file}: there are {} nodes /cpus/cpu@N", nodes.len()),
            help,
        ));
    }
    let title = tree.text(0, "model").unwrap_or_else(|| file.to_owned());
    let mut board = Board {
        file: file.to_owned(),
        title,
        ..Board::default()
    };
    board
        .assumed
        .push("CPUs have the tree's order; Linux gives number 0 to the one that boots".to_owned());
    let clusters = tree.clusters(&nodes, &mut board.assumed)?;
    for (number, &at) in nodes.iter().enumerate() {
        // A tree often gives power and clock for the first CPU of a cluster alone.
        let kind = |other: usize| (&clusters[other], tree.text(nodes[other], "compatible"));
        let kin = (0..nodes.len())
            .filter(|other| kind(*other) == kind(number))
            .map(|other| nodes[other]);
        let kin = std::iter::once(at).chain(kin).collect_vec();
        let who = |name: &str| {
            kin.iter()
                .copied()
                .find(|of| tree.value(*of, name).is_some())
                .unwrap_or(at)
        };
        let mut cpu = tree.cpu(number as u16, at, &clusters[number])?;
        let factor = tree.number(
            who("dynamic-power-coefficient"),
            "dynamic-power-coefficient",
        )?;
        let clocked = ["operating-points-v2", "operating-points", "clock-frequency"].map(who);
        tree.add_points(&mut cpu, clocked, factor)?;
        cpu.per_khz = tree.number(who("capacity-dmips-mhz"), "capacity-dmips-mhz")?;
        board.cpus.push(cpu);
    }
    board.rate();
    board.assumed.extend(shared_clocks(&board));
    Ok(board)
}

/// A sentence of clusters that have one table of clocks, as one policy of Linux has.
fn shared_clocks(board: &Board) -> Option<String> {
    let table = |cpu: &Cpu| {
        let source = cpu.points_source.split(", with ").next();
        source.unwrap_or_default().to_owned()
    };
    let pairs = board.cpus.iter().tuple_windows();
    let apart =
        |(a, b): &(&Cpu, &Cpu)| !a.is_like(b) && table(a) == table(b) && table(a).starts_with('/');
    let (a, b) = pairs.into_iter().find(apart)?;
    Some(format!(
        "CPUs {} and {} have one table of clocks and a clock each: where Linux has one policy for both, they share it",
        a.number, b.number
    ))
}

impl Tree<'_> {
    /// For each CPU its cluster: by the map of CPUs, or else by the affinity in `reg`.
    fn clusters(&self, cpus: &[usize], assumed: &mut Vec<String>) -> Result<Vec<String>> {
        let mut clusters = vec![None; cpus.len()];
        let maps = |at: &usize| {
            self.value(*at, "cpu").is_some() && self.path(*at).starts_with("/cpus/cpu-map/")
        };
        for at in (0..self.nodes.len()).filter(maps) {
            let cpu = self.first(at, "cpu")?;
            if let Some(number) = cpus.iter().position(|known| Some(*known) == cpu) {
                clusters[number] = self.path(at).split("/core").next().map(str::to_owned);
            }
        }
        if clusters.iter().all(Option::is_some) {
            return Ok(clusters.into_iter().flatten().collect());
        }
        assumed.push(
            "clusters are those of the affinities in reg: cpu-map does not name all CPUs"
                .to_owned(),
        );
        let affinity = |at: &usize| {
            self.cells(*at, "reg")
                .map(|reg| reg.last().map_or(0, |affinity| affinity >> 8))
        };
        let labels: Vec<u32> = cpus.iter().map(affinity).collect::<Result<_>>()?;
        // If Aff1 differs for each CPU, Aff1 counts CPUs and Aff0 threads, and clusters are above.
        let is_of_cpus = labels
            .iter()
            .enumerate()
            .all(|(at, label)| !labels[..at].contains(label));
        Ok(labels
            .iter()
            .map(|label| {
                if is_of_cpus {
                    String::new()
                } else {
                    label.to_string()
                }
            })
            .collect())
    }

    fn cpu(&self, number: u16, at: usize, cluster: &str) -> Result<Cpu> {
        let core = self
            .text(at, "compatible")
            .unwrap_or_else(|| "cpu".to_owned())
            .to_lowercase();
        let core = core
            .rsplit(',')
            .find(|name| !name.is_empty())
            .unwrap_or("cpu");
        let l2 = self.first(at, "next-level-cache")?;
        let l3 = l2.map_or(Ok(None), |l2| self.first(l2, "next-level-cache"))?;
        let size =
            |cache: Option<usize>| cache.map_or(Ok(None), |cache| self.number(cache, "cache-size"));
        let reg = self.cells(at, "reg")?.into_iter().map(u64::from);
        Ok(Cpu {
            number,
            source: self.path(at),
            reg: reg.reduce(|high, low| high << 32 | low),
            cluster: cluster.to_owned(),
            core: core.replace(|c: char| !c.is_ascii_alphanumeric(), "-"),
            states: self.states(at)?,
            l1_and_l3: [self.number(at, "d-cache-size")?, size(l3)?],
            l2: l2.map(|at| self.path(at)).zip(size(l2)?),
            ..Cpu::default()
        })
    }

    /// The idle states of a CPU as Linux finds them: those of its power domain or else its own,
    /// then those of the domains above.
    fn states(&self, cpu: usize) -> Result<Vec<State>> {
        let source = "Linux puts WFI before the states of a device tree (1 us, 1 us)".to_owned();
        let mut states = vec![State {
            name: "WFI".to_owned(),
            times: [0, 1, 1],
            source,
            ..State::default()
        }];
        let mut domain = self.first(cpu, "power-domains")?;
        if let Some(domain) = domain {
            self.add_states(&mut states, domain, "domain-idle-states", "")?;
        }
        if states.len() == 1 {
            self.add_states(&mut states, cpu, "cpu-idle-states", "")?;
        }
        for _ in 0..DEEPEST {
            let Some(below) = domain else { break };
            domain = self.first(below, "power-domains")?;
            if let Some(domain) = domain {
                self.add_states(
                    &mut states,
                    domain,
                    "domain-idle-states",
                    &self.path(domain),
                )?;
            }
        }
        Ok(states)
    }

    /// Adds the states that a property names; those of a domain of several CPUs have its path.
    fn add_states(
        &self,
        states: &mut Vec<State>,
        of: usize,
        property: &str,
        domain: &str,
    ) -> Result {
        for at in self
            .named(of, property, DEEPEST)?
            .into_iter()
            .filter(|at| self.is_on(*at))
        {
            let needed = |property: &str| {
                let missing = || {
                    self.wrong(
                        at,
                        property,
                        "is not there",
                        "an idle state has it, in microseconds",
                    )
                };
                self.number(at, property)?
                    .map(u64::from)
                    .ok_or_else(missing)
            };
            let [entry, exit] = match self.number(at, "wakeup-latency-us")?.map(u64::from) {
                Some(wakeup) => {
                    let exit = self
                        .number(at, "exit-latency-us")?
                        .map_or(wakeup, u64::from)
                        .min(wakeup);
                    [wakeup - exit, exit]
                }
                None => [needed("entry-latency-us")?, needed("exit-latency-us")?],
            };
            let name = printable(self.nodes[at].name.split('@').next().unwrap_or_default());
            let parameter = self.number(at, "arm,psci-suspend-param")?;
            let mut source = self.path(at);
            source += &parameter
                .map(|of| format!(", arm,psci-suspend-param {of:#x}"))
                .unwrap_or_default();
            // Bits 24 and 25 are a power level in PSCI's original format, which has no bit 30.
            let level =
                parameter.is_some_and(|parameter| parameter >> 30 == 0 && parameter >> 24 & 3 > 0);
            let by_name = name.contains("cluster") || name.contains("system");
            if domain.is_empty() && by_name && !level {
                source += "; assumed by its name: CPUs go down together";
            }
            let (coupled, domain) = (level || by_name, domain.to_owned());
            let stops_timer = self.value(at, "local-timer-stop").is_some();
            let times = [entry, exit, needed("min-residency-us")?];
            states.push(State {
                name,
                times,
                stops_timer,
                coupled,
                domain,
                parameter,
                source,
            });
        }
        Ok(())
    }

    /// Gives a CPU the operating points that are said of CPUs in the new form, the old form, or as
    /// a clock. `factor` is microwatts of a megahertz at a volt.
    fn add_points(
        &self,
        cpu: &mut Cpu,
        [new, old, clock]: [usize; 3],
        factor: Option<u32>,
    ) -> Result {
        let power = |factor: u32, hz: u64, uv: u32| {
            u128::from(factor) * u128::from(hz) * u128::from(uv).pow(2) / 1_000_000_000_000_000_000
        };
        let point = |hz: u64, uv: Option<&u32>| {
            (
                hz / 1_000,
                None,
                factor
                    .zip(uv)
                    .and_then(|(factor, uv)| u64::try_from(power(factor, hz, *uv)).ok()),
            )
        };
        let (table, pairs) = (
            self.first(new, "operating-points-v2")?,
            self.cells(old, "operating-points")?,
        );
        if let Some(table) = table {
            cpu.points_source = self.path(table);
            let inside = |at: &usize| self.nodes[*at].parent == table && self.is_on(*at);
            for at in (0..self.nodes.len()).filter(inside).take(MOST_POINTS) {
                let hz = self
                    .cells(at, "opp-hz")?
                    .iter()
                    .take(2)
                    .fold(0, |high, low| high << 32 | u64::from(*low));
                let (khz, capacity, power) = point(hz, self.cells(at, "opp-microvolt")?.first());
                let told = self.cells(at, "opp-microwatt")?.first().copied();
                cpu.add((khz, capacity, told.map(u64::from).or(power)));
            }
        } else if !pairs.is_empty() {
            cpu.points_source = self.path(old) + ", operating-points";
            pairs
                .chunks(2)
                .take(MOST_POINTS)
                .for_each(|pair| cpu.add(point(u64::from(pair[0]) * 1_000, pair.get(1))));
        } else if let Some(hz) = self.cells(clock, "clock-frequency")?.last() {
            cpu.points_source = self.path(clock) + ", clock-frequency";
            cpu.add(point(u64::from(*hz), None));
        }
        cpu.points_source += &factor
            .map(|of| format!(", with dynamic-power-coefficient {of}"))
            .unwrap_or_default();
        Ok(())
    }
}
