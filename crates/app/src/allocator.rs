//! Configuring the C library's allocator to give large blocks back: a gateway that held large bodies for a second would
//! otherwise keep their memory for good.

#[cfg(all(target_os = "linux", target_env = "gnu"))]
mod glibc {
    use std::env;
    use std::os::unix::process::CommandExt;
    use std::process::Command;

    /// Read by glibc when a process starts, and never again.
    const VARIABLE: &str = "GLIBC_TUNABLES";

    /// Blocks from this size on go back to the system when they are freed. Left to itself, glibc raises the size to that
    /// of the largest block that was ever freed. Once the size is fixed, so is how much of a thread's heap may lie idle, and
    /// at its default of 128 KiB every larger body would take its pages from the system anew.
    ///
    /// A conversation is many small blocks that come and go together. By default a thread keeps seven of each size at
    /// hand; the rest it would sort and join whenever a large block is freed.
    const SETTING: &str = "glibc.malloc.mmap_threshold=1048576:glibc.malloc.trim_threshold=8388608:\
                           glibc.malloc.tcache_count=2000";

    /// Starts this program over, in the same process, with the setting in its environment. An operator who set the
    /// variable has other ideas, and a program that cannot be started over goes on as it is.
    pub(crate) fn give_large_blocks_back() {
        if env::var_os(VARIABLE).is_some() {
            return;
        }
        let mut arguments = env::args_os();
        let (Some(name), Ok(program)) = (arguments.next(), env::current_exe()) else { return };
        let _ = Command::new(program).arg0(name).args(arguments).env(VARIABLE, SETTING).exec();
    }
}

#[cfg(all(target_os = "linux", target_env = "gnu"))]
pub(crate) use glibc::give_large_blocks_back;

/// Other allocators do so by themselves.
#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
pub(crate) fn give_large_blocks_back() {}
