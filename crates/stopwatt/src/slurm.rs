//! A sweep as an array of jobs of Slurm: the script, and its submission.

use console::Console;
use miette::{IntoDiagnostic, WrapErr, miette};
use std::fmt::Write;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::Command;

/// An array of jobs, a task for each shard.
pub struct Array {
    /// The number of shards.
    pub shards: u64,
    /// Lines behind `#SBATCH`, as sbatch takes them.
    pub options: Vec<String>,
    /// Folder of the data set, which the nodes must share.
    pub folder: PathBuf,
    /// The folder of the data, where one was given.
    pub data: Option<PathBuf>,
}

impl Array {
    /// The script. A task runs what is missing of its shard, so one that Slurm starts again goes
    /// on.
    pub fn script(&self) -> miette::Result<String> {
        let program = std::env::current_exe().into_diagnostic().wrap_err("cannot tell where this program is")?;
        let mut call = quoted(&program);
        // Within Python the program is the interpreter.
        if program.file_stem().is_none_or(|name| !name.to_string_lossy().starts_with("stopwatt")) {
            call.push_str(" -m stopwatt");
        }
        call.push_str(" --quiet");
        if let Some(data) = &self.data {
            let _ = write!(call, " --data {}", quoted(data));
        }
        let name = self.folder.file_name().unwrap_or_default().to_string_lossy();
        let name: String =
            name.chars().filter(|letter| letter.is_ascii_alphanumeric() || "-_.".contains(*letter)).collect();
        // What a path of sbatch's own may hold: %A is the array's number, %a the task's.
        let logs = self.folder.join("runs/slurm-%A_%a.log");
        let mut script = format!(
            "#!/bin/sh\n#SBATCH --job-name=stopwatt-{name}\n#SBATCH --array=1-{}\n#SBATCH --output={}\n#SBATCH --requeue\n",
            self.shards,
            quoted(&logs)
        );
        for option in &self.options {
            let _ = writeln!(script, "#SBATCH {option}");
        }
        let _ = writeln!(
            script,
            "exec {call} sweep --resume {} --shard \"$SLURM_ARRAY_TASK_ID/{}\"",
            quoted(&self.folder),
            self.shards
        );
        Ok(script)
    }

    /// Submits the script that lies at a path; returns the number of the job.
    pub fn submit(&self, console: &Console, script: &Path) -> miette::Result<String> {
        console.tell(&format!("sbatch --parsable {}", script.display()));
        let output = match Command::new("sbatch").arg("--parsable").arg(script).output() {
            Ok(output) => output,
            Err(error) if error.kind() == ErrorKind::NotFound => {
                return Err(miette!(
                    help = format!("run it where jobs are submitted: sbatch {}", script.display()),
                    "there is no sbatch on this machine; the script is written"
                ));
            }
            Err(error) => return Err(error).into_diagnostic().wrap_err("cannot start sbatch"),
        };
        if !output.status.success() {
            let said = String::from_utf8_lossy(&output.stderr);
            let lines: Vec<&str> = said.lines().map(|line| line.trim_start_matches("sbatch: ")).collect();
            return Err(miette!(
                help = format!("the script is {}", script.display()),
                "sbatch refuses: {}",
                lines.join("; ")
            ));
        }
        Ok(String::from_utf8_lossy(&output.stdout).trim().split(';').next().unwrap_or_default().to_owned())
    }
}

/// A path as a shell takes it.
fn quoted(path: &Path) -> String {
    format!("'{}'", path.display().to_string().replace('\'', "'\\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_task_runs_the_shard_of_its_number() {
        let (options, folder) = (vec!["--partition=long".to_owned()], PathBuf::from("/shared/it's"));
        let script = Array { shards: 7, options, folder, data: None }.script().unwrap();
        assert!(script.starts_with("#!/bin/sh\n#SBATCH --job-name=stopwatt-its\n#SBATCH --array=1-7\n"), "{script}");
        assert!(script.contains("\n#SBATCH --partition=long\nexec '"), "{script}");
        let end = " sweep --resume '/shared/it'\\''s' --shard \"$SLURM_ARRAY_TASK_ID/7\"\n";
        assert!(script.ends_with(end), "{script}");
    }
}
