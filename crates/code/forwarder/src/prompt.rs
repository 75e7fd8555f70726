//! Commands of the prompt: what there is, how it may be shortened, and what it does.

use dataplane::graph::{Graph, Report};
use dataplane::show::{errors, runtime, trace};

use crate::control::Control;
use crate::show;

/// The action of a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Command {
    /// An empty line, or a remark.
    Nothing,
    /// Prints one of the tables.
    Show(Table),
    /// Follows the next packets of an input.
    TraceAdd(String, usize),
    /// Sets counters to zero, or deletes traces.
    Clear(What),
    /// Makes the given number of rounds. Only where nothing else makes them, before the first
    /// packet.
    Run(usize),
    /// Prints what there is, of the commands that start so.
    Help(String),
    /// Ends.
    Quit,
}

/// A table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Table {
    /// The counters of nodes.
    Runtime,
    /// Why packets were dropped or punted.
    Errors,
    /// Interfaces and their counters.
    Interface,
    /// Routes.
    Fib,
    /// Our addresses.
    Address,
    /// Neighbours.
    Neighbor,
    /// The use that interfaces make of packets that come in.
    Mode,
    /// The way of packets; at most the given number of them.
    Trace(usize),
    /// Drivers.
    Hardware,
    /// Workers.
    Threads,
}

/// The counters that can be cleared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    /// Counters of nodes.
    Runtime,
    /// Counters of errors.
    Errors,
    /// Traces.
    Trace,
}

/// Packets or routes that are shown where no number is given.
const MANY: usize = 50;

/// The words of a command, names of what is given in capitals, and what it does.
const COMMANDS: [(&str, &str); 20] = [
    ("show runtime", "calls, packets and clocks of each node, for each worker"),
    ("show errors", "why packets were dropped or punted"),
    ("show interface", "interfaces and their counters"),
    ("show hardware", "driver and mode of each interface, and what is done in a device's place"),
    ("show threads", "workers, and the processors they are on"),
    ("show ip fib", "routes"),
    ("show ip address", "our addresses, and who answers for them"),
    ("show ip neighbor", "neighbours, and what is known of them"),
    ("show ip neighbour", "the same"),
    ("show mode", "what interfaces do with packets that come in"),
    ("show trace", "the way of the packets that were followed"),
    ("show trace max N", "at most N of them"),
    ("trace add NODE N", "follow the next N packets of an input node"),
    ("clear runtime", "set the nodes' counters to zero"),
    ("clear errors", "set the counters of errors to zero"),
    ("clear trace", "forget the packets that were followed"),
    ("run N", "make N rounds, in a file of commands before the first packet"),
    ("help", "print this; `help show` what starts so"),
    ("?", "the same, also behind the start of a command: `show ?`"),
    ("quit", "stop the forwarder"),
];

/// True if a word of a line stands for a word of a command.
fn stands_for(given: &str, word: &str) -> bool {
    let is_name = word.chars().all(|c| c.is_ascii_uppercase());
    is_name || word.starts_with(given)
}

/// The commands that a line may stand for: those whose words start as the line's do.
fn candidates(words: &[&str]) -> Vec<&'static str> {
    let fits = |command: &&str| {
        let own: Vec<&str> = command.split(' ').collect();
        words.len() <= own.len() && words.iter().zip(&own).all(|(given, word)| stands_for(given, word))
    };
    COMMANDS.iter().map(|(command, _)| *command).filter(fits).collect()
}

/// The words that may come next at the end of a line, whole, for completion at a terminal.
pub fn completions(line: &str, inputs: &[String]) -> Vec<String> {
    let mut words: Vec<&str> = line.split_whitespace().collect();
    let last = if line.is_empty() || line.ends_with(' ') { "" } else { words.pop().unwrap_or_default() };
    let mut found: Vec<String> = Vec::new();
    for command in candidates(&words) {
        match command.split(' ').nth(words.len()) {
            Some("NODE") => found.extend(inputs.iter().filter(|input| input.starts_with(last)).cloned()),
            Some(word) if word.starts_with(last) && word != "N" => found.push(word.to_owned()),
            _ => {}
        }
    }
    found.sort();
    found.dedup();
    found
}

/// Reads a line. Each word may be shortened as long as one command is left that it may stand for.
///
/// # Errors
/// The line is no command, or may stand for several; the message lists the commands.
pub fn parse(line: &str) -> Result<Command, String> {
    let words: Vec<&str> = line.split_whitespace().collect();
    match words[..] {
        [] => return Ok(Command::Nothing),
        [first, ..] if first.starts_with('#') => return Ok(Command::Nothing),
        [ref start @ .., "?"] => return Ok(Command::Help(start.join(" "))),
        ["exit" | "q"] => return Ok(Command::Quit),
        [first, ref start @ ..] if "help".starts_with(first) => return Ok(Command::Help(start.join(" "))),
        _ => {}
    }
    let fits = candidates(&words);
    let whole: Vec<&str> = fits.iter().copied().filter(|command| command.split(' ').count() == words.len()).collect();
    // A whole word stands for itself, also where it starts a longer one.
    let exact = whole.iter().copied().find(|command| *command == words.join(" "));
    let same = |commands: &[&str]| commands.iter().all(|command| command.starts_with("show ip neighbo"));
    let command = match (exact, &whole[..]) {
        (Some(command), _) => command,
        (None, [command]) => command,
        (None, [command, ..]) if same(&whole) => command,
        (None, []) if fits.is_empty() => {
            return Err(format!("no command `{line}`: `help` lists those there are"));
        }
        (None, []) => return Err(format!("no command `{line}` alone, but: {}", fits.join(", "))),
        (None, several) => return Err(format!("`{line}` may be: {}", several.join(", "))),
    };
    let number = |text: &str| text.parse::<usize>().map_err(|_| format!("`{text}` is no number"));
    Ok(match command {
        "show runtime" => Command::Show(Table::Runtime),
        "show errors" => Command::Show(Table::Errors),
        "show interface" => Command::Show(Table::Interface),
        "show hardware" => Command::Show(Table::Hardware),
        "show threads" => Command::Show(Table::Threads),
        "show ip fib" => Command::Show(Table::Fib),
        "show ip address" => Command::Show(Table::Address),
        "show ip neighbor" | "show ip neighbour" => Command::Show(Table::Neighbor),
        "show mode" => Command::Show(Table::Mode),
        "show trace" => Command::Show(Table::Trace(MANY)),
        "show trace max N" => Command::Show(Table::Trace(number(words[3])?)),
        "trace add NODE N" => Command::TraceAdd(words[2].to_owned(), number(words[3])?),
        "clear runtime" => Command::Clear(What::Runtime),
        "clear errors" => Command::Clear(What::Errors),
        "clear trace" => Command::Clear(What::Trace),
        "run N" => Command::Run(number(words[1])?),
        "quit" => Command::Quit,
        _ => Command::Help(String::new()),
    })
}

/// Applies a command to one worker's graph.
///
/// # Errors
/// The command names an input node that the graph does not have.
pub fn apply(graph: &mut Graph, command: &Command) -> Result<(), String> {
    match command {
        Command::TraceAdd(input, count) => {
            let inputs = inputs(graph);
            if !inputs.contains(input) {
                let there = if inputs.is_empty() { "there are none".to_owned() } else { inputs.join(", ") };
                return Err(format!("no input node `{input}`: {there}"));
            }
            graph.tracer.add(input, *count);
        }
        Command::Clear(What::Runtime) => graph.clear_runtime(),
        Command::Clear(What::Errors) => graph.clear_errors(),
        Command::Clear(What::Trace) => graph.tracer.clear(),
        Command::Run(rounds) => {
            for _ in 0..*rounds {
                graph.run_once();
            }
        }
        Command::Nothing | Command::Show(_) | Command::Help(_) | Command::Quit => {}
    }
    Ok(())
}

/// Names of a graph's input nodes.
pub fn inputs(graph: &Graph) -> Vec<String> {
    graph
        .runtime()
        .into_iter()
        .filter(|row| row.state == dataplane::graph::NodeState::Polling)
        .map(|row| row.name)
        .collect()
}

/// The text that a command prints. `threads` says what `show threads` does.
pub fn answer(reports: &[Report], control: &Control, threads: &str, command: &Command) -> String {
    let first = reports.first();
    let of_first = |table: &dyn Fn(&Report) -> String| first.map(table).unwrap_or_default();
    match command {
        Command::Show(table) => match table {
            Table::Runtime => runtime(reports),
            Table::Errors => errors(reports),
            Table::Interface => show::interfaces(reports),
            Table::Hardware => of_first(&show::hardware),
            Table::Threads => threads.to_owned(),
            Table::Fib => of_first(&|report| show::fib(report, MANY)),
            Table::Address => of_first(&show::addresses),
            Table::Neighbor => of_first(&|report| show::neighbours(report, control)),
            Table::Mode => of_first(&show::modes),
            Table::Trace(limit) => trace(reports, *limit),
        },
        Command::Help(start) => help(start),
        _ => String::new(),
    }
}

/// The commands that start so.
fn help(start: &str) -> String {
    let words: Vec<&str> = start.split_whitespace().collect();
    let fits = candidates(&words);
    if fits.is_empty() {
        return format!("no command starts with `{start}`\n");
    }
    let rows = COMMANDS.iter().filter(|(command, _)| fits.contains(command));
    rows.map(|(command, about)| format!("  {command:<20} {about}\n")).collect()
}

/// Runs one command on a graph that nobody else runs.
///
/// # Errors
/// The error.
pub fn run(graph: &mut Graph, control: &Control, line: &str) -> Result<String, String> {
    let command = parse(line)?;
    apply(graph, &command)?;
    Ok(answer(&[graph.report()], control, "one thread, before it starts\n", &command))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_may_be_shortened_while_one_command_is_left() {
        for (line, command) in [
            ("show runtime", Command::Show(Table::Runtime)),
            ("sh run", Command::Show(Table::Runtime)),
            ("s r", Command::Show(Table::Runtime)),
            ("show int", Command::Show(Table::Interface)),
            ("sh ha", Command::Show(Table::Hardware)),
            ("sh ip n", Command::Show(Table::Neighbor)),
            ("show error", Command::Show(Table::Errors)),
            ("show trace", Command::Show(Table::Trace(50))),
            ("sh tr max 3", Command::Show(Table::Trace(3))),
            ("tr a pg-input 7", Command::TraceAdd("pg-input".to_owned(), 7)),
            ("cl run", Command::Clear(What::Runtime)),
            ("run 3", Command::Run(3)),
            ("show ?", Command::Help("show".to_owned())),
            ("?", Command::Help(String::new())),
            ("h", Command::Help(String::new())),
            ("help show ip", Command::Help("show ip".to_owned())),
            ("q", Command::Quit),
            ("qu", Command::Quit),
            ("exit", Command::Quit),
            ("  # a remark", Command::Nothing),
        ] {
            assert_eq!(parse(line), Ok(command), "{line}");
        }
    }

    #[test]
    fn what_is_no_command_says_what_would_be_one() {
        for (line, expected) in [
            ("show t", "show threads, show trace"),
            ("show", "show runtime"),
            ("show ip", "show ip fib"),
            ("trace add", "trace add NODE N"),
            ("nonsense", "`help` lists"),
            ("show runtime now", "`help` lists"),
            ("run x", "`x` is no number"),
        ] {
            let said = parse(line).unwrap_err();
            assert!(said.contains(expected), "{line}: {said}");
        }
    }

    #[test]
    fn completion_offers_the_words_that_may_follow() {
        let inputs = ["af-packet-input-eth0".to_owned()];
        assert_eq!(completions("sho", &inputs), ["show"]);
        assert_eq!(completions("show ip ", &inputs), ["address", "fib", "neighbor", "neighbour"]);
        assert_eq!(completions("show t", &inputs), ["threads", "trace"]);
        assert_eq!(completions("trace add a", &inputs), ["af-packet-input-eth0"]);
        assert_eq!(completions("run ", &inputs), Vec::<String>::new());
    }
}
