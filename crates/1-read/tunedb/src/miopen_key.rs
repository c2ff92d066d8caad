//! Keys and file names of MIOpen's databases.

/// A convolution's key: `C-H-W-RxS-K-Ho-Wo-N-pad-stride-dilation-bias-layout-type-direction`, with a depth in
/// each group for 3-D.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct ConvKey<'a> {
    pub(crate) layout: &'a str,
    pub(crate) data_type: &'a str,
    /// `F`, `B` (data) or `W` (weights).
    pub(crate) direction: char,
}

impl<'a> ConvKey<'a> {
    pub(crate) fn parse(key: &'a str) -> Option<ConvKey<'a>> {
        let parts: Vec<&'a str> = key.split('-').collect();
        // The filter field tells 2-D from 3-D; the number of fields does not, since layouts may be one field or three.
        let filter = parts
            .iter()
            .position(|it| it.contains('x') && it.split('x').all(|n| n.parse::<u32>().is_ok()))?;
        let dimensions = parts[filter].split('x').count();
        if filter != dimensions + 1 || !matches!(dimensions, 2 | 3) || parts.len() < 15 {
            return None;
        }
        let numbers = parts[..filter].iter().all(|it| it.parse::<u64>().is_ok());
        let (last, rest) = parts.split_last()?;
        let (data_type, _) = rest.split_last()?;
        let direction = last.chars().next().filter(|it| matches!(it, 'F' | 'B' | 'W'))?;
        let suffix = &last[1..];
        let layout = rest.get(rest.len().checked_sub(2)?)?;
        let shaped = layout.bytes().all(|it| it.is_ascii_alphanumeric()) && layout.starts_with('N');
        (numbers && shaped && (suffix.is_empty() || suffix.starts_with('_'))).then_some(ConvKey {
            layout,
            data_type,
            direction,
        })
    }

    pub(crate) fn operation(&self) -> &'static str {
        match self.direction {
            'B' => "conv backward data",
            'W' => "conv backward weights",
            _ => "conv forward",
        }
    }
}

/// Facts in the name of a database.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct DbName {
    pub(crate) target: Option<String>,
    pub(crate) cu_count: Option<u32>,
    pub(crate) version: Option<String>,
}

/// Reads `gfx942130.HIP.3_2_0_36bb7fd4a-dirty.ufdb.txt`: target and, in hexadecimal, compute units;
/// `gfx1030_36` is decimal.
pub(crate) fn base_name(name: &str) -> DbName {
    let Some(at) = name.find("gfx") else { return DbName::default() };
    let mut parts = name[at..].split('.');
    let first = parts.next().unwrap_or_default();
    let (target, cu_count) = match first.split_once('_') {
        Some((target, count)) => (Some(target.to_owned()), count.parse().ok()),
        None => hexadecimal(first),
    };
    let version = parts.find(|it| it.starts_with(|c: char| c.is_ascii_digit()) && it.contains('_'));
    DbName { target, cu_count, version: version.map(str::to_owned) }
}

/// `gfx942130`: a target of three or four digits, and the rest as a hexadecimal number of compute units.
fn hexadecimal(text: &str) -> (Option<String>, Option<u32>) {
    let digits = text.strip_prefix("gfx").unwrap_or_default();
    // gfx10 and later have four digits; gfx9 has three, the last of which may be a letter.
    let length = if digits.starts_with('9') { 3 } else { 4 };
    if !digits.is_ascii() || digits.len() < length {
        return (None, None);
    }
    let (target, count) = digits.split_at(length);
    let count = u32::from_str_radix(count, 16).ok().filter(|count| (1..=4096).contains(count));
    (Some(format!("gfx{target}")), count)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_databases() {
        for (name, target, count, version) in [
            ("gfx942130.HIP.fdb.txt", "gfx942", Some(304), None),
            ("gfx90a6e.HIP.fdb.sample.txt", "gfx90a", Some(110), None),
            ("gfx90a68.db", "gfx90a", Some(104), None),
            ("gfx1030_36.db", "gfx1030", Some(36), None),
            (
                "made-gfx942130.HIP.3_2_0_36bb7fd4a-dirty.ufdb.txt",
                "gfx942",
                Some(304),
                Some("3_2_0_36bb7fd4a-dirty"),
            ),
            ("gfx942.udb", "gfx942", None, None),
        ] {
            let found = base_name(name);
            assert_eq!(found.target.as_deref(), Some(target), "{name}");
            assert_eq!((found.cu_count, found.version.as_deref()), (count, version), "{name}");
        }
        assert_eq!(base_name("rank0.ufdb.txt"), DbName::default());
    }

    #[test]
    fn keys_of_two_and_three_dimensions() {
        for (key, expected) in [
            ("1000-13-13-1x1-512-13-13-16-0x0-1x1-1x1-0-NCHW-FP16-B", Some(("NCHW", "FP16", 'B'))),
            ("1-1-1-1-1x4x4-512-1-4-4-128-0x0x0-1x1x1-1x1x1-0-NCDHW-FP32-B", Some(("NCDHW", "FP32", 'B'))),
            ("1280-4-4-3x3-1280-4-4-6-1x1-1x1-1x1-0-NHWC-NHWC-NHWC-FP32-F", Some(("NHWC", "FP32", 'F'))),
            ("232-7-7-3x3-232-7-7-64-1x1-1x1-1x1-0-NCHW-FP16-W_g232", Some(("NCHW", "FP16", 'W'))),
            ("PATH", None),
            ("1-2-3", None),
        ] {
            let found = ConvKey::parse(key);
            assert_eq!(found.map(|it| (it.layout, it.data_type, it.direction)), expected, "{key}");
        }
    }
}
