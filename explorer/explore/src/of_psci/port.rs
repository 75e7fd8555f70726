//! A port of others: its platform hooks answer in place of the board, and drive the board's
//! hardware by the functions here, each of which is an operation of the CPU that runs.

use super::acts::{CLOSE_PORT, HOOK, OPEN_PORT, POWER_DOWN};
use super::board::{Board, Command, variables_of};
use super::hook::Hook;
use super::ledger::{NO_STATE, SYSTEM, States, is_sound, shown};
use super::{layout, names};
use interleavings::subject::{Invariant, MOST_CPUS, Order};

impl Board {
    /// Calls a hook, if there is a port that has it.
    pub(crate) fn hook(&self, hook: Hook, argument: u64, states: &mut [u8]) -> Option<i32> {
        let port = self.port.filter(|port| port.has(hook))?;
        let state = self.state();
        state.hook.set(Some(hook));
        state.loaded.set(None);
        state.gave.set(None);
        if !matches!(
            hook,
            Hook::Validate | Hook::TargetState | Hook::SystemState | Hook::EntryPoint
        ) {
            self.does(&HOOK, hook as u64);
        }
        port.call(self, hook, argument, states)
    }

    /// The hook that a CPU is in, or was in last, behind a preposition; nothing without a port.
    pub(crate) fn hook_of(&self, cpu: usize, preposition: &str) -> String {
        let Some(hook) = self.states[cpu].hook.get() else {
            return String::new();
        };
        let loaded = self.states[cpu].loaded.get().map(|(word, value)| {
            format!(
                " (which loaded {}: {value:#x} last)",
                self.names().cell(word)
            )
        });
        format!(
            " {preposition} {}{}",
            hook.name(),
            loaded.unwrap_or_default()
        )
    }

    /// What a hook does breaks the invariant.
    pub fn hook_fails(&self, invariant: Invariant, what: &str) -> ! {
        let cpu = self.process();
        self.fail(
            invariant,
            format!("CPU {cpu}{} {what}", self.hook_of(cpu, "in")),
        )
    }

    /// The word of a variable of the port.
    pub fn variable(&self, variable: u32, element: u32) -> u16 {
        let (at, of, cpus) = (variable as usize, element as usize, self.cpus().len());
        if at >= variables_of(self.port).len() || of >= cpus {
            self.hook_fails(
                Invariant::Own,
                &format!("uses element {of} of variable {at}, which there is not"),
            );
        }
        (names::words_of_library(cpus) + at * cpus + of) as u16
    }

    /// Loads a variable of the port.
    pub fn load_variable(&self, variable: u32, element: u32, order: Order) -> u64 {
        let word = self.variable(variable, element);
        let value = self.load(word, order);
        self.state().loaded.set(Some((word, value)));
        value
    }

    /// Closes the port of the own cluster.
    pub fn close_port(&self) {
        self.does(&CLOSE_PORT, self.state().cluster as u64);
        self.shut_port();
    }

    /// Opens the port of the own cluster.
    pub fn open_port(&self) {
        self.does(&OPEN_PORT, self.state().cluster as u64);
        self.check_holder("opens the cluster's port");
        self.clusters[self.state().cluster].port.set(true);
    }

    /// Tells the power controller that the own CPU goes down at its next WFI, or with its cluster.
    pub fn cut_power(&self, cluster: bool) {
        self.does(&POWER_DOWN, 0);
        let (process, own) = (self.process(), self.state().cluster);
        if cluster && !self.options.coherent && self.clusters[own].port.get() {
            self.hook_fails(
                Invariant::DomainUp,
                &format!("has cluster {own} powered down, and the cluster's port is open"),
            );
        }
        self.commands
            .borrow_mut()
            .retain(|command| !command.takes_down(process));
        let wakes = self.state().goes.get() == Some(true);
        self.send(Command::Down {
            cpu: process as u8,
            cluster,
            wakes,
        });
    }

    /// Asks the power controller to turn a CPU on; false if it refuses.
    pub fn give_power(&self, cpu: u32) -> bool {
        if cpu as usize >= self.cpus().len() {
            self.hook_fails(
                Invariant::Own,
                &format!("turns CPU {cpu} on, which there is not"),
            );
        }
        let given = self.ask_for_power(cpu as usize);
        self.state().gave.set(Some(given));
        given
    }

    /// `pwr_domain_on` has returned: it has done what it says. It may refuse without asking the power
    /// controller.
    pub(crate) fn check_given(&self, target: usize, result: i32) {
        let gave = self.state().gave.get();
        if (gave == Some(true)) != (result == 0) {
            let did = ["was not asked to turn", "refuses to turn", "turns"]
                [gave.map_or(0, |gave| 1 + usize::from(gave))];
            self.hook_fails(
                Invariant::OneCpuOnWins,
                &format!("returns {result}, and the power controller {did} CPU {target} on"),
            );
        }
    }

    /// The hooks of a power-down have returned: they go no deeper than they were told. Leaving a cluster
    /// on is allowed (PSCI DEN0022, 4.2.3.1).
    pub(crate) fn check_told(&self, cluster: bool) {
        let (process, own) = (self.process(), self.state().cluster);
        let told = self
            .commands
            .borrow()
            .iter()
            .copied()
            .find(|command| command.takes_down(process));
        let what = match told {
            Some(Command::Down { cluster: told, .. }) if told <= cluster => return,
            Some(_) => format!("takes cluster {own} down, and was told that it stays on"),
            None => "does not tell the power controller that the CPU goes down".to_owned(),
        };
        self.hook_fails(Invariant::DomainState, &what);
    }

    /// The states of a `power_state`, and the level at which the caller is the last. A port may
    /// refuse states that the board has, and may not take others. It may take one for a shallower
    /// state of the domains above the CPU, where the platform coordinates: there a request is a vote
    /// (PSCI DEN0022, 4.2.3.1), and where the OS coordinates it is complied with or refused (5.4).
    pub(crate) fn decode(&self, raw: u32) -> Option<(States, u8)> {
        let known = layout::decode(raw);
        // Statistics are also kept of states that the port refuses.
        if !self.ledger.borrow().suspends(self.process()) {
            return known;
        }
        let mut states = [0; 3];
        match (self.hook(Hook::Validate, raw.into(), &mut states), known) {
            (None, _) => known,
            (Some(0), _) => {
                self.takes(&format!("{raw:#x}"), states, known.map(|(asked, _)| asked));
                known.map(|(_, last)| (states, last))
            }
            (Some(_), _) => {
                let mut books = self.ledger.borrow_mut();
                books.refuses(self.process(), NO_STATE, true);
                None
            }
        }
    }

    /// A port takes a request for these states: for what it asks for, or for a shallower state of the
    /// domains above the CPU.
    fn takes(&self, request: &str, states: States, asked: Option<States>) {
        let sound = asked.filter(|asked| is_sound(asked) && is_sound(&states));
        let is_shallower = sound.is_some_and(|asked| {
            states[0] == asked[0]
                && states
                    .iter()
                    .zip(asked)
                    .all(|(state, asked)| *state <= asked)
        });
        if is_shallower || asked == Some(states) {
            return self.ledger.borrow_mut().takes(self.process(), states);
        }
        let right = asked.filter(is_sound).map_or_else(
            || "it is no state of the board".to_owned(),
            |asked| {
                format!(
                    "{} or a shallower state of its domains would be right",
                    shown(&asked)
                )
            },
        );
        let what = format!("takes {request} for {}, and {right}", shown(&states));
        self.hook_fails(Invariant::Answer, &what)
    }

    /// The state of a domain whose CPUs ask for `requests`: a port's answer, which no CPU's request
    /// is shallower than, or the shallowest request, as TF-A has it.
    pub(crate) fn coordinated(&self, level: u8, requests: impl Iterator<Item = u8>) -> u8 {
        if self.port.is_none() {
            return layout::coordinate(requests);
        }
        let (mut all, mut count) = ([0; MOST_CPUS], 0);
        for request in requests {
            all[count] = request;
            count += 1;
        }
        let shallowest = all[..count].iter().copied().min().unwrap_or(0);
        let answer = self.hook(Hook::TargetState, level.into(), &mut all[..count]);
        let state = answer.map_or(shallowest, |state| state as u8);
        let below = self
            .ledger
            .borrow_mut()
            .answers(self.process(), level, state);
        let wrong = if state > shallowest {
            format!("a CPU asks for no deeper state than {shallowest}")
        } else if layout::loses(level, state)
            && below.is_some_and(|below| !layout::loses(level - 1, below))
        {
            format!("level {} keeps its contents", level - 1)
        } else {
            return state;
        };
        let what = format!("answers state {state} for level {level}, and {wrong}");
        self.hook_fails(Invariant::DomainState, &what)
    }

    /// The states of SYSTEM_SUSPEND.
    pub(crate) fn system_states(&self) -> States {
        let mut states = SYSTEM;
        if self.hook(Hook::SystemState, 0, &mut states).is_some() {
            self.takes("SYSTEM_SUSPEND", states, Some(SYSTEM));
        }
        states
    }
}
