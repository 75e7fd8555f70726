//! The power curves of phones that Perfetto's Wattson has.
//!
//! A folder holds `cpu_1d.csv` (a row per policy and clock) and `cpu_2d.csv` (a row per policy,
//! clock and clock of another policy, which shares the supply, or of the DSU, whose number is 255).
//! Powers are in milliwatts. `l3.csv`, which has energies per hit and miss of the L3, is not read:
//! no trace here counts hits and misses.

use document::{Document, Error};
use serde::Deserialize;
use std::ops::Range;
use std::path::Path;

/// The most power of a row, in milliwatts: what is beyond is a mistake.
const MOST_MW: f64 = 100_000.0;
const MOST_CPUS: u16 = 64;
const MOST_KHZ: u64 = 20_000_000;

/// The clock of a policy, or of the DSU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Clock {
    /// The policy, by its first CPU; 255 for the DSU.
    pub policy: u16,
    /// Frequency in kHz.
    pub khz: u64,
}

/// A row of a curve; powers are in milliwatts.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// The clock in kHz.
    pub khz: u64,
    /// The clock of whom it depends on, if on anybody.
    pub dependency: Option<Clock>,
    /// Power of the policy while any of its CPUs is on.
    pub fixed_mw: f64,
    /// Power of a CPU that runs.
    pub active_mw: f64,
    /// Power of a CPU in idle state 0, and in any deeper one.
    pub idle_mw: [f64; 2],
    /// Power of the interconnect.
    pub interconnect_mw: f64,
}

/// The curve of a policy.
#[derive(Clone, Debug, PartialEq)]
pub struct Policy {
    /// First CPU of the policy.
    pub first_cpu: u16,
    /// The rows, by rising clock.
    pub rows: Vec<Row>,
}

/// The curves of a device.
#[derive(Clone, Debug, PartialEq)]
pub struct Curves {
    /// The device's name.
    pub device: String,
    /// Policies of the curves, by their first CPUs.
    pub policies: Vec<Policy>,
}

/// A row of any of the files.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RowRead {
    device: String,
    policy: Option<u16>,
    freq_khz: u64,
    dep_policy: Option<u16>,
    dep_freq: Option<u64>,
    #[serde(rename = "static")]
    fixed: Option<f64>,
    active: Option<f64>,
    idle0: Option<f64>,
    idle1: Option<f64>,
    interconnect: Option<f64>,
}

impl Curves {
    /// Reads a folder of a device.
    ///
    /// # Errors
    /// It has none of the files; a file and the line that are wrong; devices that differ.
    pub fn read(folder: &Path) -> Result<Self, Error> {
        let open = |name: &str| {
            let path = folder.join(name);
            path.is_file().then(|| Document::open(&path)).transpose()
        };
        let documents = [open("cpu_1d.csv")?, open("cpu_2d.csv")?];
        if documents.iter().all(Option::is_none) {
            let what = "it has neither cpu_1d.csv nor cpu_2d.csv";
            return Err(Error::unreadable(&folder.display().to_string(), what)
                .with_help("name the folder of a device below src/trace_processor/plugins/wattson/data of Perfetto"));
        }
        Self::parse(documents.iter().flatten())
    }

    /// The curves of some files.
    ///
    /// # Errors
    /// A file and the line that are wrong; devices that differ.
    pub fn parse<'d>(files: impl IntoIterator<Item = &'d Document>) -> Result<Self, Error> {
        let mut curves = Self { device: String::new(), policies: Vec::new() };
        for document in files {
            for row in document.rows::<RowRead>()? {
                let place = row.span();
                curves.add(document, place, row.into_inner())?;
            }
        }
        curves.policies.sort_by_key(|policy| policy.first_cpu);
        curves.policies.iter_mut().for_each(|policy| policy.rows.sort_by_key(|row| row.khz));
        Ok(curves)
    }

    /// Adds a row of a policy's curve.
    fn add(&mut self, document: &Document, place: Range<usize>, row: RowRead) -> Result<(), Error> {
        let wrong = |what: String, help: &str| Err(document.wrong(place.clone(), what, help));
        let (Some(policy), Some(fixed), Some(active), Some(idle0), Some(idle1)) =
            (row.policy, row.fixed, row.active, row.idle0, row.idle1)
        else {
            let help = "a curve has policy, freq_khz, static, active, idle0 and idle1";
            return wrong("a column is missing".to_owned(), help);
        };
        let powers = [fixed, active, idle0, idle1, row.interconnect.unwrap_or(0.0)];
        if powers.iter().any(|power| !power.is_finite() || !(0.0..=MOST_MW).contains(power)) {
            return wrong("a power is no number from 0 to 100000 mW".to_owned(), "powers are in milliwatts");
        }
        if policy >= MOST_CPUS || !(1..=MOST_KHZ).contains(&row.freq_khz) {
            return wrong(
                format!("policy {policy} at {} kHz", row.freq_khz),
                "a policy is its first CPU, from 0 to 63, and a clock is 1 to 20000000 kHz",
            );
        }
        if row.device.is_empty() || row.device.contains(|c: char| c.is_control() || "\"\\".contains(c)) {
            let what = format!("{:?} is no name of a device", row.device);
            return wrong(what, "a name has letters, digits, spaces and signs, but no quotes");
        }
        if self.device.is_empty() {
            self.device.clone_from(&row.device);
        } else if self.device != row.device {
            let what = format!("the device is {}, and was {} before", row.device, self.device);
            return wrong(what, "keep the curves of one device in a folder");
        }
        let dependency = match (row.dep_policy, row.dep_freq) {
            (Some(policy), Some(khz)) => Some(Clock { policy, khz }),
            (None, None) => None,
            _ => return wrong("half of a dependency".to_owned(), "give dep_policy and dep_freq, or neither"),
        };
        let new = Row {
            khz: row.freq_khz,
            dependency,
            fixed_mw: fixed,
            active_mw: active,
            idle_mw: [idle0, idle1],
            interconnect_mw: row.interconnect.unwrap_or(0.0),
        };
        let at = self.policies.iter().position(|known| known.first_cpu == policy);
        let at = at.unwrap_or_else(|| {
            self.policies.push(Policy { first_cpu: policy, rows: Vec::new() });
            self.policies.len() - 1
        });
        let rows = &mut self.policies[at].rows;
        if rows.iter().any(|other| (other.khz, other.dependency) == (new.khz, new.dependency)) {
            return wrong(format!("a second row for {} kHz", new.khz), "leave one of them out");
        }
        rows.push(new);
        Ok(())
    }

    /// The rows of a policy by rising clock, one for each: those beside the lowest clock of whom it
    /// depends on.
    pub fn lowest_rows(&self, policy: &Policy) -> Vec<Row> {
        let mut all: Vec<Row> = Vec::new();
        for row in &policy.rows {
            let key = |row: &Row| row.dependency.map(|other| (other.khz, other.policy));
            match all.last_mut() {
                Some(last) if last.khz == row.khz => {
                    if key(row) < key(last) {
                        *last = row.clone();
                    }
                }
                _ => all.push(row.clone()),
            }
        }
        all
    }
}

/// The time in us by which Wattson lengthens a CPU's running after a deep idle state, by device,
/// first CPU and last.
const EXITS_US: [(&str, u16, u16, u64); 5] = [
    ("Tensor", 6, 7, 200),
    ("Tensor G4", 4, 6, 110),
    ("Tensor G4", 7, 7, 400),
    ("monaco", 0, 63, 450),
    ("neo", 0, 63, 100),
];

/// The time in us by which Wattson lengthens the running of a CPU that leaves a deep idle state.
pub fn exit_us(device: &str, cpu: u16) -> u64 {
    let same = |name: &str| name.replace(' ', "_").eq_ignore_ascii_case(&device.replace(' ', "_"));
    let is_it = |(name, first, last, _): &&(&str, u16, u16, u64)| same(name) && (*first..=*last).contains(&cpu);
    EXITS_US.iter().find(is_it).map_or(0, |(.., us)| *us)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ONE: &str = "device,policy,freq_khz,static,active,idle0,idle1\n\
        Tensor,4,400000,0,28.51,5.24,0\nTensor,4,2253000,0,527.05,23.5,0\n\
        Tensor,6,500000,0,87.31,16.14,0\nTensor,6,2802000,0,1942.89,121.43,0\n";
    const TWO: &str = "device,policy,freq_khz,dep_policy,dep_freq,static,active,idle0,idle1\n\
        Tensor,0,300000,4,400000,3.73,21.84,0.47,0\nTensor,0,300000,6,500000,2.61,22.89,0.76,0\n\
        Tensor,0,1803000,4,400000,35.71,342.95,3.49,0\n";

    fn document(text: &str) -> Document {
        Document::new("curves.csv", text)
    }

    fn tensor() -> Curves {
        Curves::parse(&[document(ONE), document(TWO)]).unwrap()
    }

    #[test]
    fn the_published_rows_are_those_of_each_policy() {
        let curves = tensor();
        assert_eq!(curves.policies.iter().map(|policy| policy.first_cpu).collect::<Vec<_>>(), [0, 4, 6]);
        let rows = curves.lowest_rows(&curves.policies[0]);
        let read: Vec<_> = rows.iter().map(|row| (row.khz, row.fixed_mw, row.active_mw, row.idle_mw)).collect();
        assert_eq!(read, [(300_000, 3.73, 21.84, [0.47, 0.0]), (1_803_000, 35.71, 342.95, [3.49, 0.0])]);
    }

    #[test]
    fn a_device_has_a_name_that_a_file_can_hold() {
        for name in ["", "\"Ten\"\"sor\"", "Ten\\sor", "Ten\u{7}sor"] {
            let text = ONE.replace("Tensor", name);
            let error = Curves::parse(&[document(&text)]).unwrap_err().to_string();
            assert!(error.contains("curves.csv:2") && error.contains("is no name of a device"), "{name:?}: {error}");
        }
        assert!(Curves::parse(&[document(&ONE.replace("Tensor", "Pixel 6 (oriole)"))]).is_ok());
    }

    #[test]
    fn interconnects_are_read() {
        let text = "device,policy,freq_khz,dep_policy,dep_freq,static,active,idle0,idle1,interconnect\nM,0,480000,255,400000,11.89,33.54,0.25,0,2.5\n";
        let curves = Curves::parse(&[document(text)]).unwrap();
        assert_eq!(curves.policies[0].rows[0].interconnect_mw, 2.5);
    }

    #[test]
    fn leaving_deep_idle_takes_what_wattson_says() {
        assert_eq!(
            [exit_us("Tensor", 6), exit_us("Tensor", 5), exit_us("Tensor_G4", 7), exit_us("neo", 0)],
            [200, 0, 400, 100]
        );
    }

    #[test]
    fn what_is_wrong_is_named_with_its_line() {
        let wrong = |text: &str| Curves::parse(&[document(text)]).unwrap_err().to_string();
        let with = |row: &str| wrong(&format!("{ONE}{row}\n"));
        assert!(with("Pixel,4,1,0,1,1,1").contains("curves.csv:6"));
        assert!(with("Tensor,4,1,0,-1,1,1").contains("100000 mW"));
        assert!(with("Tensor,99,1,0,1,1,1").contains("policy 99"));
        assert!(with("Tensor,4,400000,0,1,1,1").contains("second row"));
        assert!(with("Tensor,4,x,0,1,1,1").contains("curves.csv:6"));
    }
}
