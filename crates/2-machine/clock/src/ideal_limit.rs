//! Time of a dispatch with one limit of the GPU removed.
//!
//! Removing a limit runs the same simulation with other rates; the time saved is the cost of the limit.
//! Limits overlap, so the times saved do not add up.

use crate::rates::Rates;

macro_rules! ideal_limits {
    ($($name:ident $key:literal $title:literal $meaning:literal)*) => {
        /// A limit that can be removed.
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
        pub enum IdealLimit {
            $(#[doc = $meaning] $name,)*
        }

        impl IdealLimit {
            /// All, in the order that breaks ties.
            pub const ALL: &'static [IdealLimit] = &[$(IdealLimit::$name,)*];

            /// Name in files.
            pub const fn key(self) -> &'static str {
                match self {
                    $(IdealLimit::$name => $key,)*
                }
            }

            /// Name for people.
            pub const fn title(self) -> &'static str {
                match self {
                    $(IdealLimit::$name => $title,)*
                }
            }

            /// Description.
            pub const fn meaning(self) -> &'static str {
                match self {
                    $(IdealLimit::$name => $meaning,)*
                }
            }
        }
    };
}

ideal_limits! {
    VectorL1 "l1" "perfect vector L1" "A line that was loaded once stays in the vector L1"
    L2 "l2" "perfect L2" "A line that was read or written once stays in the L2"
    Hbm "hbm" "infinite memory bandwidth" "Device memory takes any number of bytes a second; its latency stays"
    Latency "memory-latency" "memory as near as the L2" "What comes from memory takes no longer than what comes from the L2; bandwidth stays"
    Conflicts "lds-conflicts" "no LDS bank conflicts" "Lanes that want the same bank of the LDS do not wait for each other"
    LdsSize "lds-size" "no LDS limit on waves" "Workgroups find a place however much LDS they take"
    Registers "registers" "no register limit on waves" "Workgroups find a place however many vector registers they take"
    Barriers "barriers" "free barriers" "Waves do not wait for each other at barriers"
    Issue "issue" "infinite issue" "Instructions issue at once and every unit takes any number of them: what is left is memory, LDS and waits"
    Matrix "mfma" "MFMA at peak" "Matrix instructions follow each other without wait states"
    Launch "launch" "no launch overhead" "All waves that have a place start at once, and their code is in the instruction cache"
    Translation "translation" "free address translation" "Translations of addresses are there when they are needed"
}

impl Rates {
    /// Rates with a limit removed.
    pub fn without(mut self, limit: IdealLimit) -> Rates {
        match limit {
            IdealLimit::VectorL1 => self.ideal.vector_l1 = true,
            IdealLimit::L2 => self.ideal.l2 = true,
            IdealLimit::Hbm => {
                (self.memory_byte, self.write_alone_byte, self.link_byte) = ([0.0; 2], 0.0, None);
            }
            IdealLimit::Latency => {
                self.hbm = self.l2;
                self.memory_side = self.l2;
                self.scalar_cold = self.l2;
            }
            IdealLimit::Conflicts => self.ideal.conflicts = true,
            IdealLimit::LdsSize | IdealLimit::Registers => {}
            IdealLimit::Barriers => self.ideal.barriers = true,
            IdealLimit::Issue => {
                self.ideal.units = true;
                self.throttle = self.throttle.removed();
                self.issue = 0;
            }
            IdealLimit::Matrix => self.ideal.wait_states = true,
            IdealLimit::Launch => {
                (self.wave_start, self.group_start, self.fetch_cold) = (0, 0, 0);
                self.least = 0.0;
            }
            IdealLimit::Translation => (self.walk, self.read_entries, self.translation) = (0, 0, 0),
        }
        self
    }
}
