//! Handles of libraries of which little else is answered, so that programs which make one at their start go on
//! to what they need.

use super::blas::{Handle, put};
use super::{Answer, Arguments, Problem};

/// Beginnings of the names of functions, and what making a handle is called behind them.
const LIBRARIES: [(&str, &str); 5] = [
    ("hipsparse", "Create"),
    ("hipsolver", "Create"),
    ("hipsolverDn", "Create"),
    ("miopen", "Create"),
    ("miopen", "CreateWithStream"),
];

/// Makes, sets and destroys handles; `None` for other functions.
pub(super) fn call(function: &str, arguments: &mut Arguments) -> Option<Answer> {
    let own = |name: &str| LIBRARIES.iter().any(|(prefix, _)| function.strip_prefix(prefix) == Some(name));
    let made = LIBRARIES.iter().any(|(prefix, create)| function.strip_prefix(prefix) == Some(create));
    let done = if made {
        make(arguments, function.ends_with("WithStream"))
    } else if own("Destroy") {
        Handle::destroy(arguments.address())
    } else if own("SetStream") {
        let (number, stream) = (arguments.address(), arguments.address());
        Handle::change(number, |handle| handle.stream = stream)
    } else if own("GetStream") {
        let (number, at) = (arguments.address(), arguments.address());
        Handle::of(number).and_then(|handle| put(at, handle.stream))
    } else {
        return None;
    };
    Some(done.map(|()| 0))
}

fn make(arguments: &mut Arguments, has_stream: bool) -> Result<(), Problem> {
    let at = arguments.address();
    if at == 0 {
        return Err(Problem::Pointer);
    }
    let number = Handle::create();
    if has_stream {
        let stream = arguments.address();
        Handle::change(number, |handle| handle.stream = stream)?;
    }
    put(at, number)
}
