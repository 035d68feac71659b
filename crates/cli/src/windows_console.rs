//! Whether this process has its console to itself, on Windows.
#![allow(unsafe_code)] // one system call without a safe wrapper

use windows_sys::Win32::System::Console::GetConsoleProcessList;

/// Whether this is the only process attached to its console. If so, a double-click opened the console.
pub(crate) fn owns_console() -> bool {
    let mut processes = [0; 2];
    // SAFETY: the buffer has room for two ids, and the call writes at most two.
    let count = unsafe { GetConsoleProcessList(processes.as_mut_ptr(), 2) };
    count == 1
}
