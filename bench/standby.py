#!/usr/bin/env python3
"""What each instruction of a standby is for: CPU_SUSPEND to core-retain with an interrupt pending, in groups.

    bench/standby.py [--instrumented] [--markdown] [--listing]

Builds the EL3 image and the payload, single-steps one such call on QEMU, and looks up the functions from which the compiler inlined each
instruction. Those of the vector, which is assembly, and of the frames of functions are told apart by what they do. --listing prints each
instruction with its group and functions. Needs QEMU for Arm, binutils-aarch64-linux-gnu and Rust.
"""

import argparse
import collections
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
TARGET = "aarch64-unknown-none-softfloat"
PREFIX = "aarch64-linux-gnu-"
# The caller's loop around the SMC: it sets four arguments, calls, counts and branches.
CALLER = 7
# Flash ends here; the normal world is above.
FLASH = 0x4000000
VECTOR = {"??", "vectors", "vectors_mmu", "handle_smc64", "serror_stays_pending"}
# Groups of the vector's instructions, by the first pattern that the start of one matches. ISBs belong to what they stand beside.
PREDICTOR, SERRORS, TIME = "vector: against trained branch predictors", "vector: SErrors, on the way in and out", "vector: time of the exception"
IN_VECTOR = [
    (PREDICTOR, r".*sctlr_el3|and\tx6, x5"),
    (SERRORS, r"dsb|esb|hint|tbnz|orr|and\tx6, x6|msr\tdaif|.*isr_el1|.*scr_el3"),
    ("vector: 16 registers kept and put back, results loaded", r"stp|ldp"),
    (TIME, r".*cntpct|mov\tx4"),
    ("vector: is it an SMC of AArch64; the way in and the return", r""),
]
FRAME = re.compile(r"(stp|str|ldp|ldr)\tx(19|2\d|30)\b.*\[sp|(sub|add)\tsp, sp|ret$|bl\t")
# Groups of the others, by the first group that has a function from which the instruction was inlined.
IN_FUNCTION = [
    ("PSCI_STAT: begin and end of the stay are read", {"stamp_through", "now"}),
    ("PSCI_STAT: residency and count of the state", {"add", "saturating_sub"}),
    ("time stamps", {"stamp", "stamp_at"}),
    ("NODE_HW_STATE: the power controller is told; DSB and WFI", {"note", "domain", "stand_by", "standby", "wait_for_interrupt"}),
    ("which state is meant, and is it sound", {"decode", "decode_power_state", "is_sound"}),
    ("which mode, and is it standby of this CPU alone", {"note_suspend", "is_standby"}),
    ("which CPU calls, and its record", {"caller", "this_cpu"}),
    ("is there such a call, on this platform and in this width", {"offers", "implements"}),
    ("CPU_SUSPEND: arguments and result passed on", {"cpu_suspend", "wait_in_standby"}),
    ("which call; arguments to 32 bits, result to X0", {"dispatch", "handle_smc"}),
    ("the library is made; results to the vector", {"smc"}),
]


def output(command, **more):
    return subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, check=True, text=True, **more).stdout


def build(package, features, folder):
    output(["cargo", "build", "--quiet", "--release", "--locked", "--package", package, *features, "--target-dir", folder], cwd=ROOT / "firmware")
    elf = folder / TARGET / "release" / package
    image = folder / f"{package}.bin"
    output([f"{PREFIX}objcopy", "-O", "binary", elf, image])
    return elf, image


def passages(firmware, payload):
    """The addresses of each stay of the only CPU in the firmware, from exception to return."""
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        (folder / "options").write_text("run=calls\ncount=1\ncpus=1\n")
        pipe = folder / "log"
        os.mkfifo(pipe)
        emulator = subprocess.Popen(
            ["qemu-system-aarch64", "-M", "virt,secure=on,gic-version=2", "-cpu", "cortex-a57", "-m", "1024", "-nic", "none", "-display", "none",
             "-monitor", "none", "-serial", "null", "-bios", firmware, "-device", f"loader,file={payload},addr=0x60000000,force-raw=on",
             "-fw_cfg", f"name=opt/stopwatt/payload,file={folder / 'options'}", "-singlestep", "-d", "exec,nochain", "-D", pipe])
        # What comes before the first instruction of the normal world is the boot.
        stay = None
        with pipe.open() as log:
            for address in (int(line.split("/", 2)[1], 16) for line in log if line.startswith("Trace")):
                if address >= FLASH:
                    if stay:
                        yield stay
                    stay = []
                elif stay is not None:
                    stay.append(address)
        emulator.wait()


def inlined_from(elf, addresses):
    """The functions of each address, innermost first."""
    text = output([f"{PREFIX}addr2line", "-a", "-i", "-f", "-C", "-e", elf, *(hex(address) for address in addresses)])
    functions, expects_name = {}, False
    for line in text.splitlines():
        if line.startswith("0x"):
            names = functions.setdefault(int(line, 16), [])
            expects_name = True
        else:
            if expects_name:
                names.append(re.sub(r"<.*>", "", line).strip().split("::")[-1])
            expects_name = not expects_name
    return functions


def group_of(before, instruction, after, functions):
    if set(functions) <= VECTOR:
        if instruction == "isb":
            return TIME if "cntpct" in after else PREDICTOR if "sctlr_el3" in before else SERRORS
        return next(group for group, pattern in IN_VECTOR if re.match(pattern, instruction))
    if FRAME.match(instruction):
        return "frames of three functions: registers that the compiler keeps, calls and returns"
    return next((group for group, names in IN_FUNCTION if names.intersection(functions)), functions[-1])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--instrumented", action="store_true", help="with time stamps")
    parser.add_argument("--markdown", action="store_true", help="a table for documents")
    parser.add_argument("--listing", action="store_true", help="each instruction")
    arguments = parser.parse_args()
    work = ROOT / "target/bench/standby"
    elf, firmware = build("el3", [], work) if arguments.instrumented else build("el3", ["--features", "plain"], work / "plain")
    _, payload = build("payload", [], work)
    text = output([f"{PREFIX}objdump", "-d", "--no-show-raw-insn", elf])
    listed = {int(found[1], 16): re.sub(r"\s*//.*", "", found[2]).strip() for found in re.finditer(r"^ *([0-9a-f]+):\t(.*)$", text, re.M)}
    standbys = []
    for stay in passages(firmware, payload):
        words = [listed.get(address, "") for address in stay]
        # It waits, comes back, and leaves the caches alone.
        if "wfi" in words and words[-1] == "eret" and not any("csselr" in word for word in words):
            standbys.append(stay)
    if len(standbys) != 1:
        sys.exit(f"{len(standbys)} stays in the firmware look like a standby; there should be one")
    [stay] = standbys
    functions = inlined_from(elf, sorted(set(stay)))
    words = ["", *(listed[address] for address in stay), ""]
    groups = [group_of(words[n], words[n + 1], words[n + 2], functions[address]) for n, address in enumerate(stay)]
    if arguments.listing:
        for address, word, group in zip(stay, words[1:], groups):
            print(f"{address:6x}  {word.expandtabs(8):<44.44}{group:<58.58}{' < '.join(functions[address])}")
        print()
    counts = [*collections.Counter(groups).most_common(), ("the caller's loop", CALLER), ("in all", len(stay) + CALLER)]
    if arguments.markdown:
        print("| instructions | what for |\n| --- | --- |")
    for group, count in counts:
        print(f"| {count} | {group} |" if arguments.markdown else f"{count:>4}  {group}")


if __name__ == "__main__":
    main()
