//! Caches: CPUs join and leave them, lines come and go, power is lost.

use super::history::{Dirty, Line, Message};
use super::state::Memory;
use super::types::LostData;

impl Memory {
    /// A line that no cache has is read from memory.
    #[inline(always)]
    pub(super) fn fill(&mut self, line: usize) {
        if !self.lines[line].cached {
            self.lines[line] = Line {
                cached: true,
                dirty: Dirty::Nowhere,
            };
            self.trace_line(line);
        }
    }

    /// The line has left the caches: what CPUs in coherency see of it is what memory holds.
    fn read_memory(&mut self, line: usize) {
        for cell in self.cells_of(line) {
            if let Some((_, memory)) = self.cells[cell].differing() {
                let at = self.tick();
                self.cells[cell].coherent.append(Message { at, ..memory });
                self.note_change(cell as u16);
            }
        }
    }

    /// The dirty words of a line go to memory.
    fn write_back(&mut self, line: usize) {
        if self.lines[line].dirty == Dirty::Nowhere {
            return;
        }
        self.lines[line].dirty = Dirty::Nowhere;
        self.trace_line(line);
        for cell in self.cells_of(line) {
            // All of the line is written, also those words of it that memory has newer ones of.
            if let Some((coherent, _)) = self.cells[cell].differing() {
                let at = self.tick();
                self.cells[cell].memory.append(Message { at, ..coherent });
                self.note_change(cell as u16);
            }
        }
    }

    pub(super) fn clean(&mut self, cpu: usize, cell: u16, invalidate: bool) {
        if self.views[cpu].coherent {
            let line = self.line_of(cell);
            self.write_back(line);
            if invalidate && self.lines[line].cached {
                self.lines[line].cached = false;
                self.trace_line(line);
                self.read_memory(line);
            }
        }
        self.views[cpu].maintained = self.now;
    }

    /// A line leaves the caches on its own: written back if it is dirty.
    pub fn evict(&mut self, line: usize) {
        self.write_back(line);
        if self.lines[line].cached {
            self.lines[line].cached = false;
            self.read_memory(line);
        }
    }

    /// A line is read into the caches on its own; only while a CPU is in coherency.
    pub fn fill_early(&mut self, line: usize) {
        if !self.lines[line].cached && self.views.iter().any(|view| view.coherent) {
            self.fill(line);
        }
    }

    /// True if the CPU is in coherency.
    pub fn is_coherent(&self, cpu: usize) -> bool {
        self.views[cpu].coherent
    }

    /// The CPU's data cache is on and in coherency from here on.
    pub fn join(&mut self, cpu: usize) {
        self.empty_buffer(cpu);
        self.views[cpu].coherent = true;
    }

    /// The CPU's data cache is off and out of coherency from here on; nothing is cleaned.
    pub fn leave_coherency(&mut self, cpu: usize) {
        self.empty_buffer(cpu);
        self.views[cpu].coherent = false;
    }

    /// Cleans and invalidates by set and way: the CPU's own cache, with `cluster` its cluster's as
    /// well.
    pub fn flush(&mut self, cpu: usize, cluster: bool) {
        self.empty_buffer(cpu);
        let own = self.views[cpu].cluster;
        for line in 0..self.lines.len() {
            match self.lines[line].dirty {
                Dirty::Cpu(holder) if usize::from(holder) == cpu && !cluster => {
                    self.lines[line].dirty = Dirty::Cluster(own)
                }
                Dirty::Cpu(holder) if usize::from(holder) == cpu => self.write_back(line),
                Dirty::Cluster(holder) if holder == own && cluster => self.write_back(line),
                _ => {}
            }
        }
        self.views[cpu].maintained = self.now;
        self.barrier(cpu);
    }

    /// The CPU loses power, and with `cluster` its cluster does. The first word of a line that was
    /// dirty there, if there is one.
    pub fn lose_power(&mut self, cpu: usize, cluster: bool) -> Option<LostData> {
        let own = self.views[cpu].cluster;
        let mut lost = None;
        for line in 0..self.lines.len() {
            let gone = match self.lines[line].dirty {
                Dirty::Cpu(holder) => {
                    usize::from(holder) == cpu
                        || cluster && self.views[usize::from(holder)].cluster == own
                }
                Dirty::Cluster(holder) => cluster && holder == own,
                Dirty::Nowhere => false,
            };
            if gone {
                for cell in self.cells_of(line) {
                    if let Some((coherent, _)) = self.cells[cell].differing()
                        && lost.is_none()
                    {
                        lost = Some(LostData {
                            cell: cell as u16,
                            writer: coherent.writer,
                        });
                    }
                }
                self.lines[line] = Line::default();
                self.read_memory(line);
            }
        }
        let (now, view) = (self.now, &mut self.views[cpu]);
        view.coherent = false;
        let own = view.entries();
        self.reserved -= own.iter().filter(|entry| entry.reserved).count() as u32;
        view.buffered = 0;
        view.floor = now;
        self.unheld.retain(|(other, _)| *other != cpu);
        lost
    }
}
