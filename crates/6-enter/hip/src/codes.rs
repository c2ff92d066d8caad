//! Error codes: number, name, text.
//!
//! A call returns its code and also leaves it for `hipGetLastError`, which belongs to the thread.

use std::cell::Cell;
use std::ffi::CStr;

/// A code other than success.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Code(pub(crate) i32);

macro_rules! codes {
    ($($number:literal $name:ident $text:literal,)*) => {
        /// Numbers, names and texts, by number.
        const CODES: &[(i32, &CStr, &CStr)] = &[$((
            $number,
            match CStr::from_bytes_with_nul(concat!(stringify!($name), "\0").as_bytes()) {
                Ok(name) => name,
                Err(_) => c"",
            },
            match CStr::from_bytes_with_nul(concat!($text, "\0").as_bytes()) {
                Ok(text) => text,
                Err(_) => c"",
            },
        )),*];

        #[allow(non_upper_case_globals, dead_code, reason = "names of the C interface")]
        impl Code {
            $(pub(crate) const $name: Code = Code($number);)*
        }
    };
}

codes! {
    0 hipSuccess "no error",
    1 hipErrorInvalidValue "invalid argument",
    2 hipErrorOutOfMemory "out of memory",
    3 hipErrorNotInitialized "initialization error",
    4 hipErrorDeinitialized "driver shutting down",
    5 hipErrorProfilerDisabled "profiler disabled",
    6 hipErrorProfilerNotInitialized "profiler not initialized",
    7 hipErrorProfilerAlreadyStarted "profiler already started",
    8 hipErrorProfilerAlreadyStopped "profiler already stopped",
    9 hipErrorInvalidConfiguration "invalid configuration argument",
    12 hipErrorInvalidPitchValue "invalid pitch argument",
    13 hipErrorInvalidSymbol "invalid device symbol",
    17 hipErrorInvalidDevicePointer "invalid device pointer",
    21 hipErrorInvalidMemcpyDirection "invalid copy direction for memcpy",
    35 hipErrorInsufficientDriver "insufficient driver",
    52 hipErrorMissingConfiguration "__global__ function call is not configured",
    53 hipErrorPriorLaunchFailure "unspecified launch failure in prior launch",
    98 hipErrorInvalidDeviceFunction "invalid device function",
    100 hipErrorNoDevice "no ROCm-capable device is detected",
    101 hipErrorInvalidDevice "invalid device ordinal",
    200 hipErrorInvalidImage "device kernel image is invalid",
    201 hipErrorInvalidContext "invalid device context",
    202 hipErrorContextAlreadyCurrent "context already current",
    205 hipErrorMapFailed "map failed",
    206 hipErrorUnmapFailed "unmap failed",
    207 hipErrorArrayIsMapped "array is mapped",
    208 hipErrorAlreadyMapped "already mapped",
    209 hipErrorNoBinaryForGpu "no kernel image is available for execution on the device",
    210 hipErrorAlreadyAcquired "already acquired",
    211 hipErrorNotMapped "not mapped",
    212 hipErrorNotMappedAsArray "not mapped as array",
    213 hipErrorNotMappedAsPointer "not mapped as pointer",
    214 hipErrorECCNotCorrectable "eccnot correctable",
    215 hipErrorUnsupportedLimit "unsupported limit",
    216 hipErrorContextAlreadyInUse "context already in use",
    217 hipErrorPeerAccessUnsupported "peer access is not supported between these two devices",
    218 hipErrorInvalidKernelFile "invalid kernel file",
    219 hipErrorInvalidGraphicsContext "invalid graphics context",
    300 hipErrorInvalidSource "device kernel image is invalid",
    301 hipErrorFileNotFound "file not found",
    302 hipErrorSharedObjectSymbolNotFound "shared object symbol not found",
    303 hipErrorSharedObjectInitFailed "shared object init failed",
    304 hipErrorOperatingSystem "OS call failed or operation not supported on this OS",
    400 hipErrorInvalidHandle "invalid resource handle",
    401 hipErrorIllegalState "the operation cannot be performed in the present state",
    500 hipErrorNotFound "named symbol not found",
    600 hipErrorNotReady "device not ready",
    700 hipErrorIllegalAddress "an illegal memory access was encountered",
    701 hipErrorLaunchOutOfResources "too many resources requested for launch",
    702 hipErrorLaunchTimeOut "the launch timed out and was terminated",
    704 hipErrorPeerAccessAlreadyEnabled "peer access is already enabled",
    705 hipErrorPeerAccessNotEnabled "peer access has not been enabled",
    708 hipErrorSetOnActiveProcess "cannot set while device is active in this process",
    709 hipErrorContextIsDestroyed "context is destroyed",
    710 hipErrorAssert "device-side assert triggered",
    712 hipErrorHostMemoryAlreadyRegistered "part or all of the requested memory range is already mapped",
    713 hipErrorHostMemoryNotRegistered "pointer does not correspond to a registered memory region",
    719 hipErrorLaunchFailure "unspecified launch failure",
    720 hipErrorCooperativeLaunchTooLarge "too many blocks in cooperative launch",
    801 hipErrorNotSupported "operation not supported",
    900 hipErrorStreamCaptureUnsupported "operation not permitted when stream is capturing",
    901 hipErrorStreamCaptureInvalidated "operation failed due to a previous error during capture",
    902 hipErrorStreamCaptureMerge "stream capture merge",
    903 hipErrorStreamCaptureUnmatched "capture was not initiated in this stream",
    904 hipErrorStreamCaptureUnjoined "stream capture unjoined",
    905 hipErrorStreamCaptureIsolation "stream capture isolation",
    906 hipErrorStreamCaptureImplicit "operation would make the legacy stream depend on a capturing blocking stream",
    907 hipErrorCapturedEvent "captured event",
    908 hipErrorStreamCaptureWrongThread "stream capture wrong thread",
    910 hipErrorGraphExecUpdateFailure "the graph update was not performed because it included changes which violated constraints",
    911 hipErrorInvalidChannelDescriptor "invalid channel descriptor",
    912 hipErrorInvalidTexture "invalid texture",
    999 hipErrorUnknown "unknown error",
    1052 hipErrorRuntimeMemory "runtime memory",
    1053 hipErrorRuntimeOther "runtime other",
}

thread_local! {
    static LAST: Cell<i32> = const { Cell::new(0) };
}

/// Name of a code.
pub(crate) fn name(code: i32) -> &'static CStr {
    find(code).map_or(c"hipErrorUnknown", |it| it.1)
}

/// Text of a code.
pub(crate) fn text(code: i32) -> &'static CStr {
    find(code).map_or(c"unknown error", |it| it.2)
}

/// Whether a number is a code.
pub(crate) fn exists(code: i32) -> bool {
    find(code).is_some()
}

fn find(code: i32) -> Option<&'static (i32, &'static CStr, &'static CStr)> {
    CODES.binary_search_by_key(&code, |it| it.0).ok().map(|index| &CODES[index])
}

/// The code of a finished call; errors stay for `hipGetLastError`.
pub(crate) fn finish(result: Result<(), Code>) -> i32 {
    match result {
        Ok(()) => 0,
        Err(Code(code)) => {
            LAST.set(code);
            code
        }
    }
}

/// The last error of this thread, which stays.
pub(crate) fn peek() -> i32 {
    LAST.get()
}

/// The last error of this thread, which is gone then.
pub(crate) fn take() -> i32 {
    LAST.replace(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_sorted_and_named() {
        assert!(CODES.windows(2).all(|pair| pair[0].0 < pair[1].0));
        for (code, name_and_text) in
            [(0, (c"hipSuccess", c"no error")), (-5, (c"hipErrorUnknown", c"unknown error"))]
        {
            assert_eq!((name(code), text(code)), name_and_text);
        }
        assert!(CODES.iter().all(|(_, name, text)| !name.is_empty() && !text.is_empty()));
    }

    #[test]
    fn the_last_error_is_taken_once() {
        assert_eq!(finish(Err(Code::hipErrorNotFound)), 500);
        assert_eq!((peek(), take(), take()), (500, 500, 0));
    }
}
