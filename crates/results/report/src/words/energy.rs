//! Energy: how far RCU's model and the energy model's reproduce what was published, and what they
//! save.

use crate::blocks::{figure, fixed, one_or_range};
use evidence::share_less;
use findings::eas_energy::{Board, EasEnergy, MEASURED, predictor_name};
use findings::energy::Savings;
use findings::trace_energy::TraceEnergy;
use itertools::Itertools;
use recording::facts::TraceOwner;

/// How far the model reproduces what was published, and what the draws tell. A few draws tell no
/// saving: what was not published can move each further than they reach.
pub fn rcu(savings: &Savings<'_>) -> String {
    let is_drawn = savings.is_drawn();
    let judged = savings.judged().map(|of| {
        let is_near = 2 * of.held > of.published && (80.0..125.0).contains(&of.medians_percent);
        let reproduces = if is_near { "reproduces" } else { "does not reproduce" };
        let held = is_drawn.then(|| {
            format!(
                "{} of {} lie within its intervals, and {} are more than RCU costs at all. ",
                of.held, of.published, of.exceeding
            )
        });
        format!(
            "The model {reproduces} the published savings: its medians add up to {:.0} % of them. {}",
            of.medians_percent,
            held.unwrap_or_default()
        )
    });
    let medians = savings.saving().map(|(_, of)| of.median).collect_vec();
    let (least, most) = medians
        .iter()
        .copied()
        .minmax_by(f64::total_cmp)
        .into_option()
        .unwrap_or((f64::INFINITY, f64::NEG_INFINITY));
    let saved = if is_drawn {
        format!(
            "The sign of the saving is certain in {} of {} cells, whose medians are {} to {} %.",
            savings.certain(),
            medians.len(),
            fixed(least, 2),
            fixed(most, 2)
        )
    } else {
        few_draws(savings.draws)
    };
    judged.unwrap_or_default() + &saved
}

/// Who took the most of a trace's energy, and what of it is not told.
pub fn trace(energy: &TraceEnergy<'_>) -> Vec<String> {
    let leaders = energy.leaders();
    let energy = &energy.facts;
    let unit = &energy.unit;
    let range = |ends: [f64; 2]| one_or_range(ends.map(figure));
    let took = |owner: &TraceOwner| format!("{} {} {unit}", owner.name, range(owner.energy));
    let Some(leaders) = leaders else {
        return vec!["The trace tells no owner of any energy.".to_owned()];
    };
    let first = match leaders.items[..] {
        [owner] => format!("Of what the trace tells, {} is the most.", took(owner)),
        [first, second, ..] => format!(
            "Which owner took the most cannot be told: {} or {}.",
            took(first),
            took(second)
        ),
        [] => String::new(),
    };
    let untold = energy.owners.iter().find(|owner| owner.is_work.is_none());
    let untold = untold.map_or(String::new(), |owner| format!("; {}", took(owner)));
    let all = format!(
        "All is {} {unit} in {} s{untold}.",
        range(energy.energy),
        figure(energy.seconds)
    );
    let wall = energy
        .wall
        .map(|[low, high]| format!("Boards took {low} to {high} times as much at the wall."));
    [first, all].into_iter().chain(wall).collect()
}

/// What few draws cannot tell, and the run that can.
fn few_draws(draws: u32) -> String {
    let cause = match draws {
        0 => "Nothing was drawn".to_owned(),
        1 => "1 draw was made".to_owned(),
        draws => format!("{draws} draws were made"),
    };
    format!(
        "{cause} of what was not published, too few to tell a saving: `stopwatt run rcu-energy --full` draws 256 in some minutes."
    )
}

/// The number of seeds.
pub fn seeds(found: &EasEnergy<'_>) -> String {
    match found.seeds {
        1 => "one seed".to_owned(),
        seeds => format!("{seeds} seeds"),
    }
}

/// The distance of the model from what was published, and that of the constant beside it;
/// otherwise what the energy model gains.
pub fn eas(found: &EasEnergy<'_>) -> String {
    found
        .boards
        .iter()
        .map(|board| on_board(found, board))
        .join(" ")
}

fn on_board(found: &EasEnergy<'_>, board: &Board<'_>) -> String {
    let find = |wanted: &str| board.predictors.iter().find(|one| one.name == wanted);
    let assumed = board.assumed.get(board.usual).copied().unwrap_or_default();
    let (name, model) = (board.name, find(&predictor_name(MEASURED, assumed)));
    if let Some((model, constant)) = model.zip(find("a constant per task")) {
        return format!(
            "On {name} the energies are within {:.1} % (rms) of the published ones with one scale, {:.3}; a constant per task is within \
             {:.1} %.",
            model.rms_percent, model.scale, constant.rms_percent
        );
    }
    let Some(gain) = board.gain_percent else {
        return format!(
            "On {name} nothing is compared: `--rules eas,off` tells what the energy model saves."
        );
    };
    let taken = share_less([gain.low, gain.high].map(|percent| percent / 100.0));
    let energy = format!("{taken} energy than the same kernel without one");
    match (board.is_varied, gain.low > 0.0 || gain.high < 0.0) {
        (true, true) => format!("On {name} the energy model takes {energy}."),
        (true, false) => format!(
            "On {name} the energy model takes {energy}. Which it is hangs on the tasks and on what no source says."
        ),
        (false, _) => format!(
            "On {name} the energy model took {energy}, with {}. Whether it saves cannot be told yet.",
            seeds(found)
        ),
    }
}

/// What the run lacks to tell a saving, and the run that tells it.
pub fn not_varied(found: &EasEnergy<'_>) -> String {
    format!(
        "What no source says is assumed in one way, over {}: `stopwatt run placement --tasks ... --full` varies it over ten seeds in some \
         minutes, and tells how far a saving can be told.",
        seeds(found)
    )
}

/// Whether offloading makes jitter smaller, by the shares of the predictions below and above.
pub fn jitter(below: f64, above: f64) -> String {
    let verdict = if below > above {
        "agrees more often than not"
    } else {
        "refuted here"
    };
    format!(
        "The talk offloads callbacks for the sake of jitter: {verdict}. Offload's p99.9 is below the reference's in {:.0} % of the \
         predictions, and above it in {:.0} %.",
        100.0 * below,
        100.0 * above
    )
}

/// The predictors that come nearest to the published savings, and that have their order.
pub fn predictors(savings: &Savings<'_>) -> String {
    let [nearest, order] =
        [savings.nearest, savings.best_order].map(|of| of.unwrap_or("several alike"));
    format!("Nearest: {nearest}. Best order: {order}.")
}
