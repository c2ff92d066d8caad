//! Floating-point numbers of 8, 6 and 4 bits.
//!
//! The one idea to keep in mind: a format is described by a few numbers: bits of exponent and mantissa, bias,
//! meaning of the special codes. One pair of functions converts all formats.

/// Meaning of the highest codes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Special {
    /// The code of negative zero is the only NaN; no infinity.
    NegativeZeroIsNan,
    /// All ones is NaN; no infinity.
    OnesAreNan,
    /// As IEEE: the highest exponent is infinity or NaN.
    Ieee,
    /// Every code is a number.
    None,
}

/// A format.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Format {
    exponent: u32,
    mantissa: u32,
    bias: i32,
    special: Special,
}

const fn format(exponent: u32, mantissa: u32, bias: i32, special: Special) -> Format {
    Format { exponent, mantissa, bias, special }
}

/// OCP E4M3.
pub(crate) const FP8: Format = format(4, 3, 7, Special::OnesAreNan);
/// OCP E5M2.
pub(crate) const BF8: Format = format(5, 2, 15, Special::Ieee);
/// E4M3 without negative zero.
pub(crate) const FP8_FNUZ: Format = format(4, 3, 8, Special::NegativeZeroIsNan);
/// E5M2 without negative zero.
pub(crate) const BF8_FNUZ: Format = format(5, 2, 16, Special::NegativeZeroIsNan);
/// E2M3.
pub(crate) const FP6: Format = format(2, 3, 1, Special::None);
/// E3M2.
pub(crate) const BF6: Format = format(3, 2, 3, Special::None);
/// E2M1.
pub(crate) const FP4: Format = format(2, 1, 1, Special::None);

impl Format {
    /// Bits of a code.
    pub(crate) const fn bits(self) -> u32 {
        1 + self.exponent + self.mantissa
    }

    /// The value of a code, exact.
    pub(crate) fn decode(self, code: u32) -> f32 {
        let code = code & ((1 << self.bits()) - 1);
        let sign = if code >> (self.bits() - 1) != 0 { -1.0f32 } else { 1.0 };
        let exponent = code >> self.mantissa & ((1 << self.exponent) - 1);
        let fraction = code & ((1 << self.mantissa) - 1);
        let all = (1 << self.exponent) - 1;
        match self.special {
            Special::NegativeZeroIsNan if code == 1 << (self.bits() - 1) => return f32::NAN,
            Special::OnesAreNan if exponent == all && fraction == (1 << self.mantissa) - 1 => {
                return f32::NAN;
            }
            Special::Ieee if exponent == all => {
                return if fraction == 0 { sign * f32::INFINITY } else { f32::NAN };
            }
            _ => {}
        }
        let (whole, power) = if exponent == 0 {
            (fraction, 1 - self.bias)
        } else {
            (fraction | 1 << self.mantissa, exponent as i32 - self.bias)
        };
        sign * whole as f32 * power_of_two(power - self.mantissa as i32)
    }

    /// Largest finite code, without sign.
    fn largest(self) -> u32 {
        let codes = (1u32 << (self.bits() - 1)) - 1;
        match self.special {
            Special::OnesAreNan => codes - 1,
            Special::Ieee => codes - (1 << self.mantissa),
            Special::NegativeZeroIsNan | Special::None => codes,
        }
    }

    /// Code nearest to a value, ties to even. With `noise` (32 random bits), the value is truncated after adding
    /// the noise below the last place, instead of rounded. A value that is too large becomes the largest finite
    /// one if `saturate` or if the format has no special codes, else NaN or infinity.
    pub(crate) fn encode(self, value: f32, noise: Option<u32>, saturate: bool) -> u32 {
        self.encode_exact(f64::from(value), noise, F32_MANTISSA, saturate)
    }

    /// [`Format::encode`] for a value of a wider type with `source_mantissa` mantissa bits, times a power of two.
    /// With noise, digits below the wider type's last place are truncated first, which matters for denormal
    /// results.
    pub(crate) fn encode_exact(
        self,
        value: f64,
        noise: Option<u32>,
        source_mantissa: u32,
        saturate: bool,
    ) -> u32 {
        let sign_bit = u32::from(value.is_sign_negative()) << (self.bits() - 1);
        let nan = match self.special {
            Special::NegativeZeroIsNan => 1 << (self.bits() - 1),
            Special::OnesAreNan | Special::Ieee => (1 << (self.bits() - 1)) - 1 | sign_bit,
            Special::None => self.largest() | sign_bit,
        };
        if value.is_nan() {
            return nan;
        }
        let overflow = if saturate || self.special == Special::None {
            self.largest() | sign_bit
        } else if self.special == Special::Ieee {
            self.largest() + 1 | sign_bit
        } else {
            nan
        };
        if value.is_infinite() {
            return overflow;
        }
        let magnitude = value.abs();
        // Exponent of the value, at least the exponent of denormals; it determines the last place.
        let exponent = ((magnitude.to_bits() >> 52) as i32 - 1023).max(1 - self.bias);
        let scaled = magnitude * wide_power_of_two(self.mantissa as i32 - exponent);
        let units = match noise {
            None => scaled.round_ties_even(),
            Some(noise) => {
                let places = f64::from(1u32 << (source_mantissa - self.mantissa));
                ((scaled * places).floor() / places + f64::from(noise) / 4_294_967_296.0).floor()
            }
        } as u32;
        let code = if units < 1 << self.mantissa {
            units
        } else {
            // A carry out of the mantissa increments the exponent.
            let code =
                (i64::from(exponent + self.bias) << self.mantissa) + i64::from(units - (1 << self.mantissa));
            code.min(i64::from(u32::MAX >> 1)) as u32
        };
        if code > self.largest() {
            return overflow;
        }
        match (self.special, code) {
            (Special::NegativeZeroIsNan, 0) => 0,
            _ => code | sign_bit,
        }
    }
}

/// Mantissa bits of f32.
pub(crate) const F32_MANTISSA: u32 = 23;

/// 2^`power` as f64, for normal results.
pub(crate) fn wide_power_of_two(power: i32) -> f64 {
    f64::from_bits(((power.clamp(-1022, 1023) + 1023) as u64) << 52)
}

/// 2^`power` as f32, also for denormal results.
fn power_of_two(power: i32) -> f32 {
    if power >= -126 {
        f32::from_bits(((power + 127) as u32) << 23)
    } else {
        f32::from_bits(1 << (power + 149).max(0))
    }
}

/// Value of an E8M0 scale: a power of two; 255 is NaN.
pub(crate) fn scale(code: u32) -> f32 {
    if code & 0xff == 0xff { f32::NAN } else { power_of_two((code & 0xff) as i32 - 127) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_those_of_the_standards() {
        for (format, code, value) in [
            (FP8, 0x7e, 448.0),
            (FP8, 0x08, 0.015625),
            (FP8, 0x01, 0.001953125),
            (FP8, 0xb8, -1.0),
            (BF8, 0x7b, 57344.0),
            (BF8, 0x3c, 1.0),
            (FP8_FNUZ, 0x7f, 240.0),
            (FP8_FNUZ, 0x40, 1.0),
            (BF8_FNUZ, 0x7f, 57344.0),
            (FP6, 0x1f, 7.5),
            (BF6, 0x1f, 28.0),
            (FP4, 0x7, 6.0),
            (FP4, 0x1, 0.5),
        ] {
            assert_eq!(format.decode(code), value, "{format:?} {code:#x}");
        }
        assert!(FP8.decode(0x7f).is_nan() && BF8.decode(0x7d).is_nan() && FP8_FNUZ.decode(0x80).is_nan());
        assert_eq!(BF8.decode(0xfc), f32::NEG_INFINITY);
        assert_eq!((scale(127), scale(130), scale(0)), (1.0, 8.0, 5.877_472e-39));
    }

    #[test]
    fn every_code_survives_the_round_trip() {
        for format in [FP8, BF8, FP8_FNUZ, BF8_FNUZ, FP6, BF6, FP4] {
            for code in 0..1 << format.bits() {
                let value = format.decode(code);
                if !value.is_nan() {
                    assert_eq!(format.encode(value, None, false), code, "{format:?} {value}");
                }
            }
        }
    }

    #[test]
    fn rounding_and_overflow() {
        assert_eq!(FP8.encode(1.0625, None, false), 0x38);
        assert_eq!(FP8.encode(1.1875, None, false), 0x3a);
        assert_eq!(FP8.encode(464.0, None, false), 0x7e);
        assert_eq!(FP8.encode(500.0, None, false), 0x7f);
        assert_eq!(FP8.encode(500.0, None, true), 0x7e);
        assert_eq!(BF8.encode(1e9, None, false), 0x7c);
        assert_eq!(FP4.encode(-100.0, None, false), 0xf);
        // Exact values of any exponent: 1.5 * 2^-9 is a tie between denormals 1 and 2 units of 2^-9.
        assert_eq!(FP8.encode_exact(1.5 / 512.0, None, 23, false), 2);
        assert_eq!(BF6.encode_exact(2f64.powi(200), None, 23, false), 0x1f);
        assert_eq!(FP4.encode_exact(2f64.powi(-250), None, 23, false), 0);
        // Noise of almost one unit rounds up every inexact value.
        assert_eq!(FP8.encode(1.001, Some(u32::MAX), false), 0x39);
        assert_eq!(FP8.encode(1.0, Some(u32::MAX), false), 0x38);
    }
}
