//! Files that appear under their names only once they are complete.

use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::Path;

use anyhow::{Context, Result, ensure};

use super::identity::{destination, folder};
use super::temporary::Temporary;
use super::{Out, Sink};

/// Creates or replaces the file at `path` with what `fill` writes. On an error the old file stays.
pub(super) fn replace(path: &Path, fill: impl FnOnce(&mut Out<'_>) -> Result<()>) -> Result<()> {
    attempt(path, fill).with_context(|| format!("cannot write {}", path.display()))
}

/// Checks, before any work is done, that a file can be reached, that its folder exists and that new files
/// can be made in it.
pub(super) fn check_folder(path: &Path) -> Result<()> {
    let target = destination(path);
    ensure!(!target.is_symlink(), "this link leads to itself, or through too many others");
    let folder = folder(&target);
    ensure!(folder.is_dir(), "there is no folder {}", folder.display());
    if !target.exists() || target.is_file() {
        Temporary::new(folder).with_context(|| format!("cannot write to the folder {}", folder.display()))?;
    }
    Ok(())
}

fn attempt(path: &Path, fill: impl FnOnce(&mut Out<'_>) -> Result<()>) -> Result<()> {
    // Writing goes through a link to the file that it names: the link itself must stay.
    let target = destination(path);
    if target.exists() && !target.is_file() {
        // A device or a pipe, which no file may replace (or a folder, which opening refuses).
        return filled(&File::options().write(true).open(&target)?, fill);
    }
    let temporary = Temporary::new(folder(&target))?;
    filled(temporary.file()?, fill)?;
    if let Ok(old) = fs::metadata(&target) {
        // The new file gets the permissions of the old one.
        temporary.file()?.set_permissions(old.permissions())?;
    }
    Ok(temporary.persist(&target)?)
}

fn filled(file: &File, fill: impl FnOnce(&mut Out<'_>) -> Result<()>) -> Result<()> {
    let mut out = BufWriter::new(Sink::File(file));
    fill(&mut out)?;
    Ok(out.flush()?)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::io::Write;

    use anyhow::bail;

    use super::replace;

    #[test]
    fn what_was_there_stays_on_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        replace(&path, |out| Ok(out.write_all(b"first")?)).unwrap();
        let failed = replace(&path, |out| {
            out.write_all(b"half")?;
            bail!("no more")
        });
        assert_eq!(format!("{:#}", failed.unwrap_err()), format!("cannot write {}: no more", path.display()));
        assert_eq!(fs::read(&path).unwrap(), b"first");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[cfg(unix)]
    #[test]
    fn a_private_file_stays_private() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        fs::write(&path, "old").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
        replace(&path, |out| Ok(out.write_all(b"new")?)).unwrap();
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    }

    #[cfg(unix)]
    #[test]
    fn links_and_devices_stay_what_they_are() {
        let folder = tempfile::tempdir().unwrap();
        let (file, link) = (folder.path().join("file"), folder.path().join("link"));
        fs::write(&file, "old").unwrap();
        std::os::unix::fs::symlink(&file, &link).unwrap();
        replace(&link, |out| Ok(out.write_all(b"new")?)).unwrap();
        assert!(link.is_symlink());
        assert_eq!(fs::read(&file).unwrap(), b"new");
        replace("/dev/null".as_ref(), |out| Ok(out.write_all(b"gone")?)).unwrap();
        assert!(!fs::metadata("/dev/null").unwrap().is_file());
    }
}
