//! GPUs that the environment shows to the program.
//!
//! `ROCR_VISIBLE_DEVICES` chooses among the machine's GPUs, `HIP_VISIBLE_DEVICES` or `CUDA_VISIBLE_DEVICES` among those that
//! are left; a list ends at the first entry that names none, as the vendor's runtime has it.

/// Numbers on the machine of the GPUs that the program sees, of `count` there are.
pub(crate) fn devices(count: u32, variable: impl Fn(&str) -> Option<String>) -> Vec<u32> {
    let mut shown: Vec<u32> = (0..count).collect();
    let hip = ["HIP_VISIBLE_DEVICES", "CUDA_VISIBLE_DEVICES"].into_iter().find_map(&variable);
    for list in [variable("ROCR_VISIBLE_DEVICES"), hip].into_iter().flatten() {
        shown = chosen(&list, &shown);
    }
    shown
}

fn chosen(list: &str, from: &[u32]) -> Vec<u32> {
    let entry = |text: &str| text.trim().parse::<usize>().ok().and_then(|it| from.get(it)).copied();
    list.split(',').map_while(entry).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_choose_and_order_devices() {
        // (ROCR, HIP, CUDA, devices of four)
        type Case = ([Option<&'static str>; 3], &'static [u32]);
        let cases: [Case; 8] = [
            ([None, None, None], &[0, 1, 2, 3]),
            ([None, Some("2"), None], &[2]),
            ([None, Some("3, 1"), None], &[3, 1]),
            ([None, None, Some("1")], &[1]),
            ([None, Some("0"), Some("1")], &[0]),
            ([Some("2,3"), Some("1"), None], &[3]),
            ([None, Some("1,9,0"), None], &[1]),
            ([None, Some(""), None], &[]),
        ];
        for ([rocr, hip, cuda], expected) in cases {
            let variable = |name: &str| {
                let value = match name {
                    "ROCR_VISIBLE_DEVICES" => rocr,
                    "HIP_VISIBLE_DEVICES" => hip,
                    _ => cuda,
                };
                value.map(str::to_string)
            };
            assert_eq!(devices(4, variable), expected, "{rocr:?} {hip:?} {cuda:?}");
        }
    }
}
