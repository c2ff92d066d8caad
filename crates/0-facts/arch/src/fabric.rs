//! Links between GPUs, and bandwidths of collectives on them.
//!
//! Bandwidth of a collective is judged per size against what the links of the machine give; all figures are
//! data with their source, in `data/fabric/*.tsv`.

use crate::table::Rows;
use std::sync::OnceLock;

/// Buffers whose bytes are the size of a collective.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Size {
    /// The buffer of one rank.
    Rank,
    /// The buffers of all ranks together.
    All,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Factor {
    /// 1
    One,
    /// (n-1)/n
    Share,
    /// 2(n-1)/n
    Twice,
}

/// A kind of collective.
#[derive(Clone, PartialEq, Debug)]
pub struct Collective {
    /// Name: `all_reduce`.
    pub name: &'static str,
    aliases: Vec<&'static str>,
    /// Buffers whose bytes are its size.
    pub size: Size,
    factor: Factor,
}

impl Collective {
    /// Bus bandwidth divided by algorithm bandwidth, for the given number of ranks.
    pub fn factor(&self, ranks: u64) -> f64 {
        let n = ranks.max(1) as f64;
        match self.factor {
            Factor::One => 1.0,
            Factor::Share => (n - 1.0) / n,
            Factor::Twice => 2.0 * (n - 1.0) / n,
        }
    }

    /// The collective by a tool's name for it: `allreduce`, `all_reduce_perf`, `AllReduce`.
    pub fn by_name(name: &str) -> Option<&'static Collective> {
        all().iter().find(|it| {
            it.name.eq_ignore_ascii_case(name) || it.aliases.iter().any(|a| a.eq_ignore_ascii_case(name))
        })
    }
}

/// Every kind of collective.
pub fn all() -> &'static [Collective] {
    static ALL: OnceLock<Vec<Collective>> = OnceLock::new();
    ALL.get_or_init(|| {
        Rows::of(include_str!("../data/fabric/collectives.tsv"))
            .map(|row| Collective {
                name: row.text("name"),
                aliases: row.text("aliases").split(',').collect(),
                size: if row.text("size") == "all" { Size::All } else { Size::Rank },
                factor: match row.text("factor") {
                    "2(n-1)/n" => Factor::Twice,
                    "(n-1)/n" => Factor::Share,
                    _ => Factor::One,
                },
            })
            .collect()
    })
}

/// A board of GPUs that are linked to each other.
#[derive(Clone, PartialEq, Debug)]
pub struct Board {
    /// GPU: `MI300X`.
    pub gpu: &'static str,
    /// GPUs on it.
    pub gpus: u64,
    /// Links of a GPU to the others.
    pub links: u64,
    /// One link, one direction, as specified, GB/s.
    pub link_raw: f64,
    /// One link as reached, GB/s: from and to.
    pub link: Option<(f64, f64)>,
    /// Bus bandwidth of large collectives over all GPUs, GB/s: from and to.
    pub bus: Option<(f64, f64)>,
    /// Latency of small collectives, us.
    pub latency_us: Option<f64>,
    /// Where the figures are from.
    pub basis: &'static str,
}

impl Board {
    /// The board of a GPU, found by its name among other words: `AMD Instinct MI300X VF`.
    pub fn of(gpu: &str) -> Option<&'static Board> {
        let words = gpu.to_ascii_uppercase();
        boards().iter().find(|board| words.contains(board.gpu))
    }

    /// Bandwidth one GPU reaches with `peers` others over one link each, GB/s: inbound and outbound.
    pub fn to_peers(&self, peers: u64) -> Option<(f64, f64)> {
        let links = peers.min(self.links) as f64;
        self.link.map(|(low, high)| (links * low, links * high))
    }
}

/// Every board.
pub fn boards() -> &'static [Board] {
    static ALL: OnceLock<Vec<Board>> = OnceLock::new();
    ALL.get_or_init(|| {
        let range = |low: Option<f64>, high: Option<f64>| Some((low?, high?));
        Rows::of(include_str!("../data/fabric/boards.tsv"))
            .filter_map(|row| {
                Some(Board {
                    gpu: row.text("gpu"),
                    gpus: row.number("gpus")? as u64,
                    links: row.number("links")? as u64,
                    link_raw: row.number("link_raw")?,
                    link: range(row.number("link_low"), row.number("link_high")),
                    bus: range(row.number("bus_low"), row.number("bus_high")),
                    latency_us: row.number("latency_us"),
                    basis: row.text("basis"),
                })
            })
            .collect()
    })
}

/// Smallest size, bytes, from which bandwidth may be interpolated between recorded sizes.
const STEADY: f64 = 26.0;

/// Bus bandwidth of all_reduce on a good board for the given bytes per rank, GB/s: of a recorded size, or
/// from 64 MiB on interpolated between the nearest two on logarithmic axes. `None` elsewhere, and if none was
/// recorded.
pub fn all_reduce_at(gpu: &str, gpus: u64, bytes: u64) -> Option<f64> {
    let board = Board::of(gpu)?;
    let points: Vec<(f64, f64)> = Rows::of(include_str!("../data/fabric/sizes.tsv"))
        .filter(|row| row.text("gpu") == board.gpu && row.number("gpus") == Some(gpus as f64))
        .filter_map(|row| Some((row.number("bytes")?.log2(), row.number("bus")?.log2())))
        .collect();
    let at = (bytes.max(1) as f64).log2();
    let last = points.last()?;
    if at >= last.0 {
        return Some(last.1.exp2());
    }
    if let Some(exact) = points.iter().find(|point| point.0 == at) {
        return Some(exact.1.exp2());
    }
    let pair = points.windows(2).find(|pair| pair[0].0 >= STEADY && (pair[0].0..=pair[1].0).contains(&at))?;
    let share = (at - pair[0].0) / (pair[1].0 - pair[0].0);
    Some((pair[0].1 + share * (pair[1].1 - pair[0].1)).exp2())
}

/// Expected bus bandwidth on several nodes, GB/s.
pub fn wanted_of_nodes(collective: &str, ranks: u64, bytes: u64) -> Option<f64> {
    let row = Rows::of(include_str!("../data/fabric/nodes.tsv")).find(|row| {
        row.text("collective") == collective
            && row.number("ranks") == Some(ranks as f64)
            && row.number("bytes") == Some(bytes as f64)
    });
    row?.number("bus")
}

/// The name of a type of NPKit's events.
pub fn npkit_event(kind: u8) -> Option<&'static str> {
    static NAMES: OnceLock<Vec<Option<&'static str>>> = OnceLock::new();
    let names = NAMES.get_or_init(|| {
        let mut names = vec![None; 256];
        for row in Rows::of(include_str!("../data/fabric/npkit.tsv")) {
            if let Some(slot) = row.number("id").and_then(|id| names.get_mut(id as usize)) {
                *slot = Some(row.text("name"));
            }
        }
        names
    });
    names[usize::from(kind)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_of_npkit() {
        assert_eq!(npkit_event(1), Some("NPKIT_EVENT_ALL_REDUCE_RING_ENTRY"));
        assert_eq!(npkit_event(51), Some("NPKIT_EVENT_TIME_SYNC_GPU"));
        assert_eq!(npkit_event(255), None);
    }

    #[test]
    fn factors() {
        for (name, ranks, factor) in [
            ("all_reduce_perf", 8, 1.75),
            ("allreduce", 16, 1.875),
            ("AllGather", 8, 0.875),
            ("alltoall", 8, 0.875),
            ("broadcast", 8, 1.0),
            ("sendrecv", 8, 1.0),
            ("all_reduce", 1, 0.0),
        ] {
            assert_eq!(Collective::by_name(name).unwrap().factor(ranks), factor, "{name}");
        }
        assert_eq!(Collective::by_name("nonsense"), None);
    }

    #[test]
    fn every_row_is_a_board() {
        assert_eq!(boards().len(), 4);
        let mi300x = Board::of("AMD Instinct MI300X VF").unwrap();
        assert_eq!(mi300x.to_peers(7), Some((315.0, 336.0)));
        assert_eq!(mi300x.to_peers(3), Some((135.0, 144.0)));
        assert_eq!(Board::of("MI210"), None);
    }

    #[test]
    fn rates_between_recorded_sizes() {
        assert_eq!(all_reduce_at("MI300X", 8, 1 << 19), None);
        assert_eq!(all_reduce_at("MI300X", 8, 1 << 22), None);
        assert!((all_reduce_at("MI300X", 8, 1 << 20).unwrap() - 66.9).abs() < 1e-6);
        assert!((all_reduce_at("MI300X", 8, 1 << 40).unwrap() - 319.0).abs() < 1e-6);
        let between = all_reduce_at("MI300X", 8, 1 << 28).unwrap();
        assert!((273.7..310.5).contains(&between), "{between}");
        assert_eq!(wanted_of_nodes("all_reduce", 16, 17_179_869_184), Some(350.0));
        assert_eq!(wanted_of_nodes("all_reduce", 16, 1024), None);
    }
}
