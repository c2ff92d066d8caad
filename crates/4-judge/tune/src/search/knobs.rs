//! Settings of the model that no user needs: the same for all spaces.

/// How the model works. The defaults were chosen over several spaces at once; `cargo xtask tune` measures them.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Knobs {
    /// Configurations before the first model.
    pub first: usize,
    /// Configurations drawn for each of them, of which the least similar to the others is taken.
    pub spread: usize,
    /// Outcomes are cut off so far above their mean, in standard deviations.
    pub cut: f64,
    /// Fewest and most candidates that the model follows.
    pub candidates: (usize, usize),
    /// Candidates times outcomes between these limits: the work of one proposal.
    pub work: usize,
    /// Fewest and most configurations drawn to find candidates among, two for each candidate.
    pub sample: (usize, usize),
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
    /// Results without improvement after which every second proposal is bold.
    pub patience: usize,
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
            spread: 16,
            cut: 0.7,
            candidates: (384, 4096),
            work: 64 << 10,
            sample: (1024, 4096),
            outcomes: 192,
            learned: 96,
            tries: 10,
            growth: 0.25,
            log_length: 0.5,
            log_length_spread: 0.7,
            log_noise: -7.0,
            log_noise_spread: 2.0,
            patience: 10,
            boldness: 4.0,
            prior_weight: 0.5,
            prior_weight_spread: 0.4,
        }
    }
}
