//! The hand-over of work between threads, under [loom](https://docs.rs/loom). Loom runs a few threads in every order of
//! events that the memory model allows.
//!
//! The models run the files of `jostle-core` themselves; only `parallel/sync.rs` is another file here. A model leaves
//! out patience, which ends whenever loom likes, and rayon, whose `join` is a thread that is joined.
//!
//! `cargo test -p jostle-models`: three seconds on two cores, and half a minute to build.
pub mod models;

#[allow(dead_code, unreachable_pub, reason = "a file made for another crate, of which the models use a part")]
#[path = "../../jostle-core/src/prefetch.rs"]
mod prefetch;

#[allow(dead_code, unreachable_pub, reason = "files made for another crate, of which the models use a part")]
mod parallel {
    #[path = "../../../jostle-core/src/parallel/bell.rs"]
    pub(crate) mod bell;
    #[path = "../../../jostle-core/src/parallel/disjoint.rs"]
    pub(crate) mod disjoint;
    #[path = "../../../jostle-core/src/parallel/groups.rs"]
    pub(crate) mod groups;
    #[path = "../../../jostle-core/src/parallel/handover.rs"]
    pub(crate) mod handover;
    #[path = "../../../jostle-core/src/parallel/lookback.rs"]
    pub(crate) mod lookback;
    pub(crate) mod sync;
    #[path = "../../../jostle-core/src/parallel/task.rs"]
    pub(crate) mod task;
    #[path = "../../../jostle-core/src/parallel/tasks.rs"]
    pub(crate) mod tasks;

    pub(crate) mod scratch {
        pub(crate) fn with_headroom(len: usize) -> usize {
            len
        }
    }
}
