//! Names of GPUs on the command line.
//!
//! Shells complete the existing names; a clock may follow one.

use arch::{LOWEST_MHZ, Model};
use clap::builder::{PossibleValue, TypedValueParser};
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Arg, Command, Error};
use std::ffi::OsStr;

/// Takes what [`Model::by_name`] finds.
#[derive(Clone)]
pub(super) struct GpuName;

impl TypedValueParser for GpuName {
    type Value = String;

    fn parse_ref(&self, command: &Command, arg: Option<&Arg>, value: &OsStr) -> Result<String, Error> {
        let text = value.to_string_lossy().to_ascii_lowercase();
        if Model::by_name(&text).is_some() {
            return Ok(text);
        }
        let mut error = Error::new(ErrorKind::InvalidValue).with_cmd(command);
        let mut say = |kind, value| {
            error.insert(kind, value);
        };
        if let Some(arg) = arg {
            say(ContextKind::InvalidArg, ContextValue::String(arg.to_string()));
        }
        say(ContextKind::InvalidValue, ContextValue::String(value.to_string_lossy().into_owned()));
        let known = text.split('@').next().and_then(Model::by_name);
        let valid = match known {
            None => Model::names().map(str::to_owned).collect(),
            Some(model) => {
                vec![format!("{0}@{LOWEST_MHZ}..{0}@{1}", model.key(), model.engine_mhz.value)]
            }
        };
        say(ContextKind::ValidValue, ContextValue::Strings(valid));
        Err(error)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new(Model::names().map(PossibleValue::new)))
    }
}
