//! A port of others: its platform hooks answer in place of the board, and drive the board's
//! hardware by the functions here, each of which is an operation of the CPU that runs.

use super::{
    acts::{CLOSE_PORT, DEVICE, HOOK, OPEN_PORT, POWER_DOWN},
    board::{Board, Command, variables_of},
    hook::Hook::{
        self, EntryPoint, ReadProtect, StateIndex, SystemOff, SystemReset, SystemReset2,
        SystemState, TargetState, Translate, Validate, WriteProtect,
    },
    layout,
    layout::Own,
    ledger::{NO_STATE, SYSTEM, States, is_sound, shown},
    names,
};
use interleavings::subject::{
    Invariant::{self, Answer, DomainState, DomainUp, OneCpuOnWins, Statistics},
    MOST_CPUS, Order, Wait,
};
use psci_faults::STAT_SLOTS;
use std::cell::Cell;

impl Board {
    /// Calls a hook, if there is a port that has it.
    pub fn hook(&self, hook: Hook, arguments: &[u64], states: &mut [u8]) -> Option<i32> {
        let port = self.port.filter(|port| port.has(hook))?;
        let state = self.state();
        state.hook.set(Some(hook));
        state.loaded.take();
        state.gave.take();
        state.polled.take();
        if !matches!(
            hook,
            Validate | TargetState | SystemState | EntryPoint | StateIndex | Translate
        ) {
            self.does(&HOOK, hook as u64);
        }
        // The states are those of all levels, or requests at one.
        let level = |at: usize| match hook {
            TargetState => arguments[0] as u8,
            _ => at as u8,
        };
        let own = port.about().own;
        let turn = |states: &mut [u8], turned: fn(Own, u8, u8) -> u8| {
            for (at, state) in states.iter_mut().enumerate() {
                *state = turned(own, level(at), *state);
            }
        };
        turn(states, Own::number);
        let result = port.call(self, hook, arguments, states);
        turn(states, Own::state);
        result
    }

    /// The number that a port has for a state.
    pub fn number(&self, level: u8, state: u8) -> u64 {
        self.port
            .map_or(state, |port| port.about().own.number(level, state))
            .into()
    }

    /// What a port answers to a call that passes it on: one of those that PSCI has.
    pub fn passes(&self, hook: Hook, arguments: &[u64], right: &[i32]) -> Option<i32> {
        let answer = self.hook(hook, arguments, &mut [])?;
        if !right.contains(&answer) {
            let what = format!("answers {answer}, and right would be one of {right:?}");
            self.hook_fails(Answer, &what);
        }
        self.state().passed.set(Some(answer as u64));
        Some(answer)
    }

    /// MEM_PROTECT by a port: whether memory was protected.
    pub fn protect(&self, enable: bool) -> Option<bool> {
        let was = Cell::new(0);
        self.hook(ReadProtect, &[was.as_ptr() as u64], &mut [])?;
        if self.protected.get() && was.get() == 0 {
            self.hook_fails(Answer, "forgets that memory is protected")
        }
        if self.hook(WriteProtect, &[enable.into()], &mut [])? == 0 {
            self.protected.set(enable);
        }
        self.state().passed.set(Some((was.get() != 0) as u64));
        Some(was.get() != 0)
    }

    /// A port has an index of its own for each state of a level, of which the system has one.
    pub fn check_index(&self, level: u8, state: u8) {
        let index = |state| {
            self.hook(
                StateIndex,
                &[self.number(level, state), level.into()],
                &mut [],
            )
        };
        let own = index(state);
        if own.is_some_and(|own| {
            own as usize >= STAT_SLOTS || level < 2 && index(3 - state) == Some(own)
        }) {
            self.hook_fails(Statistics, "answers what is no index, or another state's");
        }
    }

    /// A hook is about to use the register of a device. What uses one or two of them again and again
    /// waits until nobody else can go on.
    pub fn use_device(&self, address: u64) {
        self.does(&DEVICE, address);
        let polled = &self.state().polled;
        let ([older, newer], times) = polled.get();
        let times = if older == address { times + 1 } else { 0 };
        polled.set(([newer, address], times));
        if times > 5 {
            self.block(Wait::Spin(0))
        }
    }

    /// A hook waits for an interrupt: one that ends the system for ever.
    pub fn wait_in_hook(&self) {
        if let Some(SystemOff | SystemReset | SystemReset2) = self.state().hook.get() {
            self.leave();
            self.stay()
        }
    }

    /// The hook that a CPU is in, or was in last, behind a preposition; nothing without a port.
    pub fn hook_of(&self, cpu: usize, preposition: &str) -> String {
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
        (names::words_of_library(self.shape) + at * cpus + of) as u16
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
        self.ports[self.state().cluster].set(true);
    }

    /// Tells the power controller that the own CPU goes down at its next WFI, or with its cluster.
    pub fn cut_power(&self, cluster: bool) {
        self.does(&POWER_DOWN, 0);
        let (process, own) = (self.process(), self.state().cluster);
        if cluster && !self.options.coherent && self.ports[own].get() {
            self.hook_fails(
                DomainUp,
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
    pub fn check_given(&self, target: usize, result: i32) {
        let gave = self.state().gave.get();
        if (gave == Some(true)) != (result == 0) {
            let did = ["was not asked to turn", "refuses to turn", "turns"]
                [gave.map_or(0, |gave| 1 + gave as usize)];
            self.hook_fails(
                OneCpuOnWins,
                &format!("returns {result}, and the power controller {did} CPU {target} on"),
            );
        }
    }

    /// The hooks of a power-down have returned: they go no deeper than they were told. Leaving a cluster
    /// on is allowed (PSCI DEN0022, 4.2.3.1).
    pub fn check_told(&self, cluster: bool) {
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
        self.hook_fails(DomainState, &what);
    }

    /// The states of a `power_state`, and the level at which the caller is the last. A port may
    /// refuse states that the board has, and may not take others. It may take one for a shallower
    /// state of the domains above the CPU, where the platform coordinates: there a request is a vote
    /// (PSCI DEN0022, 4.2.3.1), and where the OS coordinates it is complied with or refused (5.4).
    pub fn decode(&self, raw: u32) -> Option<(States, u8)> {
        let known = layout::decode(raw);
        let takes =
            |states| self.takes(&format!("{raw:#x}"), states, known.map(|(asked, _)| asked));
        let mut states = [0; 3];
        // Statistics are also kept of states that the port refuses.
        if !self.ledger.borrow().suspends(self.process()) {
            if self.hook(
                Translate,
                &[self.state().target.get(), raw.into()],
                &mut states,
            ) == Some(0)
            {
                takes(states);
            }
            return known;
        }
        match (self.hook(Validate, &[raw.into()], &mut states), known) {
            (None, _) => known,
            (Some(0), _) => {
                takes(states);
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
        self.hook_fails(Answer, &what)
    }

    /// The state of a domain whose CPUs ask for `requests`: a port's answer, which no CPU's request
    /// is shallower than, or the shallowest request, as TF-A has it.
    pub fn coordinated(&self, level: u8, requests: impl Iterator<Item = u8>) -> u8 {
        let Some(own) = self.port.map(|port| port.about().own) else {
            return layout::coordinate(requests);
        };
        let (mut all, mut count) = ([0; MOST_CPUS], 0);
        for request in requests {
            all[count] = request;
            count += 1;
        }
        let shallowest = all[..count].iter().copied().min().unwrap_or(0);
        let answer = self.hook(TargetState, &[level.into()], &mut all[..count]);
        let state = answer.map_or(shallowest, |state| own.state(level, state as u8));
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
        self.hook_fails(DomainState, &what)
    }

    /// The states of SYSTEM_SUSPEND.
    pub fn system_states(&self) -> States {
        let mut states = SYSTEM;
        if self.hook(SystemState, &[], &mut states).is_some() {
            self.takes("SYSTEM_SUSPEND", states, Some(SYSTEM));
        }
        states
    }
}
