//! The command line of an experiment, from its own description.

use clap::builder::{PossibleValue, PossibleValuesParser};
use clap::{Arg, ArgAction, ArgMatches, Command, ValueHint};
use experiment::{About, Error, Kind, Setting, Settings, World};

/// Settings with their defaults as a command has them.
pub type Defaults = &'static [(&'static dyn Setting, &'static str)];

/// The command that runs an experiment; `command` is what stands before the experiment's arguments
/// in examples.
pub fn command(about: &'static About, command: &str) -> Command {
    Command::new(about.name)
        .max_term_width(100)
        .after_help(after_help(about, command))
        .args(arguments(about, None))
}

/// The arguments of an experiment: its worlds and its settings. Help shows the defaults of `usual`
/// in place of a setting's own.
pub fn arguments(about: &'static About, usual: Option<Defaults>) -> Vec<Arg> {
    let worlds = about.worlds.iter().map(|(world, about)| {
        let needs = match world.needs() {
            [] => String::new(),
            needs => format!("; needs {}", needs.join(" and ")),
        };
        PossibleValue::new(world.name()).help(format!("{about}{needs}"))
    });
    let world = Arg::new("world")
        .long("world")
        .value_name("WORLD")
        .help("Where it runs.");
    let mut all = vec![
        world
            .value_parser(PossibleValuesParser::new(worlds))
            .default_value(about.worlds[0].0.name()),
    ];
    all.extend(
        about
            .settings
            .iter()
            .map(|setting| argument(about, *setting, usual)),
    );
    all
}

fn argument(about: &About, setting: &'static dyn Setting, usual: Option<Defaults>) -> Arg {
    let described = setting.described();
    let mut help = described.about.to_owned();
    if !described.unit.is_empty() {
        help.push_str(&format!(" In {}.", described.unit));
    }
    // A default that help shows and the parser does not know: what was given must be told from what
    // was not.
    let here = usual.and_then(|usual| usual.iter().find(|(it, _)| it.name() == setting.name()));
    if let Some((_, default)) = here {
        help.push_str(&format!(" [default here: {default}]"));
    } else if let Some(default) = setting.default() {
        help.push_str(&format!(" [default: {default}]"));
    }
    let mut arg = Arg::new(setting.name()).help(help);
    if !described.positional {
        arg = arg.long(setting.name());
    }
    let kind = setting.kind();
    arg = match &kind {
        Kind::Switch => arg.action(ArgAction::SetTrue),
        kind if kind.is_list() => arg.action(ArgAction::Append).value_name(kind.value_name()),
        // A setting that takes none below 0 says so itself.
        kind => arg
            .value_name(kind.value_name())
            .allow_negative_numbers(true),
    };
    arg = match &kind {
        Kind::Choice(choices) => {
            let values = choices
                .iter()
                .map(|(name, about)| PossibleValue::new(*name).help(*about));
            arg.value_parser(PossibleValuesParser::new(values))
        }
        Kind::InputFile | Kind::OutputFile => arg.value_hint(ValueHint::AnyPath),
        Kind::Folder => arg.value_hint(ValueHint::DirPath),
        _ => arg,
    };
    match described.worlds {
        [World::Sim] if about.worlds.len() > 1 => arg.help_heading("In the world sim"),
        [World::Host] if about.worlds.len() > 1 => arg.help_heading("In the world host"),
        [World::Qemu] if about.worlds.len() > 1 => arg.help_heading("In the world qemu"),
        _ => arg,
    }
}

fn after_help(about: &About, command: &str) -> String {
    let mut help = String::from("Examples:");
    let width = about
        .examples
        .iter()
        .map(|(arguments, _)| arguments.len())
        .max()
        .unwrap_or(0);
    for (arguments, about) in about.examples {
        let line = format!("  {command} {arguments:width$}   {about}");
        help.push_str(&format!("\n{}", line.trim_end()));
    }
    if !about.details.is_empty() {
        help.push_str(&format!("\n\n{}", about.details));
    }
    help
}

/// The world that is asked for.
pub fn world(about: &About, matches: &ArgMatches) -> World {
    let name = matches.get_one::<String>("world");
    name.and_then(|name| about.world(name))
        .unwrap_or(about.worlds[0].0)
}

/// Names and values of the settings that were given.
pub fn given(about: &'static About, matches: &ArgMatches) -> Vec<(String, String)> {
    let mut given = Vec::new();
    for setting in about.settings {
        if matches!(setting.kind(), Kind::Switch) {
            if matches.get_flag(setting.name()) {
                given.push((setting.name().to_owned(), "true".to_owned()));
            }
            continue;
        }
        for value in matches
            .get_many::<String>(setting.name())
            .into_iter()
            .flatten()
        {
            given.push((setting.name().to_owned(), value.clone()));
        }
    }
    given
}

/// The settings of a run.
pub fn settings(about: &'static About, matches: &ArgMatches) -> Result<Settings, Error> {
    Settings::new(about, world(about, matches), given(about, matches))
}
