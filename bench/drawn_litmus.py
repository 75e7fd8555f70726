"""Litmus tests that are drawn: two threads of a few instructions on three locations, with what dependencies pass through (EOR, CSEL, CAS, memory)."""

import random

LOCATIONS = {"x": 10, "y": 11, "z": 12}
REGISTERS = 10
ORDERS = ["", "", "A", "L", "AL"]


class Full(Exception):
    """A thread has no register left."""


class Thread:
    """The instructions of a thread, and the registers that got a value of memory."""

    def __init__(self, number, draw):
        self.number, self.draw = number, draw
        self.code, self.loaded = [], []
        self.used = self.labels = 0

    def register(self):
        if self.used == REGISTERS:
            raise Full
        self.used += 1
        return self.used - 1

    def zero(self):
        """A register that holds 0, or may, by way of what was loaded."""
        source, to, kind = self.draw.choice(self.loaded), self.register(), self.draw.random()
        if kind < 0.45:
            self.code.append(f"EOR W{to},W{source},W{source}")
        elif kind < 0.6 and len(self.loaded) > 1:
            self.code += [f"EOR W{to},W{source},W{source}", f"AND W{to},W{self.draw.choice(self.loaded)},W{to}"]
        elif kind < 0.85:
            self.code += [f"CMP W{source},#1", f"CSEL W{to},WZR,WZR,{self.draw.choice(['EQ', 'NE'])}"]
        else:
            other, picked = self.draw.choice(self.loaded), self.register()
            self.code += [f"CMP W{source},#1", f"EOR W{picked},W{other},W{other}", f"CSEL W{to},W{picked},WZR,EQ"]
        return to

    def address(self, location, indexed=False):
        base = LOCATIONS[location]
        if self.loaded and self.draw.random() < 0.25:
            zero = self.zero()
            if indexed:
                return f"[X{base},W{zero},SXTW]"
            sum_ = self.register()
            self.code.append(f"ADD X{sum_},X{base},W{zero},SXTW")
            return f"[X{sum_}]"
        return f"[X{base}]"

    def value(self):
        kind = self.draw.random()
        if self.loaded and kind < 0.3:
            zero, to = self.zero(), self.register()
            self.code.append(f"ADD W{to},W{zero},#{self.draw.choice([1, 2])}")
            return f"W{to}"
        if self.loaded and kind < 0.45:
            return f"W{self.draw.choice(self.loaded)}"
        to = self.register()
        self.code.append(f"MOV W{to},#{self.draw.choice([1, 1, 2])}")
        return f"W{to}"

    def load(self, location):
        name = self.draw.choice(["LDR", "LDR", "LDR", "LDAR", "LDAPR"])
        address, to = self.address(location, name == "LDR"), self.register()
        self.code.append(f"{name} W{to},{address}")
        self.loaded.append(to)

    def store(self, location):
        name, value = self.draw.choice(["STR", "STR", "STR", "STLR"]), self.value()
        self.code.append(f"{name} {value},{self.address(location, name == 'STR')}")

    def compare_and_swap(self, location):
        name, value, kind = "CAS" + self.draw.choice(ORDERS), self.value(), self.draw.random()
        address = self.address(location)
        if kind < 0.25:
            self.code.append(f"{name} WZR,{value},{address}")
            return
        to = self.register()
        if self.loaded and kind < 0.5:
            self.code.append(f"MOV W{to},W{self.draw.choice(self.loaded)}")
        else:
            self.code.append(f"MOV W{to},#{self.draw.choice([0, 0, 1])}")
        self.code.append(f"{name} W{to},{value},{address}")
        self.loaded.append(to)

    def update(self, location):
        name = self.draw.choice(["SWP", "LDADD", "LDADD", "LDSET", "LDCLR", "LDEOR", "LDUMAX"])
        order, value, kind = self.draw.choice(ORDERS), self.value(), self.draw.random()
        address = self.address(location)
        if kind < 0.25:
            self.code.append(f"{name}{order} {value},WZR,{address}")
        elif kind < 0.45 and name != "SWP":
            self.code.append(f"ST{name[2:]}{'L' if 'L' in order else ''} {value},{address}")
        else:
            to = self.register()
            self.code.append(f"{name}{order} {value},W{to},{address}")
            self.loaded.append(to)

    def exclusives(self, location):
        to, status, address = self.register(), self.register(), self.address(location)
        self.code.append(f"{self.draw.choice(['LDXR', 'LDAXR'])} W{to},{address}")
        self.loaded.append(to)
        self.code.append(f"{self.draw.choice(['STXR', 'STLXR'])} W{status},{self.value()},{address}")
        self.loaded.append(status)

    def barrier(self, _):
        self.code.append(self.draw.choice(["DMB SY", "DMB LD", "DMB LD", "DMB ST", "ISB", "DSB LD", "DSB ST"]))

    def branch(self):
        if self.loaded and self.draw.random() < 0.15:
            self.labels += 1
            label = f"L{self.number}{self.labels}"
            self.code += [f"CBNZ W{self.draw.choice(self.loaded)},{label}", f"{label}: {self.draw.choice(['NOP', 'ISB'])}"]

    def fill(self):
        kinds = [self.load, self.store, self.compare_and_swap, self.update, self.exclusives, self.barrier]
        for _ in range(self.draw.choice([2, 2, 3])):
            try:
                kind = self.draw.choices(kinds, [22, 20, 18, 18, 8, 14])[0]
                kind(self.draw.choice("xxyyz"))
                self.branch()
            except Full:
                return


def drawn(seed):
    """A test's name and text; the same seed is the same test."""
    draw = random.Random(seed)
    threads = [Thread(number, draw) for number in range(2)]
    for thread in threads:
        thread.fill()
    name = f"drawn-{seed}"
    registers = " ".join(f"{thread}:X{register}={location};" for thread in range(2) for location, register in LOCATIONS.items())
    rows = max(len(thread.code) for thread in threads)
    cells = [[f"P{thread.number}", *thread.code, *[""] * (rows - len(thread.code))] for thread in threads]
    program = "\n".join(" | ".join(row) + " ;" for row in zip(*cells))
    observed = " ".join(f"{thread.number}:X{register};" for thread in threads for register in dict.fromkeys(thread.loaded))
    return name, f"AArch64 {name}\n{{ {registers} }}\n{program}\nlocations [{observed} x; y; z;]\nexists (x=1 /\\ y=1)\n"
