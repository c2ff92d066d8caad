//! Numbers in the cells of tables.

/// A cell that holds neither a number nor nothing.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct NotANumber;

/// A number as profilers and spreadsheets write it; blank and `nan` are cells that were not recorded.
///
/// # Errors
/// If it is neither.
pub fn number(field: &[u8]) -> Result<Option<f64>, NotANumber> {
    let text = std::str::from_utf8(field).map_err(|_| NotANumber)?.trim();
    match text {
        "" | "nan" | "NaN" | "NA" | "N/A" | "None" | "null" | "inf" | "-inf" => Ok(None),
        _ if text.bytes().all(|b| b.is_ascii_digit() || b"+-.eE".contains(&b)) => {
            text.parse::<f64>().map(Some).map_err(|_| NotANumber)
        }
        _ => Err(NotANumber),
    }
}
