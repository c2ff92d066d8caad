//! What a dispatch would take with one limit of the GPU lifted.
//!
//! The one idea to keep in mind: a lifted limit is the same clock with other rates; what the time falls by is what the limit
//! is worth. Limits overlap, so the times saved do not add up.

use crate::rates::Rates;

macro_rules! lifts {
    ($($name:ident $key:literal $title:literal $meaning:literal)*) => {
        /// A limit that can be lifted.
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
        pub enum Lift {
            $(#[doc = $meaning] $name,)*
        }

        impl Lift {
            /// All, in the order in which ties are settled.
            pub const ALL: &'static [Lift] = &[$(Lift::$name,)*];

            /// Name in files.
            pub const fn key(self) -> &'static str {
                match self {
                    $(Lift::$name => $key,)*
                }
            }

            /// Name for people.
            pub const fn title(self) -> &'static str {
                match self {
                    $(Lift::$name => $title,)*
                }
            }

            /// What it means.
            pub const fn meaning(self) -> &'static str {
                match self {
                    $(Lift::$name => $meaning,)*
                }
            }
        }
    };
}

lifts! {
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

impl Lift {
    /// The limit of a name.
    pub fn of_key(key: &str) -> Option<Lift> {
        Lift::ALL.iter().copied().find(|lift| lift.key() == key)
    }
}

/// Parts that take no time. Which workgroups find a place is the [`crate::Grid`]'s affair.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Free {
    pub(crate) vector_l1: bool,
    pub(crate) l2: bool,
    pub(crate) conflicts: bool,
    pub(crate) barriers: bool,
    pub(crate) units: bool,
    pub(crate) wait_states: bool,
}

impl Rates {
    /// The same with a limit lifted.
    pub fn without(mut self, lift: Lift) -> Rates {
        match lift {
            Lift::VectorL1 => self.free.vector_l1 = true,
            Lift::L2 => self.free.l2 = true,
            Lift::Hbm => self.memory_byte = [0.0; 2],
            Lift::Latency => {
                self.hbm = self.l2;
                self.memory_side = self.l2;
                self.scalar_cold = self.l2;
            }
            Lift::Conflicts => self.free.conflicts = true,
            Lift::LdsSize | Lift::Registers => {}
            Lift::Barriers => self.free.barriers = true,
            Lift::Issue => {
                self.free.units = true;
                self.issue = 0;
            }
            Lift::Matrix => self.free.wait_states = true,
            Lift::Launch => (self.wave_start, self.group_start, self.fetch_cold) = (0, 0, 0),
            Lift::Translation => (self.walk, self.translation) = (0, 0),
        }
        self
    }
}
