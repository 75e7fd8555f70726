//! `cargo xtask dist`: what is given to people who have no compiler.
//!
//! The programs are linked by zig to the C library of 2012 (glibc 2.17), which every distribution
//! in use has. They are not static: a static program cannot load the loops of `tune`, and musl's
//! copies of a few bytes take twice as long (ADR 0031).

use crate::needs;
use crate::python::{environment, wheel as own_wheel};
use crate::tools::{
    Result, at, cargo, check, copy, create, entries, find_first, read, root, said, words, write,
};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

/// The oldest C library that the programs run with.
const GLIBC: &str = "2.17";

/// The processors that programs are built for.
const PROCESSORS: [&str; 2] = ["x86_64", "aarch64"];

/// Bare metal, which the firmware runs on.
const FIRMWARE_TARGET: &str = "aarch64-unknown-none-softfloat";

/// The longest that a user waits for a first page, in seconds.
const FIRST_PAGE: f64 = 5.0;

/// The packages of the programs, which have their names.
const PROGRAMS: [&str; 2] = ["stopwatt", "stopwatt-explore"];

const HELP: &str = "cargo xtask dist [--only PROCESSOR] [--no-wheels] [--twice] [--try]

  leaves in target/dist both programs for x86_64 and aarch64 Linux, a wheel for each, completions, manual pages, a bill
  of materials (CycloneDX), the licences of all crates, and SHA256SUMS. With --twice everything is built again in another
  folder, and the bytes are compared. With --try the programs are tried in a fresh Debian (debootstrap, as root) and under
  qemu-aarch64, and wheels in a fresh environment.";

/// Parts that were asked for.
struct Plan {
    processors: Vec<&'static str>,
    wheels: bool,
    twice: bool,
    tried: bool,
}

impl Plan {
    fn read(arguments: &[String]) -> Result<Self> {
        let mut plan = Self {
            processors: PROCESSORS.to_vec(),
            wheels: true,
            twice: false,
            tried: false,
        };
        let mut arguments = arguments.iter();
        while let Some(argument) = arguments.next() {
            match argument.as_str() {
                "--only" => {
                    let wanted = arguments.next().map_or("", String::as_str);
                    plan.processors.retain(|processor| *processor == wanted);
                    if plan.processors.is_empty() {
                        return Err(format!(
                            "--only takes one of {}\n\n{HELP}",
                            PROCESSORS.join(", ")
                        ));
                    }
                }
                "--no-wheels" => plan.wheels = false,
                "--twice" => plan.twice = true,
                "--try" => plan.tried = true,
                other => return Err(format!("`{other}` is no option\n\n{HELP}")),
            }
        }
        Ok(plan)
    }
}

/// Builds, and tries what was built.
pub fn run(arguments: &[String]) -> Result {
    let plan = Plan::read(arguments)?;
    needs::install(&needs::DIST)?;
    if plan.tried {
        needs::install(&needs::DIST_TRY)?;
    }
    // As the compiler sees it: its paths are cut out of what is built.
    let root = root().canonicalize().map_err(at(&root()))?;
    let (work, out) = (root.join("target/dist-work"), root.join("target/dist"));
    // An environment with what links and packs.
    let tools = work.join("tools");
    environment(&tools, &root.join("xtask/dist/requirements.txt"))?;
    if plan.wheels {
        // It writes the types that the wheels have.
        own_wheel(&root, &tools)?;
    }
    build(&root, &tools, &plan, &work.join("one"), &out)?;
    if plan.twice {
        let again = work.join("again");
        build(&root, &tools, &plan, &work.join("two"), &again)?;
        same(&out, &again)?;
    }
    if plan.tried {
        for processor in &plan.processors {
            try_out(&work, &out, processor)?;
        }
        if plan.wheels {
            try_wheel(&work, &out)?;
        }
    }
    println!("in {}:", out.display());
    check(Command::new("ls").arg("-l").arg(&out))
}

fn build(root: &Path, tools: &Path, plan: &Plan, work: &Path, out: &Path) -> Result {
    let _ = std::fs::remove_dir_all(out);
    create(out)?;
    let images = images(root, work)?;
    for processor in &plan.processors {
        let from = Instant::now();
        let target = format!("{processor}-unknown-linux-gnu");
        let built = programs(root, tools, &target, work, &images)?;
        let mut bytes = 0;
        for program in PROGRAMS {
            let named = out.join(format!("{program}-{processor}-linux"));
            copy(&built.join(program), &named)?;
            bytes += std::fs::metadata(&named).map_or(0, |file| file.len());
        }
        parts(root, tools, &target, work, out)?;
        if plan.wheels {
            wheel(root, tools, &target, work, &images, out)?;
        }
        println!(
            "{processor}: {:.1} MB, {:.0} s",
            bytes as f64 / 1e6,
            from.elapsed().as_secs_f64()
        );
    }
    if plan.wheels {
        let wheels = names(out)?
            .into_iter()
            .filter(|name| name.ends_with(".whl"))
            .map(|name| out.join(name));
        check(
            Command::new(tools.join("bin/twine"))
                .args(["check", "--strict"])
                .args(wheels),
        )?;
    }
    // Whatever the processor, they say the same; this machine's own program writes them.
    completions(out)?;
    for name in ["LICENSE-APACHE", "LICENSE-MIT", "CHANGELOG.md"] {
        copy(&root.join(name), &out.join(name))?;
    }
    sums(out)
}

/// Flags that make the same source give the same bytes: no path of the machine, and the commit's
/// time.
fn reproducible(command: &mut Command, root: &Path, work: &Path) {
    let home = std::env::var("CARGO_HOME")
        .unwrap_or_else(|_| format!("{}/.cargo", std::env::var("HOME").unwrap_or_default()));
    let flags = [
        (root.display().to_string(), "/stopwatt"),
        (home, "/cargo"),
        (work.display().to_string(), "/build"),
    ];
    // The later of two that fit counts, and a build folder lies within the checkout.
    let flags = flags
        .map(|(from, to)| format!("--remap-path-prefix={from}={to}"))
        .join("\x1f");
    command
        .env("CARGO_ENCODED_RUSTFLAGS", flags)
        .env_remove("RUSTFLAGS")
        .env("CARGO_INCREMENTAL", "0");
    let when = Command::new("git")
        .args(words("log -1 --format=%ct"))
        .current_dir(root)
        .output()
        .map(|output| String::from_utf8_lossy(&output.stdout).trim().to_owned())
        .unwrap_or_default();
    command.env("SOURCE_DATE_EPOCH", when);
}

/// The firmware's ELF files, which programs carry.
fn images(root: &Path, work: &Path) -> Result<PathBuf> {
    let folder = work.join("images");
    create(&folder)?;
    for (package, name, features) in [
        ("el3", "el3", ""),
        ("el3", "el3-plain", "--features plain"),
        ("payload", "payload", ""),
    ] {
        let target = work.join(format!("firmware-{name}"));
        let mut build = cargo(&format!(
            "build --release --locked --quiet --package {package} --target {FIRMWARE_TARGET} {features}"
        ));
        build
            .current_dir(root.join("firmware"))
            .arg("--target-dir")
            .arg(&target);
        reproducible(&mut build, root, work);
        check(&mut build)?;
        copy(
            &target.join(FIRMWARE_TARGET).join("release").join(package),
            &folder.join(name),
        )?;
    }
    Ok(folder)
}

/// Builds what carries the images. Zig comes with the environment; what links finds it there.
fn with_tools(
    build: &mut Command,
    root: &Path,
    tools: &Path,
    work: &Path,
    images: &Path,
) -> Result {
    build.arg("--target-dir").arg(work);
    reproducible(build, root, work);
    find_first(build, &tools.join("bin"))
        .env("VIRTUAL_ENV", tools)
        .env("CARGO_ZIGBUILD_ZIG_PATH", tools.join("bin/python-zig"))
        .env("STOPWATT_IMAGES", images);
    check(build)
}

/// Builds the programs; returns their folder.
fn programs(
    root: &Path,
    tools: &Path,
    target: &str,
    work: &Path,
    images: &Path,
) -> Result<PathBuf> {
    let mut build = Command::new(tools.join("bin/cargo-zigbuild"));
    build.args(words("zigbuild --release --locked --quiet"));
    build
        .args(PROGRAMS.iter().flat_map(|program| ["--package", program]))
        .arg("--target")
        .arg(format!("{target}.{GLIBC}"))
        .current_dir(root);
    with_tools(&mut build, root, tools, work, images)?;
    Ok(work.join(target).join("release"))
}

fn wheel(
    root: &Path,
    tools: &Path,
    target: &str,
    work: &Path,
    images: &Path,
    out: &Path,
) -> Result {
    let mut build = Command::new(tools.join("bin/maturin"));
    build.args(words(
        "build --quiet --release --locked --zig --compatibility manylinux2014 --target",
    ));
    build
        .arg(target)
        .arg("--out")
        .arg(out)
        .current_dir(root.join("python"));
    with_tools(&mut build, root, tools, work, images)
}

/// The bill of materials and the licences.
fn parts(root: &Path, tools: &Path, target: &str, work: &Path, out: &Path) -> Result {
    let mut metadata = cargo(&format!(
        "metadata --format-version 1 --locked --filter-platform {target}"
    ));
    let metadata = said(metadata.current_dir(root))?;
    let file = work.join("metadata.json");
    write(&file, &metadata)?;
    let mut parts = Command::new(tools.join("bin/python"));
    parts
        .arg(root.join("xtask/dist/parts.py"))
        .arg(&file)
        .arg(root.join("Cargo.lock"))
        .arg(target)
        .arg(out);
    check(&mut parts)
}

/// The completions of both programs for every shell, and their manual pages.
fn completions(out: &Path) -> Result {
    for program in PROGRAMS {
        let says = |arguments: &str| {
            said(&mut cargo(&format!(
                "run --quiet --release --package {program} -- {arguments}"
            )))
        };
        for shell in ["bash", "zsh", "fish"] {
            write(
                &out.join(format!("{program}.{shell}")),
                &says(&format!("completions {shell}"))?,
            )?;
        }
        write(&out.join(format!("{program}.1")), &says("man")?)?;
    }
    Ok(())
}

/// The checksums of all files, by name.
fn sums(out: &Path) -> Result {
    let names = names(out)?;
    write(
        &out.join("SHA256SUMS"),
        &said(Command::new("sha256sum").args(&names).current_dir(out))?,
    )
}

/// Compares two folders, file by file.
fn same(one: &Path, other: &Path) -> Result {
    let (ours, theirs) = (
        read(&one.join("SHA256SUMS"))?,
        read(&other.join("SHA256SUMS"))?,
    );
    if ours == theirs {
        println!(
            "built twice: {} files are the same, byte for byte",
            ours.lines().count()
        );
        return Ok(());
    }
    let differ: Vec<&str> = ours
        .lines()
        .filter(|line| !theirs.contains(*line))
        .collect();
    Err(format!(
        "built twice, these files differ:\n{}",
        differ.join("\n")
    ))
}

/// Asks the first question on a machine that has nothing but the program.
fn try_out(work: &Path, out: &Path, processor: &str) -> Result {
    let program = out.join(format!("stopwatt-{processor}-linux"));
    let place = work.join(format!("try-{processor}"));
    let _ = std::fs::remove_dir_all(place.join("home"));
    create(&place)?;
    let question = ["run", "psci-latency", "--report", "latency.html"];
    let mut first = if processor == std::env::consts::ARCH {
        let debian = place.join("debian");
        if !debian.join("bin/sh").exists() {
            let mut make = Command::new("debootstrap");
            check(make.args(["--variant=minbase", "bookworm"]).arg(&debian).stdout(Stdio::null())).map_err(
                |error| format!("{error}\na fresh Debian needs root and debootstrap: apt-get install debootstrap"),
            )?;
        }
        let home = debian.join("home/somebody");
        let _ = std::fs::remove_dir_all(&home);
        create(&home)?;
        copy(&program, &home.join("stopwatt"))?;
        let mut inside = Command::new("chroot");
        inside.arg(&debian).args(words(
            "/usr/bin/env -i -C /home/somebody HOME=/home/somebody ./stopwatt",
        ));
        inside
    } else {
        let home = place.join("home");
        create(&home)?;
        let mut emulated = Command::new(format!("qemu-{processor}"));
        emulated
            .args(["-L", &format!("/usr/{processor}-linux-gnu")])
            .arg(&program)
            .current_dir(&home);
        emulated.env_clear().env("HOME", &home);
        emulated
    };
    let from = Instant::now();
    check(first.args(question).stdout(Stdio::null()))?;
    let took = from.elapsed().as_secs_f64();
    let emulated = processor != std::env::consts::ARCH;
    println!(
        "{processor}: first page after {took:.1} s{}",
        if emulated { ", emulated" } else { "" }
    );
    if !emulated && took > FIRST_PAGE {
        return Err(format!("a first page is to be there after {FIRST_PAGE} s"));
    }
    Ok(())
}

/// Installs this machine's wheel into a fresh environment and asks it the same.
fn try_wheel(work: &Path, out: &Path) -> Result {
    let here = format!("{}.whl", std::env::consts::ARCH);
    let Some(wheel) = names(out)?.into_iter().find(|name| name.ends_with(&here)) else {
        return Ok(());
    };
    let folder = work.join("try-wheel");
    let _ = std::fs::remove_dir_all(&folder);
    check(Command::new("python3").args(["-m", "venv"]).arg(&folder))?;
    let install = words("install --quiet --no-deps --disable-pip-version-check");
    check(
        Command::new(folder.join("bin/pip"))
            .args(install)
            .arg(out.join(&wheel)),
    )?;
    check(
        Command::new(folder.join("bin/python"))
            .args(["-c", "import stopwatt; print(stopwatt.__version__, len(stopwatt.run('psci-latency', iterations=1).report('md')))"])
            .current_dir(&folder),
    )
}

fn names(folder: &Path) -> Result<Vec<String>> {
    Ok(entries(folder)?
        .into_iter()
        .filter_map(|path| Some(path.file_name()?.to_string_lossy().into_owned()))
        .filter(|name| name != "SHA256SUMS")
        .collect())
}
