//! A value with its source, or the reason why it is unknown.

/// A value that was read, or why it was not.
#[derive(Clone, PartialEq, Debug)]
pub enum Fact<T> {
    /// Read.
    Known {
        /// The value.
        value: T,
        /// Source: a path, or the command whose output it is.
        from: String,
    },
    /// Not read.
    Unknown {
        /// Reason, as a phrase that begins with the source: "/proc/cmdline: permission denied".
        reason: String,
    },
}

impl<T> Fact<T> {
    /// A value that was read.
    pub fn known(value: T, from: impl Into<String>) -> Fact<T> {
        Fact::Known { value, from: from.into() }
    }

    /// A value that was not read.
    pub fn unknown(reason: impl Into<String>) -> Fact<T> {
        Fact::Unknown { reason: reason.into() }
    }

    /// The value, where known.
    pub fn get(&self) -> Option<&T> {
        match self {
            Fact::Known { value, .. } => Some(value),
            Fact::Unknown { .. } => None,
        }
    }

    /// Source, if known.
    pub fn from(&self) -> Option<&str> {
        match self {
            Fact::Known { from, .. } => Some(from),
            Fact::Unknown { .. } => None,
        }
    }

    /// Reason why it is unknown.
    pub fn reason(&self) -> Option<&str> {
        match self {
            Fact::Known { .. } => None,
            Fact::Unknown { reason } => Some(reason),
        }
    }

    /// The same fact with another value.
    pub fn map<U>(self, change: impl FnOnce(T) -> U) -> Fact<U> {
        match self {
            Fact::Known { value, from } => Fact::Known { value: change(value), from },
            Fact::Unknown { reason } => Fact::Unknown { reason },
        }
    }

    /// Parses the value; if that fails, the source and `why` become the reason.
    pub fn parse<U>(self, why: &str, read: impl FnOnce(T) -> Option<U>) -> Fact<U> {
        match self {
            Fact::Known { value, from } => match read(value) {
                Some(value) => Fact::Known { value, from },
                None => Fact::Unknown { reason: format!("{from}: {why}") },
            },
            Fact::Unknown { reason } => Fact::Unknown { reason },
        }
    }

    /// Takes another reading where this one is not known.
    pub fn or(self, other: Fact<T>) -> Fact<T> {
        match (&self, &other) {
            (Fact::Unknown { .. }, Fact::Known { .. }) => other,
            _ => self,
        }
    }

    /// Fills in another reading where this one is not known.
    pub fn fill(&mut self, other: Fact<T>) {
        if matches!((&*self, &other), (Fact::Unknown { .. }, Fact::Known { .. })) {
            *self = other;
        }
    }
}
