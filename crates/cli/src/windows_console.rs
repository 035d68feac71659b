//! Who else uses the console, on Windows.
#![allow(unsafe_code)] // one call of the system without a safe form

use windows_sys::Win32::System::Console::GetConsoleProcessList;

/// Whether this is the only process of its console: then the console was opened for it, by a double click.
pub(crate) fn owns_console() -> bool {
    let mut processes = [0; 2];
    // SAFETY: the list has room for the two ids that the call is told it may write.
    let count = unsafe { GetConsoleProcessList(processes.as_mut_ptr(), 2) };
    count == 1
}
