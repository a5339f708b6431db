//! Numbers worth trying. With most of them, distances and sums of radii meet exactly or almost.

use arbitrary::{Arbitrary, Result, Unstructured};
use jostle_testkit::oracle::LIMIT;

/// Numbers at which something changes.
const STARTS: [f32; 8] = [0.0, 1.0, 0.1, 1e7, 1e-30, 1e18, LIMIT, LIMIT / 2.0];

/// Numbers that chance seldom meets.
const SPECIAL: [f32; 12] = [
    -0.0,
    f32::MIN_POSITIVE,
    f32::from_bits(1),
    -f32::from_bits(0x007f_ffff),
    f32::MAX,
    f32::MIN,
    LIMIT,
    -LIMIT,
    LIMIT / 2.0,
    f32::NAN,
    f32::INFINITY,
    f32::NEG_INFINITY,
];

/// A number in `f32`.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Number {
    Lattice(i8),
    Tenths(i8),
    Unit(u16),
    Power { exponent: i8, negative: bool },
    UlpsFrom { start: u8, steps: i8 },
    Special(u8),
    Bits(u32),
}

impl<'a> Arbitrary<'a> for Number {
    fn arbitrary(bytes: &mut Unstructured<'a>) -> Result<Self> {
        Ok(match bytes.arbitrary::<u8>()? % 7 {
            0 => Self::Lattice(bytes.arbitrary()?),
            1 => Self::Tenths(bytes.arbitrary()?),
            2 => Self::Unit(bytes.arbitrary()?),
            3 => Self::Power { exponent: bytes.arbitrary()?, negative: bytes.arbitrary()? },
            4 => Self::UlpsFrom { start: bytes.arbitrary()?, steps: bytes.arbitrary()? },
            5 => Self::Special(bytes.arbitrary()?),
            _ => Self::Bits(bytes.arbitrary()?),
        })
    }
}

impl Number {
    pub(crate) fn value(self) -> f32 {
        match self {
            Self::Lattice(i) => f32::from(i) * 0.5,
            Self::Tenths(i) => f32::from(i) * 0.1,
            Self::Unit(fraction) => f32::from(fraction) / 65_536.0,
            Self::Power { exponent, negative } => 2.0_f32.powi(exponent.into()) * if negative { -1.0 } else { 1.0 },
            Self::UlpsFrom { start, steps } => {
                let start = STARTS[usize::from(start) % STARTS.len()];
                f32::from_bits(start.to_bits().saturating_add_signed(steps.into()))
            }
            Self::Special(which) => SPECIAL[usize::from(which) % SPECIAL.len()],
            Self::Bits(bits) => f32::from_bits(bits),
        }
    }

    /// Returns the number, or a sound one in its place: finite, and within the limits of a coordinate.
    pub(crate) fn sound(self) -> f32 {
        let value = self.value();
        if value.is_nan() { 0.0 } else { value.clamp(-LIMIT / 4.0, LIMIT / 4.0) }
    }
}

/// A number in `f64`.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Number64 {
    Narrow(Number),
    Scaled { number: Number, exponent: i16 },
    UlpsFrom { start: Number, steps: i8 },
    Bits(u64),
}

impl<'a> Arbitrary<'a> for Number64 {
    fn arbitrary(bytes: &mut Unstructured<'a>) -> Result<Self> {
        Ok(match bytes.arbitrary::<u8>()? % 4 {
            0 => Self::Narrow(bytes.arbitrary()?),
            1 => Self::Scaled { number: bytes.arbitrary()?, exponent: bytes.arbitrary()? },
            2 => Self::UlpsFrom { start: bytes.arbitrary()?, steps: bytes.arbitrary()? },
            _ => Self::Bits(bytes.arbitrary()?),
        })
    }
}

impl Number64 {
    pub(crate) fn value(self) -> f64 {
        match self {
            Self::Narrow(number) => number.value().into(),
            Self::Scaled { number, exponent } => f64::from(number.value()) * 2.0_f64.powi((exponent % 600).into()),
            Self::UlpsFrom { start, steps } => {
                f64::from_bits(f64::from(start.value()).to_bits().saturating_add_signed(steps.into()))
            }
            Self::Bits(bits) => f64::from_bits(bits),
        }
    }
}
