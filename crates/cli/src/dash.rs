//! `-` as the name of a file. Many programs take it for standard input or output; here every place has a name of its own, and a
//! file that is called `-` would be found by nobody.

use crate::failure::Failure;
use std::path::Path;

fn is_dash(path: &Path) -> bool {
    path.as_os_str() == "-"
}

/// Refuses to write a file of this name.
pub(crate) fn refuse_as_output(path: &Path) -> Result<(), Failure> {
    if is_dash(path) {
        return Err(Failure::input(
            "-: this is no name for standard output here\n  \
             results go there anyway, and pages and cohorts do without -o; where a file must be named it is /dev/stdout, and ./- is a file that is called so",
        ));
    }
    Ok(())
}

/// Refuses to read a file of this name.
pub(crate) fn refuse_as_input(path: &Path) -> Result<(), Failure> {
    if is_dash(path) {
        return Err(Failure::input(
            "-: this is no name for standard input here\n  \
             it is /dev/stdin, and ./- is a file that is called so",
        ));
    }
    Ok(())
}
