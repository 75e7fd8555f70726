//! A port of others: its platform hooks answer in place of the board, and drive the board's
//! hardware by the functions here, each of which is an operation of the CPU that runs.

use super::acts::{CLOSE_PORT, HOOK, OPEN_PORT, POWER_DOWN};
use super::board::{Board, Command, variables_of};
use super::hook::Hook;
use super::ledger::{SYSTEM, States};
use super::{layout, names};
use interleavings::subject::{Invariant, MOST_CPUS, Order};

impl Board {
    /// Calls a hook, if there is a port that has it.
    pub(crate) fn hook(&self, hook: Hook, argument: u64, states: &mut [u8]) -> Option<i32> {
        let port = self.port?;
        let state = self.state();
        let last = state.hook.replace(Some(hook));
        // The hooks behind these only answer.
        if hook as usize <= Hook::SuspendFinish as usize {
            state.loaded.set(None);
            state.gave.set(None);
            self.does(&HOOK, hook as u64);
        }
        let result = port.call(self, hook, argument, states);
        if result.is_none() {
            state.hook.set(last);
        }
        result
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
        let wakes = self.state().hook.get() == Some(Hook::Suspend);
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

    /// `pwr_domain_on` has returned: it has done what it says.
    pub(crate) fn check_given(&self, target: usize, result: i32) {
        let gave = self.state().gave.get();
        if gave != Some(result == 0) {
            let did = ["was not asked to turn", "refuses to turn", "turns"]
                [gave.map_or(0, |gave| 1 + usize::from(gave))];
            self.hook_fails(
                Invariant::OneCpuOnWins,
                &format!("returns {result}, and the power controller {did} CPU {target} on"),
            );
        }
    }

    /// The hook of a power-down has returned: it has done what it was told.
    pub(crate) fn check_told(&self, cluster: bool) {
        let (process, own) = (self.process(), self.state().cluster);
        let told = self
            .commands
            .borrow()
            .iter()
            .copied()
            .find(|command| command.takes_down(process));
        let what = match told {
            Some(Command::Down { cluster: told, .. }) if told == cluster => return,
            Some(_) if cluster => format!("leaves cluster {own} on, and was told that it goes off"),
            Some(_) => format!("takes cluster {own} down, and was told that it stays on"),
            None => "does not tell the power controller that the CPU goes down".to_owned(),
        };
        self.hook_fails(Invariant::DomainState, &what);
    }

    /// The states of a `power_state`, and the level at which the caller is the last. A port may
    /// refuse states that the board has, and may not take others.
    pub(crate) fn decode(&self, raw: u32) -> Option<(States, u8)> {
        let known = layout::decode(raw);
        // Statistics are also kept of states that the port refuses.
        if !self.ledger.borrow().suspends(self.process()) {
            return known;
        }
        let mut states = [0; 3];
        match (self.hook(Hook::Validate, raw.into(), &mut states), known) {
            (None, _) => known,
            (Some(0), Some((right, _))) if right == states => known,
            (Some(0), _) => {
                let right = if known.is_some() {
                    "stands for others"
                } else {
                    "is no state of the board"
                };
                self.hook_fails(
                    Invariant::Answer,
                    &format!("takes {raw:#x} for {states:?}, and it {right}"),
                )
            }
            (Some(_), _) => {
                self.ledger.borrow_mut().refuses_state(self.process());
                None
            }
        }
    }

    /// The state of a domain whose CPUs ask for `requests`.
    pub(crate) fn coordinated(&self, level: u8, requests: impl Iterator<Item = u8>) -> u8 {
        if self.port.is_none() {
            return layout::coordinate(requests);
        }
        let (mut all, mut count) = ([0; MOST_CPUS], 0);
        for request in requests {
            all[count] = request;
            count += 1;
        }
        let state = self.hook(Hook::TargetState, level.into(), &mut all[..count]);
        state.map_or_else(
            || layout::coordinate(all[..count].iter().copied()),
            |state| state as u8,
        )
    }

    /// The states of SYSTEM_SUSPEND.
    pub(crate) fn system_states(&self) -> States {
        let mut states = SYSTEM;
        self.hook(Hook::SystemState, 0, &mut states);
        states
    }
}
