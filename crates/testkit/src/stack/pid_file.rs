//! The pid file: one `LABEL PID` line per process, there as long as the stack is.

use std::io;
use std::path::{Path, PathBuf};

/// A pid file that is removed when dropped.
#[derive(Debug)]
pub(super) struct PidFile {
    path: PathBuf,
}

impl PidFile {
    pub(super) fn new(path: PathBuf) -> Self {
        Self { path }
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Replaces the content; readers see the old or the new one, never half of it.
    pub(super) fn write<'a>(&self, processes: impl Iterator<Item = (&'a str, u32)>) -> io::Result<()> {
        let lines: Vec<String> = processes.map(|(label, pid)| format!("{label} {pid}\n")).collect();
        let fresh = self.path.with_extension("new");
        std::fs::write(&fresh, lines.concat())?;
        std::fs::rename(&fresh, &self.path)
    }
}

impl Drop for PidFile {
    fn drop(&mut self) {
        // Nobody is left to tell; a stale file names processes that are gone.
        let _ = std::fs::remove_file(&self.path);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_lists_the_processes_and_goes_with_its_owner() {
        let dir = tempfile::tempdir().unwrap();
        let file = PidFile::new(dir.path().join("stack.pid"));
        file.write([("redis", 11), ("gateway", 12)].into_iter()).unwrap();
        assert_eq!(std::fs::read_to_string(file.path()).unwrap(), "redis 11\ngateway 12\n");
        drop(file);
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0);
    }
}
