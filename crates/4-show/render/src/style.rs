//! How text looks: width and colour, given as a value.
//!
//! The one idea to keep in mind: the caller knows the terminal; renderers only name the role of each piece of
//! text. Colours are the eight every terminal has a readable shade of, on dark and on light.

/// How to write text.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Style {
    /// Columns to fill.
    pub width: usize,
    /// Write ANSI colours.
    pub color: bool,
    /// Never shorten names.
    pub full_names: bool,
}

impl Default for Style {
    fn default() -> Self {
        Style { width: 80, color: false, full_names: false }
    }
}

/// What a piece of text is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Role {
    /// Ordinary text.
    Plain,
    /// Names of kernels, titles.
    Heading,
    /// Names of fields, addresses, everything secondary.
    Dim,
    /// The number that matters.
    Strong,
    /// A severe finding, a value that got worse.
    Severe,
    /// A warning.
    Warning,
    /// A note.
    Info,
    /// A value that got better, advice.
    Good,
}

impl Role {
    const fn code(self) -> &'static str {
        match self {
            Role::Plain => "",
            Role::Heading | Role::Strong => "1",
            Role::Dim => "2",
            Role::Severe => "1;31",
            Role::Warning => "33",
            Role::Info => "36",
            Role::Good => "32",
        }
    }
}

impl Style {
    /// Appends `text` in the colour of `role`.
    pub(crate) fn paint(&self, out: &mut String, role: Role, text: &str) {
        let code = role.code();
        if self.color && !code.is_empty() && !text.is_empty() {
            out.push_str("\x1b[");
            out.push_str(code);
            out.push('m');
            out.push_str(text);
            out.push_str("\x1b[0m");
        } else {
            out.push_str(text);
        }
    }
}
