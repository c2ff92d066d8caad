//! Any text as the body of a function: reading ends, what is read is consistent, and the analyses take it.
#![no_main]

use isa::text::{parse_body, parse_line};
use isa::{Cfg, DefUse, Isa, Liveness, Mix};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let Some((choice, text)) = data.split_first() else { return };
    let isa = Isa::ALL[usize::from(*choice) % Isa::ALL.len()];
    let text = String::from_utf8_lossy(text);
    let _ = parse_line(isa, &text);
    let body = parse_body(isa, text.lines());
    assert_eq!(body.insts.len(), body.line_of.len());
    assert_eq!(body.insts.iter().map(|inst| u32::from(inst.size)).sum::<u32>(), body.size);
    assert!(body.insts.windows(2).all(|pair| pair[0].end() == pair[1].offset));
    let lines = text.lines().count() as u32;
    assert!(
        body.line_of.iter().all(|line| *line < lines) && body.errors.iter().all(|error| error.line < lines)
    );
    let mut printed = String::new();
    for inst in &body.insts {
        inst.write_text(isa, &mut printed);
    }
    // Large fills make many instructions of few bytes; the analyses are linear but the fuzzer is impatient.
    if body.insts.len() < 10_000 {
        let cfg = Cfg::build(&body.insts);
        let live = Liveness::build(&body.insts, &cfg);
        assert_eq!(live.before.len(), body.insts.len());
        assert_eq!(Mix::of(&body.insts).total() as usize, body.insts.len());
        let uses = DefUse::build(&body.insts);
        if let (Some(peak), Some(inst)) = (live.peak(), body.insts.last()) {
            let _ = live.set_before(&body.insts, &cfg, peak);
            if let Some(range) = inst.destination() {
                let _ = uses.reaching(&cfg, peak, range, cfg.loop_of(peak));
            }
        }
    }
});
