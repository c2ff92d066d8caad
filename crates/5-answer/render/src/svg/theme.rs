//! Colours of charts and pages, light and dark.
//!
//! Text has a contrast of 4.5 and shapes of 3 to their background; a test computes both.

/// A set of colours.
#[derive(Clone, PartialEq, Eq, Debug)]
#[allow(missing_docs, reason = "named after what they colour")]
pub struct Theme {
    pub page: &'static str,
    pub surface: &'static str,
    pub raised: &'static str,
    pub text: &'static str,
    pub dim: &'static str,
    pub rule: &'static str,
    pub edge: &'static str,
    pub accent: &'static str,
    pub severe: &'static str,
    pub warning: &'static str,
    pub info: &'static str,
    pub good: &'static str,
    pub hbm: &'static str,
    pub l2: &'static str,
    pub vl1d: &'static str,
    pub lds: &'static str,
    pub rate: &'static str,
    pub bar: &'static str,
    pub heat: &'static str,
    pub mark: &'static str,
}

/// On white.
pub const LIGHT: Theme = Theme {
    page: "#f3f4f7",
    surface: "#ffffff",
    raised: "#f0f2f6",
    text: "#171b22",
    dim: "#565f6d",
    rule: "#dfe3ea",
    edge: "#7f8896",
    accent: "#0b5cc2",
    severe: "#b3261e",
    warning: "#8a5200",
    info: "#0b5c8a",
    good: "#1b6e3c",
    hbm: "#0b62c4",
    l2: "#0a7d55",
    vl1d: "#b84a00",
    lds: "#9a3d9a",
    rate: "#565f6d",
    bar: "#3d7fd6",
    heat: "#e06a1b",
    mark: "#ffffff",
};

/// On nearly black.
pub const DARK: Theme = Theme {
    page: "#0f1217",
    surface: "#171b22",
    raised: "#1f252e",
    text: "#e6e9ee",
    dim: "#a0a9b8",
    rule: "#2b323d",
    edge: "#727d8e",
    accent: "#6db0ff",
    severe: "#ff8a80",
    warning: "#f0b35a",
    info: "#73c2f0",
    good: "#6fce92",
    hbm: "#5aa8ff",
    l2: "#45cf9a",
    vl1d: "#ff9a57",
    lds: "#e08ae0",
    rate: "#a0a9b8",
    bar: "#4f8fe0",
    heat: "#ff8a3d",
    mark: "#10141a",
};

impl Theme {
    /// Names, as variables of a style sheet, with their colours.
    pub const fn colours(&self) -> [(&'static str, &'static str); 20] {
        [
            ("page", self.page),
            ("surface", self.surface),
            ("raised", self.raised),
            ("text", self.text),
            ("dim", self.dim),
            ("rule", self.rule),
            ("edge", self.edge),
            ("accent", self.accent),
            ("severe", self.severe),
            ("warning", self.warning),
            ("info", self.info),
            ("good", self.good),
            ("hbm", self.hbm),
            ("l2", self.l2),
            ("vl1d", self.vl1d),
            ("lds", self.lds),
            ("rate", self.rate),
            ("bar", self.bar),
            ("heat", self.heat),
            ("mark", self.mark),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Contrast of two colours as WCAG 2 defines it.
    fn contrast(a: &str, b: &str) -> f64 {
        let luminance = |colour: &str| {
            let part = |at: usize| {
                let value = f64::from(u8::from_str_radix(&colour[at..at + 2], 16).unwrap()) / 255.0;
                if value <= 0.04045 { value / 12.92 } else { ((value + 0.055) / 1.055).powf(2.4) }
            };
            0.2126 * part(1) + 0.7152 * part(3) + 0.0722 * part(5)
        };
        let (a, b) = (luminance(a), luminance(b));
        (a.max(b) + 0.05) / (a.min(b) + 0.05)
    }

    #[test]
    fn text_and_shapes_stand_out() {
        for (name, theme) in [("light", &LIGHT), ("dark", &DARK)] {
            for ground in [theme.page, theme.surface, theme.raised] {
                for (what, colour) in theme.colours() {
                    let least = match what {
                        "text" | "dim" | "accent" | "severe" | "warning" | "info" | "good" | "hbm" | "l2"
                        | "vl1d" | "lds" | "rate" => 4.5,
                        "bar" | "edge" => 3.0,
                        _ => continue,
                    };
                    let found = contrast(colour, ground);
                    assert!(found >= least, "{name}: {what} {colour} on {ground}: {found:.2}");
                }
            }
            for level in [theme.hbm, theme.l2, theme.vl1d, theme.lds] {
                let found = contrast(theme.mark, level);
                assert!(found >= 4.5, "{name}: {} on {level}: {found:.2}", theme.mark);
            }
        }
    }
}
