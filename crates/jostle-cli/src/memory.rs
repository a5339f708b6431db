//! How much memory is free, so that a list that would not fit is refused before it is made.

use std::fs;
use std::path::Path;

/// Bytes of a page; `/proc/self/statm` counts pages.
const PAGE: u64 = 4096;

/// Returns the bytes that this process may still take, as far as the system tells: the least of free memory, what the
/// limits of its control groups leave, and what the limit of its own address space leaves.
pub(crate) fn free() -> Option<u64> {
    free_under(Path::new("/"))
}

/// The same as [`free`], for a system whose files lie under `root`.
fn free_under(root: &Path) -> Option<u64> {
    let read = |path: &str| fs::read_to_string(root.join(path)).ok();
    let machine = read("proc/meminfo").and_then(|text| Some(number_after(&text, "MemAvailable:")? * 1024));
    let groups = read("proc/self/cgroup").and_then(|text| text.lines().filter_map(|line| of_group(root, line)).min());
    let addresses = read("proc/self/limits").and_then(|text| {
        let limit = number_after(&text, "Max address space")?;
        let pages = read("proc/self/statm")?.split_whitespace().next()?.parse::<u64>().ok()?;
        Some(limit.saturating_sub(pages * PAGE))
    });
    [machine, groups, addresses].into_iter().flatten().min()
}

/// Returns what a control group and the groups above it leave. `line` is one of `/proc/self/cgroup`: `0::/path` in the
/// second version, `number:controllers:/path` in the first.
fn of_group(root: &Path, line: &str) -> Option<u64> {
    let (_, rest) = line.split_once(':')?;
    let (controllers, path) = rest.split_once(':')?;
    let (top, limit, used, cached) = match controllers {
        "" => ("sys/fs/cgroup", "memory.max", "memory.current", "inactive_file"),
        _ if controllers.split(',').any(|name| name == "memory") => {
            ("sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file")
        }
        _ => return None,
    };
    let top = root.join(top);
    let mut left = None;
    // In a container the path may be the one outside of it. A folder that is not there has no limit.
    for folder in top.join(path.trim_start_matches('/')).ancestors().take_while(|folder| folder.starts_with(&top)) {
        let read = |name: &str| fs::read_to_string(folder.join(name)).ok();
        let number = |name: &str| read(name)?.trim().parse::<u64>().ok();
        if let (Some(limit), Some(used)) = (number(limit), number(used)) {
            // Pages of files that were not used lately are given up when memory is short.
            let given_up = read("memory.stat").and_then(|text| number_after(&text, cached)).unwrap_or_default();
            let here = limit.saturating_sub(used.saturating_sub(given_up));
            left = Some(left.map_or(here, |left: u64| left.min(here)));
        }
    }
    left
}

/// The number that follows a name at the beginning of a line; `None` if a word stands in its place.
fn number_after(text: &str, name: &str) -> Option<u64> {
    let rest = text.lines().find_map(|line| line.strip_prefix(name))?;
    rest.split_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use super::free_under;

    fn write(root: &Path, path: &str, content: &str) {
        let path = root.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }

    #[test]
    fn the_tightest_limit_counts() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        assert_eq!(free_under(root), None, "a system that tells nothing");
        write(root, "proc/meminfo", "MemTotal:       4000 kB\nMemAvailable:   3000 kB\n");
        assert_eq!(free_under(root), Some(3_072_000));
        write(
            root,
            "proc/self/limits",
            "Limit   Soft   Hard\nMax address space         unlimited   unlimited   bytes\n",
        );
        write(root, "proc/self/statm", "100 50 20 1 0 30 0\n");
        assert_eq!(free_under(root), Some(3_072_000));
        write(root, "proc/self/limits", "Max address space         2409600   unlimited   bytes\n");
        assert_eq!(free_under(root), Some(2_000_000));
        // The second version: the group has no limit, but the group above it has.
        write(root, "proc/self/cgroup", "0::/user/job\n");
        write(root, "sys/fs/cgroup/user/job/memory.max", "max\n");
        write(root, "sys/fs/cgroup/user/job/memory.current", "5\n");
        assert_eq!(free_under(root), Some(2_000_000));
        write(root, "sys/fs/cgroup/user/memory.max", "1000000\n");
        write(root, "sys/fs/cgroup/user/memory.current", "700000\n");
        assert_eq!(free_under(root), Some(300_000));
        write(root, "sys/fs/cgroup/user/memory.stat", "anon 1\ninactive_file 100000\n");
        assert_eq!(free_under(root), Some(400_000));
        // The first version.
        write(root, "proc/self/cgroup", "7:cpu:/a\n4:memory:/docker/c\n");
        assert_eq!(free_under(root), Some(2_000_000));
        write(root, "sys/fs/cgroup/memory/memory.limit_in_bytes", "10000\n");
        write(root, "sys/fs/cgroup/memory/memory.usage_in_bytes", "20000\n");
        assert_eq!(free_under(root), Some(0));
    }
}
