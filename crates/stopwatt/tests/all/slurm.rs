//! A sweep on Slurm: Debian's, with munge, on this machine alone, from a folder of the test.

use crate::common;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::thread;
use std::time::{Duration, Instant};

const PLAN: &str = "experiment = \"psci-latency\"\nchunk = 5\n[settings]\nrelease = \"last\"\niterations = 2\nfree-seeds = 0\n\
                    case = \"suspend-level0\"\nmode = \"parallel\"\norder = \"free\"\n[grid]\nscp.channels = [1, 2]\n\
                    [seeds]\ncount = 100\n";

/// A controller, a node and munge, ended when this is dropped.
struct Cluster {
    folder: PathBuf,
}

/// The reason why a cluster cannot be started here.
fn missing() -> Option<String> {
    let is_root = Command::new("id").arg("-u").output().is_ok_and(|output| output.stdout == b"0\n");
    if !is_root {
        return Some("Slurm's daemons need root".to_owned());
    }
    let is_there =
        |program: &str| ["/usr/sbin", "/usr/bin"].iter().any(|folder| Path::new(folder).join(program).exists());
    let gone: Vec<&str> = ["slurmctld", "slurmd", "sbatch", "munged"].into_iter().filter(|it| !is_there(it)).collect();
    (!gone.is_empty()).then(|| format!("{} not there: apt-get install slurm-wlm munge", gone.join(", ")))
}

impl Cluster {
    fn start(folder: &Path) -> Self {
        let cluster = Self { folder: folder.to_owned() };
        let at = |name: &str| folder.join(name).display().to_string();
        for name in ["state", "spool"] {
            fs::create_dir(folder.join(name)).unwrap();
        }
        // The socket's folder must not be one that others may write to.
        assert!(Command::new("chmod").arg("755").arg(folder).status().unwrap().success());
        fs::write(folder.join("munge.key"), [7; 128]).unwrap();
        assert!(Command::new("chmod").arg("600").arg(folder.join("munge.key")).status().unwrap().success());
        let host = fs::read_to_string("/proc/sys/kernel/hostname").unwrap().trim().to_owned();
        let port = 20_000 + (std::process::id() % 20_000) * 2;
        let conf = format!(
            "ClusterName=test\nSlurmctldHost={host}(127.0.0.1)\nSlurmUser=root\nSlurmdUser=root\nAuthType=auth/munge\n\
             AuthInfo=socket={}\nCredType=cred/munge\nSlurmctldPort={port}\nSlurmdPort={}\nStateSaveLocation={}\n\
             SlurmdSpoolDir={}\nSlurmctldPidFile={}\nSlurmdPidFile={}\nSlurmctldLogFile={}\nSlurmdLogFile={}\n\
             ProctrackType=proctrack/linuxproc\nTaskPlugin=task/none\nSelectType=select/cons_tres\nSelectTypeParameters=CR_Core\n\
             JobAcctGatherType=jobacct_gather/none\nMpiDefault=none\nReturnToService=2\nSchedulerParameters=batch_sched_delay=0\n\
             NodeName={host} NodeAddr=127.0.0.1 CPUs=2 State=UNKNOWN\n\
             PartitionName=all Nodes={host} Default=YES MaxTime=INFINITE State=UP\n",
            at("munge.sock"),
            port + 1,
            at("state"),
            at("spool"),
            at("slurmctld.pid"),
            at("slurmd.pid"),
            at("slurmctld.log"),
            at("slurmd.log"),
        );
        fs::write(folder.join("slurm.conf"), conf).unwrap();
        let mut munged = Command::new("/usr/sbin/munged");
        munged.arg("--force");
        for (option, name) in [
            ("--key-file", "munge.key"),
            ("--socket", "munge.sock"),
            ("--pid-file", "munged.pid"),
            ("--log-file", "munged.log"),
            ("--seed-file", "munged.seed"),
        ] {
            munged.arg(format!("{option}={}", at(name)));
        }
        cluster.run(&mut munged);
        cluster.run(Command::new("/usr/sbin/slurmctld").arg("-i"));
        cluster.run(&mut Command::new("/usr/sbin/slurmd"));
        let begin = Instant::now();
        loop {
            let output = cluster.with(&mut Command::new("sinfo")).output().unwrap();
            if String::from_utf8_lossy(&output.stdout).contains("idle") {
                return cluster;
            }
            assert!(begin.elapsed() < Duration::from_secs(60), "no node: {}", cluster.logs());
            thread::sleep(Duration::from_millis(100));
        }
    }

    fn with<'c>(&self, command: &'c mut Command) -> &'c mut Command {
        command.env("SLURM_CONF", self.folder.join("slurm.conf"))
    }

    fn run(&self, command: &mut Command) {
        let status = self.with(command).stdout(Stdio::null()).stderr(Stdio::null()).status().unwrap();
        assert!(status.success(), "{command:?}: {}", self.logs());
    }

    fn logs(&self) -> String {
        let read = |name| fs::read_to_string(self.folder.join(name)).unwrap_or_default();
        ["munged.log", "slurmctld.log", "slurmd.log"].map(read).concat()
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        for name in ["slurmctld.pid", "slurmd.pid", "munged.pid"] {
            if let Ok(pid) = fs::read_to_string(self.folder.join(name)) {
                let _ = Command::new("kill").arg(pid.trim()).status();
            }
        }
    }
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}

#[test]
fn an_array_of_seven_jobs_leaves_the_bytes_of_one_machine() {
    if let Some(why) = missing() {
        println!("skipped: an_array_of_seven_jobs_leaves_the_bytes_of_one_machine: {why}");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let (plan, here, there) = (folder.path().join("p.toml"), folder.path().join("here"), folder.path().join("there"));
    fs::write(&plan, PLAN).unwrap();
    let stopwatt = || {
        let mut command = Command::new(env!("CARGO_BIN_EXE_stopwatt"));
        command.arg("-q").current_dir(common::root());
        command
    };
    let output = stopwatt().arg("sweep").arg(&plan).arg("-o").arg(&here).output().unwrap();
    assert!(output.status.success(), "{}", said(&output));

    fs::create_dir(folder.path().join("slurm")).unwrap();
    let cluster = Cluster::start(&folder.path().join("slurm"));
    let mut submit = stopwatt();
    submit.arg("sweep").arg(&plan).arg("-o").arg(&there).args(["--slurm", "7", "--slurm-option=--wait"]);
    // --wait: sbatch ends when the last job has.
    let output = cluster.with(&mut submit).output().unwrap();
    assert!(output.status.success(), "{}{}", said(&output), cluster.logs());
    assert!(said(&output).contains("7 jobs of the array 1"), "{}", said(&output));
    let (runs, mut logs) = (fs::read_dir(there.join("runs")).unwrap(), String::new());
    for log in runs.map(|entry| entry.unwrap().path()).filter(|path| path.extension().is_some_and(|it| it == "log")) {
        logs += &fs::read_to_string(log).unwrap();
    }
    assert_eq!(logs.matches("points in").count(), 7, "{logs}");
    let same = Command::new("diff").arg("-r").arg(here.join("data")).arg(there.join("data")).output().unwrap();
    assert!(same.status.success(), "{}{logs}", said(&same));
}

#[test]
fn without_slurm_the_script_is_written_and_named() {
    let folder = tempfile::tempdir().unwrap();
    let (plan, to) = (folder.path().join("p.toml"), folder.path().join("s"));
    fs::write(&plan, PLAN).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_stopwatt"));
    command.args(["-q", "sweep"]).arg(&plan).arg("-o").arg(&to).args(["--slurm", "7"]).current_dir(common::root());
    let output = command.env("PATH", folder.path()).output().unwrap();
    assert_eq!(output.status.code(), Some(2), "{}", said(&output));
    assert!(said(&output).contains("there is no sbatch on this machine"), "{}", said(&output));
    let script = fs::read_to_string(to.join("slurm.sh")).unwrap();
    assert!(script.contains("#SBATCH --array=1-7\n"), "{script}");
}
