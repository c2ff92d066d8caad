//! Settings of the model that no user needs: the same for all spaces.

/// How the model works. The defaults were chosen over several spaces at once; `cargo xtask tune` measures them.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Knobs {
    /// Configurations before the first model.
    pub first: usize,
    /// Outcomes are cut off so far above their mean, in standard deviations.
    pub cut: f64,
    /// Most candidates that the model follows.
    pub candidates: usize,
    /// Configurations drawn to find candidates among.
    pub sample: u64,
    /// Most outcomes that the model is fitted to.
    pub outcomes: usize,
    /// Most outcomes by which lengths are learned.
    pub learned: usize,
    /// Changes of lengths tried at each fit.
    pub tries: usize,
    /// The next fit is made when results have grown by this share.
    pub growth: f64,
    /// Natural logarithm of the length that is expected of an axis, over its extent.
    pub log_length: f64,
    /// Standard deviation of that expectation.
    pub log_length_spread: f64,
    /// Natural logarithm of the share of variance that no parameter explains.
    pub log_noise: f64,
    /// Standard deviation of that expectation.
    pub log_noise_spread: f64,
    /// Share of the variance that is a sum over parameters; the rest is a product.
    pub additive: f64,
    /// Every so many proposals is made with `boldness` times the uncertainty; 0: none.
    pub bold_every: usize,
    /// Factor on the uncertainty of bold proposals.
    pub boldness: f64,
    /// Weight of the prior before any outcome, as a correlation.
    pub prior_weight: f64,
    /// Standard deviation of that weight.
    pub prior_weight_spread: f64,
}

impl Default for Knobs {
    fn default() -> Knobs {
        Knobs {
            first: 8,
            cut: 1.0,
            candidates: 512,
            sample: 2048,
            outcomes: 256,
            learned: 96,
            tries: 16,
            growth: 0.25,
            log_length: 0.0,
            log_length_spread: 1.0,
            log_noise: -6.0,
            log_noise_spread: 2.0,
            additive: 0.0,
            bold_every: 0,
            boldness: 2.0,
            prior_weight: 0.5,
            prior_weight_spread: 0.4,
        }
    }
}
