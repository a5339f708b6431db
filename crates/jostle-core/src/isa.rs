//! The instruction set that the kernels use, chosen once, at run time. A room of `unsafe`: calls into code compiled for
//! more instructions.
#![allow(unsafe_code, reason = "calls into functions with more instructions enabled")]

use core::fmt;
use core::str::FromStr;

/// The environment variable that forces an instruction set: `portable`, `avx2` or `avx512`.
pub const ISA_VARIABLE: &str = "JOSTLE_ISA";

/// An instruction set that the machine at hand is known to have.
///
/// All give the same bytes. A value other than [`Isa::PORTABLE`] is made by detection alone, so holding one proves
/// that its instructions may be run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Isa(IsaName);

/// The names of the instruction sets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum IsaName {
    /// The instructions that the target always has: SSE2, NEON, WebAssembly SIMD or plain code.
    Portable,
    /// AVX2, with BMI 1 and 2, LZCNT and POPCNT (x86-64).
    Avx2,
    /// AVX-512 F, BW, DQ, VL and VBMI2, beside what `Avx2` needs (x86-64).
    Avx512,
}

/// The error for an instruction set that is unknown, or that this machine lacks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnavailableIsa(String);

impl fmt::Display for UnavailableIsa {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "instruction set {:?} is unknown or not available on this machine", self.0)
    }
}

impl core::error::Error for UnavailableIsa {}

impl Isa {
    /// The instructions that the target always has.
    pub const PORTABLE: Self = Self(IsaName::Portable);

    /// Returns the best instruction set of this machine, unless the environment variable [`ISA_VARIABLE`] names an
    /// available one.
    #[must_use]
    pub fn detect() -> Self {
        let forced = std::env::var(ISA_VARIABLE).ok().and_then(|name| name.parse().ok());
        forced.unwrap_or_else(|| Self::available().last().unwrap_or(Self::PORTABLE))
    }

    /// Every instruction set of this machine, from the plainest to the widest.
    pub fn available() -> impl Iterator<Item = Self> {
        [IsaName::Portable, IsaName::Avx2, IsaName::Avx512].into_iter().filter_map(Self::named)
    }

    /// The instruction set `name`, if this machine has it.
    #[must_use]
    pub fn named(name: IsaName) -> Option<Self> {
        let present = match name {
            IsaName::Portable => true,
            #[cfg(target_arch = "x86_64")]
            IsaName::Avx2 => {
                is_x86_feature_detected!("avx2")
                    && is_x86_feature_detected!("bmi1")
                    && is_x86_feature_detected!("bmi2")
                    && is_x86_feature_detected!("lzcnt")
                    && is_x86_feature_detected!("popcnt")
            }
            #[cfg(target_arch = "x86_64")]
            IsaName::Avx512 => {
                Self::named(IsaName::Avx2).is_some()
                    && is_x86_feature_detected!("avx512f")
                    && is_x86_feature_detected!("avx512bw")
                    && is_x86_feature_detected!("avx512dq")
                    && is_x86_feature_detected!("avx512vl")
                    && is_x86_feature_detected!("avx512vbmi2")
            }
            #[cfg(not(target_arch = "x86_64"))]
            IsaName::Avx2 | IsaName::Avx512 => false,
        };
        present.then_some(Self(name))
    }

    /// Runs a piece of work compiled for this instruction set. Worth it for thousands of cycles, not for tens.
    #[inline]
    pub fn run<W: Work>(self, work: W) -> W::Output {
        match self.0 {
            #[cfg(target_arch = "x86_64")]
            // SAFETY: detection made this value, so the machine has these instructions.
            IsaName::Avx512 if W::GAINS_BY_AVX512 => unsafe { avx512(work) },
            #[cfg(target_arch = "x86_64")]
            // SAFETY: detection made this value, so the machine has these instructions, and AVX2 where it has AVX-512.
            IsaName::Avx512 | IsaName::Avx2 => unsafe { avx2(work) },
            _ => portable(work),
        }
    }

    /// The name of the instruction set.
    #[must_use]
    pub fn name(self) -> IsaName {
        self.0
    }
}

/// A piece of work that [`Isa::run`] compiles once for each instruction set.
pub trait Work {
    /// The result of the work.
    type Output;

    /// Whether the work is faster with AVX-512. If not, machines with both do it with AVX2, and there is less to
    /// compile: masks often cost what registers twice as wide save.
    const GAINS_BY_AVX512: bool = true;

    /// Does the work. Mark it `#[inline(always)]`, and the functions that it calls in its loops too: a function of its
    /// own would be compiled for the instructions that the target always has.
    fn run(self) -> Self::Output;
}

/// Runs the work. A function of its own, so that each piece of work is compiled once, wherever it is run from.
#[inline(never)]
fn portable<W: Work>(work: W) -> W::Output {
    work.run()
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
fn avx2<W: Work>(work: W) -> W::Output {
    work.run()
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt,avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi2")]
fn avx512<W: Work>(work: W) -> W::Output {
    work.run()
}

impl fmt::Display for Isa {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.0 {
            IsaName::Portable => "portable",
            IsaName::Avx2 => "avx2",
            IsaName::Avx512 => "avx512",
        })
    }
}

impl FromStr for Isa {
    type Err = UnavailableIsa;

    fn from_str(name: &str) -> Result<Self, UnavailableIsa> {
        Self::available().find(|isa| isa.to_string() == name).ok_or_else(|| UnavailableIsa(name.to_owned()))
    }
}
