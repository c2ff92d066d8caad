//! The code of a captured kernel, from the image that the program gave to the runtime.

use crate::device_code::DeviceCode;
use anyhow::Result;
use arch::Model;
use codeobj::Argument;

/// The code object for a GPU in an image.
pub struct DeviceCodes(DeviceCode);

impl DeviceCodes {
    /// Finds the code for a target in a code object, bundle or library.
    ///
    /// # Errors
    /// If it has none.
    pub fn find(image: &[u8], target: &str) -> Result<DeviceCodes> {
        DeviceCode::find_in("the program", image, Some(target)).map(DeviceCodes)
    }

    /// Bytes of the code object.
    pub fn bytes(&self) -> &[u8] {
        &self.0.data
    }

    /// Arguments that a program gives to a kernel.
    ///
    /// # Errors
    /// If it has no such kernel.
    pub fn arguments(&self, symbol: &str) -> Result<Vec<&Argument>> {
        Ok(self.0.kernel(Some(symbol))?.metadata.given().collect())
    }

    /// Address of virtual address 0, from the address that the runtime gives for any variable.
    pub fn address(&self, of_variable: impl Fn(&str) -> Option<u64>) -> Option<u64> {
        let image = codeobj::Image::read(&self.0.data).ok()?;
        image.variables().find_map(|it| of_variable(&it.name)?.checked_sub(it.address))
    }
}

/// Name for `--gpu` of the GPU that a runtime calls so: `AMD Instinct MI300X`.
pub fn gpu_named(name: &str, target: &str) -> Option<&'static str> {
    let name = name.to_ascii_uppercase();
    let fits = |it: &&str| Model::by_name(it).is_some_and(|model| model.target().name == target);
    // The longest: MI300X, and not MI300.
    Model::names().filter(fits).filter(|it| name.contains(&it.to_ascii_uppercase())).max_by_key(|it| it.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gpus_are_known_by_the_names_of_runtimes() {
        for (name, target, expected) in [
            ("AMD Instinct MI300X", "gfx942", Some("mi300x")),
            ("AMD Instinct MI210", "gfx90a", Some("mi210")),
            ("AMD Instinct MI300X", "gfx90a", None),
            ("AMD Radeon", "gfx942", None),
        ] {
            assert_eq!(gpu_named(name, target), expected, "{name}");
        }
    }
}
