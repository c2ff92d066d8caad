//! `lspci -vvv`: access control of ports, links of GPUs; also only its lines with `ACSCtl`.
//!
//! Without root the capabilities read `<access denied>`, and then the absence of `SrcValid+` says nothing.

use crate::Fact;
use crate::gpu::{AcsPort, Gpu};
use crate::values::{bdf, leading_number};

/// GPUs with their links, and the ports; why the ports are not known.
pub(crate) type Reading = (Vec<Gpu>, Result<Vec<AcsPort>, String>);

/// Whether a text is of this tool: a device line, or a line with `ACSCtl:`.
pub(crate) fn is(text: &str) -> bool {
    text.lines().take(400).any(|line| line.trim_start().starts_with("ACSCtl:") || device(line).is_some())
}

/// Address and description of a line that begins a device.
fn device(line: &str) -> Option<(String, &str)> {
    let (address, description) = line.split_once(' ')?;
    if line.starts_with(char::is_whitespace) || !description.contains(':') {
        return None;
    }
    Some((bdf(address)?, description))
}

/// Reads the text.
pub(crate) fn read(text: &str, from: &str) -> Reading {
    let mut ports = Vec::new();
    let mut gpus: Vec<Gpu> = Vec::new();
    let mut current: Option<String> = None;
    let mut denied = 0usize;
    let mut is_gpu = false;
    for line in text.lines() {
        if let Some((address, description)) = device(line) {
            is_gpu = description.contains("[AMD/ATI]")
                && ["Processing accelerators", "Display controller", "VGA compatible"]
                    .iter()
                    .any(|it| description.starts_with(it));
            if is_gpu {
                gpus.push(gpu(&address, description, from));
            }
            current = Some(address);
            continue;
        }
        let line = line.trim();
        if line.contains("<access denied>") {
            denied += 1;
        } else if let Some(flags) = line.strip_prefix("ACSCtl:") {
            ports.push(AcsPort {
                bdf: current.clone(),
                source_validation: flags.split_whitespace().any(|it| it == "SrcValid+"),
            });
        } else if let (true, Some(gpu)) = (is_gpu, gpus.last_mut()) {
            link(gpu, line, from);
        }
    }
    let ports = match (ports.is_empty(), denied) {
        (true, 0) => Err("no line with ACSCtl: not made with -vvv, or no port has access control".to_owned()),
        (true, _) => Err(format!("capabilities of {denied} devices: access denied (run lspci as root)")),
        (false, 0) => Ok(ports),
        (false, _) if ports.iter().any(|it| it.source_validation) => Ok(ports),
        (false, _) => Err(format!("capabilities of {denied} devices: access denied (run lspci as root)")),
    };
    (gpus, ports)
}

fn gpu(address: &str, description: &str, from: &str) -> Gpu {
    let mut gpu = Gpu::new(address);
    gpu.bdf = Some(address.to_owned());
    gpu.on_pci_bus = true;
    if let Some((_, name)) = description.rsplit_once('[') {
        gpu.product = Fact::known(format!("AMD {}", name.split(']').next().unwrap_or(name)), from);
    }
    gpu
}

/// `LnkCap: ... Speed 32GT/s, Width x16` and `LnkSta: Speed 16GT/s (downgraded), Width x8 (downgraded)`.
fn link(gpu: &mut Gpu, line: &str, from: &str) {
    let (speed, width) = match (line.strip_prefix("LnkCap:"), line.strip_prefix("LnkSta:")) {
        (Some(_), _) => (&mut gpu.link.max_speed, &mut gpu.link.max_width),
        (_, Some(_)) => (&mut gpu.link.speed, &mut gpu.link.width),
        _ => return,
    };
    let after = |word: &str| line.split_once(word).and_then(|(_, rest)| leading_number(rest));
    if let Some(value) = after("Speed ") {
        *speed = Fact::known(value, from);
    }
    if let Some(value) = after("Width x") {
        *width = Fact::known(value, from);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ports_and_what_denies_them() {
        let head = "04:01.1 PCI bridge: AMD (prog-if 00)\n";
        for (body, expected) in [
            ("\tACSCap:\tSrcValid+ TransBlk+\n\tACSCtl:\tSrcValid- TransBlk-\n", Ok(vec![false])),
            ("\tACSCtl:\tSrcValid+ TransBlk-\n", Ok(vec![true])),
            ("\tCapabilities: <access denied>\n", Err("access denied")),
            ("\tACSCtl:\tSrcValid-\n05:00.0 X: y\n\tCapabilities: <access denied>\n", Err("access denied")),
            ("", Err("not made with -vvv")),
        ] {
            let (_, ports) = read(&format!("{head}{body}"), "t");
            match (ports, expected) {
                (Ok(found), Ok(wanted)) => {
                    assert_eq!(found.iter().map(|it| it.source_validation).collect::<Vec<_>>(), wanted);
                }
                (Err(reason), Err(wanted)) => assert!(reason.contains(wanted), "{reason}"),
                (found, wanted) => panic!("{found:?} for {wanted:?}"),
            }
        }
    }
}
