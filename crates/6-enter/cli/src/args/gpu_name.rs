//! Names of GPUs on the command line.
//!
//! Shells complete the existing names; a clock may follow one.

use clap::builder::{PossibleValue, TypedValueParser};
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Arg, Command, Error};
use std::ffi::OsStr;

/// Takes what [`study::gpus::named`] finds.
#[derive(Clone)]
pub(super) struct GpuName;

impl TypedValueParser for GpuName {
    type Value = String;

    fn parse_ref(&self, command: &Command, arg: Option<&Arg>, value: &OsStr) -> Result<String, Error> {
        let valid = match study::gpus::named(&value.to_string_lossy()) {
            Ok(name) => return Ok(name),
            Err(valid) => valid,
        };
        let mut error = Error::new(ErrorKind::InvalidValue).with_cmd(command);
        let mut say = |kind, value| {
            error.insert(kind, value);
        };
        if let Some(arg) = arg {
            say(ContextKind::InvalidArg, ContextValue::String(arg.to_string()));
        }
        say(ContextKind::InvalidValue, ContextValue::String(value.to_string_lossy().into_owned()));
        say(ContextKind::ValidValue, ContextValue::Strings(valid));
        Err(error)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new(study::gpus::names().map(PossibleValue::new)))
    }
}
