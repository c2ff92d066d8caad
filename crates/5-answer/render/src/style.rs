//! Appearance of text: width and colour, given as a value.
//!
//! The caller knows the terminal; renderers only name the role of each piece of text. Colours are fixed ones
//! of the 256, as bright as they can be on white and as dark as they can be on black: the eight that
//! terminals choose themselves have a yellow and a cyan that vanish on white.

/// Settings of text output.
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

/// Role of a piece of text.
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
    /// Every role.
    pub const ALL: [Role; 8] = [
        Role::Plain,
        Role::Heading,
        Role::Dim,
        Role::Strong,
        Role::Severe,
        Role::Warning,
        Role::Info,
        Role::Good,
    ];

    /// Colour, of the 256 of terminals.
    pub const fn color(self) -> Option<u8> {
        match self {
            Role::Plain | Role::Heading | Role::Dim | Role::Strong => None,
            Role::Severe => Some(160),
            Role::Warning => Some(130),
            Role::Info => Some(30),
            Role::Good => Some(28),
        }
    }

    /// Whether it is written bold.
    pub const fn bold(self) -> bool {
        matches!(self, Role::Heading | Role::Strong | Role::Severe)
    }

    const fn code(self) -> &'static str {
        match self {
            Role::Plain => "",
            Role::Heading | Role::Strong => "1",
            Role::Dim => "2",
            Role::Severe => "1;38;5;160",
            Role::Warning => "38;5;130",
            Role::Info => "38;5;30",
            Role::Good => "38;5;28",
        }
    }
}

#[cfg(feature = "tui")]
impl Role {
    /// The role written with a code.
    pub(crate) fn of_code(code: &str) -> Option<Role> {
        Role::ALL.into_iter().find(|role| role.code() == code)
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Relative luminance of one of the colours 16 to 231.
    fn luminance(color: u8) -> f64 {
        let cube = u32::from(color) - 16;
        let part = |level: u32| {
            let value = f64::from(if level == 0 { 0 } else { 55 + 40 * level }) / 255.0;
            if value <= 0.03928 { value / 12.92 } else { ((value + 0.055) / 1.055).powf(2.4) }
        };
        0.2126 * part(cube / 36) + 0.7152 * part(cube / 6 % 6) + 0.0722 * part(cube % 6)
    }

    #[test]
    fn colours_are_seen_on_white_and_on_black() {
        for role in Role::ALL {
            let Some(color) = role.color() else { continue };
            let it = luminance(color);
            let (on_white, on_black) = (1.05 / (it + 0.05), (it + 0.05) / 0.05);
            assert!(
                on_white >= 4.3 && on_black >= 3.8,
                "{role:?}: {on_white:.2} on white, {on_black:.2} on black"
            );
            assert!(role.code().ends_with(&format!("38;5;{color}")), "{role:?}");
            assert_eq!(role.code().starts_with("1;"), role.bold(), "{role:?}");
        }
    }
}
