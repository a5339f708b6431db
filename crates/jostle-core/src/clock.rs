//! The clock by which stages and tasks are timed. WebAssembly without a system (`wasm32-unknown-unknown`) has none, and
//! the clock of the standard library panics there.

#[cfg(not(all(target_family = "wasm", target_os = "unknown")))]
pub use std::time::Instant;

#[cfg(all(target_family = "wasm", target_os = "unknown"))]
pub use stopped::Instant;

/// Whether the clock runs. If not, everything takes no time.
pub(crate) const RUNS: bool = cfg!(not(all(target_family = "wasm", target_os = "unknown")));

#[cfg(all(target_family = "wasm", target_os = "unknown"))]
mod stopped {
    use core::ops::Sub;
    use core::time::Duration;

    /// A moment of a clock that stands still, with what is asked of those of the standard library.
    #[derive(Debug, Clone, Copy)]
    pub struct Instant(());

    impl Instant {
        /// Now, as ever.
        #[must_use]
        pub fn now() -> Self {
            Self(())
        }

        /// No time.
        #[must_use]
        pub fn elapsed(&self) -> Duration {
            Duration::ZERO
        }
    }

    impl Sub for Instant {
        type Output = Duration;

        fn sub(self, _: Self) -> Duration {
            Duration::ZERO
        }
    }
}
