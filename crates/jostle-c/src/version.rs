//! The version of the library.

use core::ffi::CStr;
use std::ffi::c_char;

const VERSION: &CStr = match CStr::from_bytes_with_nul(concat!(env!("CARGO_PKG_VERSION"), "\0").as_bytes()) {
    Ok(version) => version,
    Err(_) => panic!("a version has no zero byte"),
};

/// Returns the version of the library that runs, such as "0.1.0". JOSTLE_VERSION_MAJOR, _MINOR and _PATCH are those of
/// the header. The text lives for ever.
#[unsafe(no_mangle)]
pub extern "C" fn jostle_version() -> *const c_char {
    VERSION.as_ptr()
}
