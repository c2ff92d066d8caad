//! Values as AMD's tools write them.
//!
//! One tool writes one quantity as a number, as `"900 MHz"` and as `{"value", "unit"}`, by version and block;
//! `N/A` counts as missing.

use serde_json::Value;

/// A number, from any spelling; the unit is not converted.
pub(crate) fn number(value: &Value) -> Option<f64> {
    match value {
        Value::Number(number) => number.as_f64(),
        Value::String(text) => leading_number(text),
        Value::Object(map) => number(map.get("value")?),
        _ => None,
    }
}

/// The number a text begins with: `32 GT/s`, `(2094Mhz)`, `48.0°C`, `0x74a1`.
pub(crate) fn leading_number(text: &str) -> Option<f64> {
    let text = text.trim().trim_start_matches('(');
    if let Some(hex) = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        let end = hex.find(|c: char| !c.is_ascii_hexdigit()).unwrap_or(hex.len());
        return u64::from_str_radix(&hex[..end], 16).ok().map(|it| it as f64);
    }
    let end = text
        .char_indices()
        .find(|(at, c)| !(c.is_ascii_digit() || *c == '.' || (*at == 0 && *c == '-')))
        .map_or(text.len(), |(at, _)| at);
    text[..end].parse().ok()
}

/// A whole number that is not negative.
pub(crate) fn count(value: &Value) -> Option<u64> {
    let it = number(value)?;
    (it >= 0.0 && it.fract() == 0.0 && it < 1e18).then_some(it as u64)
}

/// A text that says something.
pub(crate) fn words(value: &Value) -> Option<String> {
    match value {
        Value::String(text) if said(text) => Some(text.trim().to_owned()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

/// True if a text is a value.
pub(crate) fn said(text: &str) -> bool {
    let text = text.trim();
    !text.is_empty()
        && !["N/A", "NA", "None", "unknown", "unk", "null"].iter().any(|it| it.eq_ignore_ascii_case(text))
}

/// The first existing one of several paths (`limit.ppt0.max_power_limit`).
pub(crate) fn at<'a>(value: &'a Value, paths: &[&str]) -> Option<&'a Value> {
    paths.iter().find_map(|path| path.split('.').try_fold(value, |at, key| at.get(key)))
}

/// A PCI address in one spelling: `05:00.0` and `0000:05:00.0` are `0000:05:00.0`.
pub(crate) fn bdf(text: &str) -> Option<String> {
    let text = text.trim().to_ascii_lowercase();
    let (rest, function) = text.rsplit_once('.')?;
    let parts: Vec<&str> = rest.split(':').collect();
    let (domain, bus, device) = match parts[..] {
        [bus, device] => ("0000", bus, device),
        [domain, bus, device] => (domain, bus, device),
        _ => return None,
    };
    let hex = |text: &str, most: usize| {
        (!text.is_empty() && text.len() <= most && text.bytes().all(|b| b.is_ascii_hexdigit())).then_some(())
    };
    hex(domain, 8)?;
    hex(bus, 2)?;
    hex(device, 2)?;
    hex(function, 1)?;
    Some(format!("{domain:0>4}:{bus:0>2}:{device:0>2}.{function}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn one_quantity_in_every_spelling() {
        for (value, expected) in [
            (json!(900), Some(900.0)),
            (json!("900 MHz"), Some(900.0)),
            (json!("(2094Mhz)"), Some(2094.0)),
            (json!({"value": 900, "unit": "MHz"}), Some(900.0)),
            (json!("0x74a1"), Some(29857.0)),
            (json!("N/A"), None),
            (json!({"value": "N/A"}), None),
            (json!([1]), None),
            (json!("°C"), None),
        ] {
            assert_eq!(number(&value), expected, "{value}");
        }
    }

    #[test]
    fn addresses_have_one_spelling() {
        for (text, expected) in [
            ("05:00.0", Some("0000:05:00.0")),
            ("0000:E5:00.0", Some("0000:e5:00.0")),
            ("10000:05:00.0", Some("10000:05:00.0")),
            ("5:0.1", Some("0000:05:00.1")),
            ("05:00", None),
            ("xx:00.0", None),
            ("", None),
        ] {
            assert_eq!(bdf(text).as_deref(), expected, "{text}");
        }
    }
}
