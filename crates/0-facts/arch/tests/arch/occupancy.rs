//! Occupancy by hand-checked examples.

use rockhound_arch::{Limiter, Resources, Target, boundaries, occupancy};

fn resources(vgprs: u32, agprs: u32, sgprs: u32, lds_bytes: u32, waves_per_workgroup: u32) -> Resources {
    Resources { vgprs, agprs, sgprs, lds_bytes, waves_per_workgroup }
}

#[test]
fn waves_and_limiter() {
    use Limiter::{Agpr, BarrierSlots, Lds, Sgpr, Vgpr, WaveSlots};
    // Target, (VGPRs, AGPRs, SGPRs, LDS, waves per workgroup), waves per compute unit, limiter.
    for (target, (vgprs, agprs, sgprs, lds, waves), expected, limiter) in [
        ("gfx942", (32, 0, 16, 0, 4), 32, WaveSlots),
        ("gfx942", (64, 0, 16, 0, 4), 32, WaveSlots),
        ("gfx942", (65, 0, 16, 0, 4), 28, Vgpr),
        ("gfx942", (170, 0, 16, 0, 4), 8, Vgpr),
        ("gfx942", (168, 0, 16, 0, 4), 12, Vgpr),
        // AGPRs begin at a multiple of 4: 100 + 38 -> 138 -> 144; 101 + 38 -> 104 + 38 = 142 -> 144.
        ("gfx90a", (100, 38, 16, 0, 1), 12, Vgpr),
        ("gfx90a", (101, 24, 16, 0, 1), 16, Vgpr),
        ("gfx90a", (101, 25, 16, 0, 1), 12, Vgpr),
        // Two files of 256.
        ("gfx908", (24, 0, 16, 0, 1), 40, WaveSlots),
        ("gfx908", (28, 0, 16, 0, 1), 36, Vgpr),
        ("gfx908", (28, 128, 16, 0, 1), 8, Agpr),
        ("gfx908", (128, 28, 16, 0, 1), 8, Vgpr),
        // 800 scalar registers, 16 at a time.
        ("gfx942", (32, 0, 96, 0, 4), 32, WaveSlots),
        ("gfx942", (32, 0, 97, 0, 4), 28, Sgpr),
        ("gfx908", (16, 0, 81, 0, 1), 32, Sgpr),
        // 102 with VCC, flat-scratch base and XNACK mask are 108, which some state rounded up to 112.
        ("gfx908", (16, 0, 108, 0, 1), 28, Sgpr),
        ("gfx908", (16, 0, 112, 0, 1), 28, Sgpr),
        ("gfx90a", (32, 0, 109, 0, 4), 28, Sgpr),
        ("gfx940", (32, 0, 112, 0, 4), 28, Sgpr),
        ("gfx941", (32, 0, 112, 0, 4), 28, Sgpr),
        ("gfx942", (32, 0, 112, 0, 4), 28, Sgpr),
        ("gfx950", (32, 0, 112, 0, 4), 28, Sgpr),
        ("gfx942", (256, 256, 112, 65536, 4), 4, Vgpr),
        ("gfx908", (16, 0, 113, 0, 1), 0, Sgpr),
        ("gfx942", (32, 0, 113, 0, 4), 0, Sgpr),
        // LDS, in steps of 512 and 1280 bytes.
        ("gfx942", (32, 0, 16, 65536, 4), 4, Lds),
        ("gfx942", (32, 0, 16, 16384, 4), 16, Lds),
        ("gfx942", (32, 0, 16, 16385, 4), 12, Lds),
        ("gfx942", (32, 0, 16, 65537, 4), 0, Lds),
        ("gfx950", (32, 0, 16, 65536, 4), 8, Lds),
        ("gfx950", (32, 0, 16, 20480, 4), 32, WaveSlots),
        ("gfx950", (32, 0, 16, 20481, 4), 28, Lds),
        ("gfx950", (32, 0, 16, 26880, 4), 24, Lds),
        ("gfx950", (32, 0, 16, 27000, 4), 20, Lds),
        // One wave needs no barrier; two do, and 16 workgroups fill the slots.
        ("gfx942", (32, 0, 16, 0, 1), 32, WaveSlots),
        ("gfx942", (32, 0, 16, 0, 2), 32, WaveSlots),
        ("gfx908", (16, 0, 16, 0, 2), 32, BarrierSlots),
        // Whole workgroups only.
        ("gfx942", (32, 0, 16, 0, 5), 30, WaveSlots),
        ("gfx942", (170, 0, 16, 0, 5), 5, Vgpr),
        ("gfx942", (170, 0, 16, 0, 16), 0, Vgpr),
        ("gfx942", (32, 0, 16, 0, 17), 0, WaveSlots),
        ("gfx942", (513, 0, 16, 0, 1), 0, Vgpr),
        ("gfx942", (u32::MAX, u32::MAX, u32::MAX, u32::MAX, u32::MAX), 0, WaveSlots),
    ] {
        let asked = resources(vgprs, agprs, sgprs, lds, waves);
        let found = occupancy(Target::by_name(target).unwrap(), &asked);
        assert_eq!((found.waves_per_cu, found.limiter), (expected, limiter), "{target} {asked:?}");
        assert_eq!(found.waves_per_simd, f64::from(expected) / 4.0);
    }
}

#[test]
fn next_boundary() {
    // Target, resources, then per resource: shed, waves per SIMD then.
    for (target, (vgprs, agprs, sgprs, lds, waves), expected) in [
        ("gfx942", (170, 0, 16, 0, 4), vec![(Limiter::Vgpr, 2, 3.0)]),
        ("gfx942", (172, 0, 16, 0, 4), vec![(Limiter::Vgpr, 4, 3.0)]),
        ("gfx942", (100, 72, 16, 0, 4), vec![(Limiter::Vgpr, 4, 3.0)]),
        // Three waves per SIMD are 12 places: no second workgroup of 8 waves fits; four are 16.
        ("gfx942", (170, 0, 16, 0, 8), vec![(Limiter::Vgpr, 42, 4.0)]),
        ("gfx942", (32, 0, 16, 40000, 4), vec![(Limiter::Lds, 7232, 2.0)]),
        // Both stop it: shedding one alone gains nothing.
        ("gfx942", (256, 0, 16, 32768, 4), vec![(Limiter::Vgpr, 88, 2.0), (Limiter::Lds, 11264, 2.0)]),
        ("gfx942", (64, 0, 16, 8192, 4), vec![]),
    ] {
        let asked = resources(vgprs, agprs, sgprs, lds, waves);
        let found = occupancy(Target::by_name(target).unwrap(), &asked);
        let steps: Vec<_> =
            found.next.iter().map(|step| (step.resource, step.shed, step.waves_per_simd)).collect();
        assert_eq!(steps, expected, "{target} {asked:?}");
    }
}

#[test]
fn table_of_boundaries() {
    let rows = |target, waves, resource| -> Vec<(f64, u32)> {
        boundaries(Target::by_name(target).unwrap(), &resources(0, 0, 0, 0, waves), resource)
            .into_iter()
            .map(|row| (row.waves_per_simd, row.at_most))
            .collect()
    };
    assert_eq!(
        rows("gfx942", 4, Limiter::Vgpr),
        [(8.0, 64), (7.0, 72), (6.0, 80), (5.0, 96), (4.0, 128), (3.0, 168), (2.0, 256), (1.0, 512)]
    );
    assert_eq!(rows("gfx942", 16, Limiter::Vgpr), [(8.0, 64), (4.0, 128)]);
    assert_eq!(
        rows("gfx908", 4, Limiter::Vgpr),
        [
            (10.0, 24),
            (9.0, 28),
            (8.0, 32),
            (7.0, 36),
            (6.0, 40),
            (5.0, 48),
            (4.0, 64),
            (3.0, 84),
            (2.0, 128),
            (1.0, 256)
        ]
    );
    assert_eq!(rows("gfx942", 4, Limiter::Sgpr), [(8.0, 96), (7.0, 108)]);
    assert_eq!(rows("gfx950", 16, Limiter::Lds), [(8.0, 81920), (4.0, 163840)]);
}

/// Whatever is asked for: more of anything never gains waves, and every step keeps its promise.
#[test]
fn steps_keep_their_promise() {
    let mut checked = 0;
    for name in Target::names() {
        let target = Target::by_name(name).unwrap();
        for vgprs in (1..=512).step_by(7) {
            for agprs in [0, 1, 30, 128] {
                for (lds, waves) in [(0, 1), (1000, 2), (5000, 3), (20000, 4), (33000, 8), (65536, 16)] {
                    let asked = resources(vgprs, agprs, 40, lds, waves);
                    let now = occupancy(target, &asked);
                    for step in &now.next {
                        let mut less = asked;
                        match step.resource {
                            Limiter::Vgpr if vgprs > step.shed => less.vgprs -= step.shed,
                            Limiter::Lds => less.lds_bytes -= step.shed,
                            Limiter::Agpr if agprs >= step.shed => less.agprs -= step.shed,
                            _ => continue,
                        }
                        let then = occupancy(target, &less);
                        // Where both kinds share a file, VGPRs are rounded up before the AGPRs begin.
                        if agprs == 0 || step.resource != Limiter::Vgpr {
                            assert_eq!(then.waves_per_simd, step.waves_per_simd, "{name} {asked:?} {step:?}");
                            checked += 1;
                        }
                        assert!(then.waves_per_cu >= now.waves_per_cu);
                    }
                    for limit in &now.limits {
                        let mut more = asked;
                        match limit.resource {
                            Limiter::Lds => more.lds_bytes += limit.headroom,
                            Limiter::Sgpr => more.sgprs += limit.headroom,
                            _ => continue,
                        }
                        assert_eq!(
                            occupancy(target, &more).waves_per_cu,
                            now.waves_per_cu,
                            "{name} {asked:?}"
                        );
                    }
                }
            }
        }
    }
    assert!(checked > 1000, "{checked}");
}

#[test]
fn resources_that_stop_alike_are_shed_together() {
    for name in rockhound_arch::Target::names() {
        let target = rockhound_arch::Target::by_name(name).unwrap();
        let mut seen = 0;
        for vgprs in (8..500).step_by(27) {
            for lds_bytes in (0..65536).step_by(3001) {
                for waves_per_workgroup in [1, 2, 4, 8] {
                    let asked = rockhound_arch::Resources {
                        vgprs,
                        agprs: 0,
                        sgprs: 32,
                        lds_bytes,
                        waves_per_workgroup,
                    };
                    let now = rockhound_arch::occupancy(target, &asked);
                    let Some(step) = now.together.first() else { continue };
                    seen += 1;
                    assert!(now.together.len() > 1);
                    let mut less = asked;
                    for step in &now.together {
                        match step.resource {
                            rockhound_arch::Limiter::Vgpr => less.vgprs -= step.shed,
                            rockhound_arch::Limiter::Lds => less.lds_bytes -= step.shed,
                            rockhound_arch::Limiter::Sgpr => less.sgprs -= step.shed,
                            other => panic!("{other:?} cannot be shed"),
                        }
                    }
                    let then = rockhound_arch::occupancy(target, &less);
                    assert_eq!(then.waves_per_simd, step.waves_per_simd, "{name} {asked:?}");
                    assert!(then.waves_per_simd > now.waves_per_simd, "{name} {asked:?}");
                }
            }
        }
        assert!(seen > 10, "{name}: {seen}");
    }
}
