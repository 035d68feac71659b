//! What this process tells the operating system about itself.

use std::io;

/// Keeps secrets out of core dumps: a crash writes none and, on Linux, other processes of this user cannot read this one's
/// memory. It holds for the whole process, so the program decides and not a session.
pub fn disable_core_dumps() -> io::Result<()> {
    #[cfg(unix)]
    {
        use rustix::process::{Resource, Rlimit, setrlimit};
        let none = Rlimit {
            current: Some(0),
            maximum: Some(0),
        };
        setrlimit(Resource::Core, none)?;
    }
    #[cfg(target_os = "linux")]
    {
        use rustix::process::{DumpableBehavior, set_dumpable_behavior};
        set_dumpable_behavior(DumpableBehavior::NotDumpable)?;
    }
    Ok(())
}
