//! Properties of the device: two layouts of a structure, and single attributes.
//!
//! A property has one value by its name; layouts and attribute numbers are tables in `data/` that map to the name,
//! which comes from the public headers, because programs are compiled against them. A property without facts is 0, as
//! for hardware without that ability.

use super::{In, Out, entries};
use crate::codes::Code;
use crate::device::{Device, MOST_THREADS};
use crate::runtime::lock;
use Kind::{Int, Long, Text};

/// The layout since HIP 6.
const NEWER: &str = include_str!("../../data/properties.tsv");
/// The layout before.
const OLDER: &str = include_str!("../../data/properties-before-6.tsv");
/// Attributes by number: the property, and the element of it.
const ATTRIBUTES: &str = include_str!("../../data/attributes.tsv");

/// Rows of a table.
fn rows<const N: usize>(table: &'static str) -> impl Iterator<Item = [&'static str; N]> {
    table.lines().skip(1).filter_map(|line| line.split('\t').collect::<Vec<_>>().try_into().ok())
}

/// Type of a field.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    /// 32 bits.
    Int,
    /// 64 bits.
    Long,
    /// Characters.
    Text,
}

/// Name, type, elements.
type Field = (&'static str, Kind, usize);

/// The fields of a layout.
fn fields(layout: &'static str) -> Vec<Field> {
    let field = |[name, kind, elements]: [&'static str; 3]| {
        let kind = match kind {
            "int" => Int,
            "long" => Long,
            _ => Text,
        };
        (name, kind, elements.parse().unwrap_or_default())
    };
    rows(layout).map(field).collect()
}

/// The property and the element of it that an attribute is.
fn attribute(number: u32) -> Option<(&'static str, usize)> {
    let number = number.to_string();
    let [_, name, element] = rows(ATTRIBUTES).find(|row: &[&str; 3]| row[0] == number)?;
    Some((name, element.parse().ok()?))
}

/// Bytes of the structure.
fn size(layout: &[Field]) -> usize {
    place(layout, "").0.next_multiple_of(8)
}

/// Offset of a field (of the end, for no field), and the field.
fn place(layout: &[Field], name: &str) -> (usize, Option<Field>) {
    let mut at = 0usize;
    for &(field, kind, count) in layout {
        let bytes = match kind {
            Int => 4,
            Long => 8,
            Text => 1,
        };
        at = at.next_multiple_of(bytes);
        if field == name {
            return (at, Some((field, kind, count)));
        }
        at += bytes * count;
    }
    (at, None)
}

/// The structure as bytes.
fn structure(device: Device, layout: &[Field]) -> Vec<u8> {
    let mut bytes = vec![0; size(layout)];
    for &(name, kind, count) in layout {
        let (at, _) = place(layout, name);
        for element in 0..count {
            let value = number(device, name, element);
            match kind {
                Int => bytes[at + 4 * element..][..4].copy_from_slice(&(value as i32).to_le_bytes()),
                Long => bytes[at + 8 * element..][..8].copy_from_slice(&value.to_le_bytes()),
                Text => {}
            }
        }
        if kind == Text {
            let text = text(device, name);
            let length = text.len().min(count.saturating_sub(1));
            bytes[at..at + length].copy_from_slice(&text.as_bytes()[..length]);
        }
    }
    bytes
}

fn text(device: Device, name: &str) -> String {
    match name {
        "name" => format!("AMD {}", device.model.name),
        "gcnArchName" => device.target_id(),
        "uuid" => "rockhound-emu-0".to_string(),
        _ => String::new(),
    }
}

/// Value of a property. Sizes of textures and surfaces are 0: these GPUs have none.
fn number(device: Device, name: &str, element: usize) -> i64 {
    let (model, target) = (device.model, device.model.target());
    let khz = |mhz: u32| i64::from(mhz) * 1000;
    let registers = i64::from(target.registers.vgprs_per_lane.value) * i64::from(target.lanes_per_wave.value);
    let registers_per_cu = registers * i64::from(target.simds_per_cu.value);
    let (major, minor) = device.version();
    match name {
        "totalGlobalMem" => device.memory_bytes() as i64,
        "sharedMemPerBlock" | "sharedMemPerBlockOptin" => i64::from(target.lds.bytes_per_workgroup.value),
        "sharedMemPerMultiprocessor" | "maxSharedMemoryPerMultiProcessor" => i64::from(device.lds_bytes()),
        "regsPerBlock" | "regsPerMultiprocessor" => registers_per_cu,
        "warpSize" => i64::from(target.lanes_per_wave.value),
        "memPitch" => i64::from(i32::MAX),
        "maxThreadsPerBlock" => i64::from(MOST_THREADS),
        "maxThreadsDim" => i64::from(MOST_THREADS),
        "maxGridSize" => [i64::from(i32::MAX), 65_536, 65_536].get(element).copied().unwrap_or(0),
        "clockRate" => khz(model.engine_mhz.value),
        "memoryClockRate" => model.memory_mhz.get().map_or(0, |mhz| khz(*mhz)),
        "memoryBusWidth" => memory_bus_bits(device),
        "totalConstMem" => i64::from(i32::MAX),
        "major" => i64::from(major),
        "minor" => i64::from(minor),
        "gcnArch" => i64::from(major * 100 + minor * 10),
        "multiProcessorCount" => i64::from(model.compute_units.value),
        "l2CacheSize" => i64::from(target.l2.bytes_per_xcd.value),
        "maxThreadsPerMultiProcessor" => i64::from(device.threads_per_cu()),
        "maxBlocksPerMultiProcessor" => i64::from(target.waves_per_cu()),
        "clockInstructionRate" | "wallClockRate" => 100_000,
        "arch" => ARCHITECTURE_FLAGS,
        "numberOfXccs" => i64::from(model.xcds.value),
        "textureAlignment" | "surfaceAlignment" | "texturePitchAlignment" => 256,
        "maxAvailableVgprsPerThread" => i64::from(target.registers.vgprs_addressable.value),
        "pageableMemoryAccess" => i64::from(device.retries),
        "concurrentKernels"
        | "canMapHostMemory"
        | "cooperativeLaunch"
        | "managedMemory"
        | "unifiedAddressing"
        | "concurrentManagedAccess"
        | "directManagedMemAccessFromHost"
        | "canUseHostPointerForRegisteredMem"
        | "hostRegisterSupported"
        | "memoryPoolsSupported"
        | "memoryPoolSupportedHandleTypes"
        | "virtualMemoryManagementSupported"
        | "isLargeBar"
        | "asyncEngineCount"
        | "ECCEnabled"
        | "streamPrioritiesSupported"
        | "fineGrainSupport"
        | "hostNativeAtomicSupported"
        | "globalL1CacheSupported"
        | "localL1CacheSupported" => 1,
        _ => 0,
    }
}

/// Everything up to three-dimensional grids; no surfaces, no launches from the device.
const ARCHITECTURE_FLAGS: i64 = 0b00_1011_1111_1111_1111;

/// Bits of the memory interface: computed from the bandwidth at two transfers per memory clock.
fn memory_bus_bits(device: Device) -> i64 {
    let Ok(&mhz) = device.model.memory_mhz.get() else { return 0 };
    let bytes_per_clock = device.model.hbm.gb_per_s.value * 1e3 / (2.0 * f64::from(mhz));
    (bytes_per_clock * 8.0).round() as i64
}

fn device_at(number: i32) -> Result<Device, Code> {
    let runtime = lock();
    if (0..runtime.devices).contains(&number) { Ok(runtime.device) } else { Err(Code::hipErrorInvalidDevice) }
}

fn fill(place: *mut u8, number: i32, layout: &'static str) -> Result<(), Code> {
    if place.is_null() {
        return Err(Code::hipErrorInvalidValue);
    }
    let layout = &fields(layout);
    let mut bytes = structure(device_at(number)?, layout);
    if let (at, Some(_)) = self::place(layout, "pciBusID") {
        bytes[at..at + 4].copy_from_slice(&bus(number).to_le_bytes());
    }
    if let (at, Some((_, _, count))) = self::place(layout, "uuid") {
        bytes[at..at + count].copy_from_slice(&uuid(number)[..count]);
    }
    // SAFETY: the program gives a structure of this layout.
    unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), place, bytes.len()) };
    Ok(())
}

/// Bus of a device; no two are on the same one.
fn bus(device: i32) -> i32 {
    device + 1
}

/// A number for a device.
fn uuid(device: i32) -> [u8; 16] {
    let mut bytes = *b"rockhound-emu-0\0";
    bytes[14] = b'0' + (device % 10) as u8;
    bytes
}

/// Writes a text with its zero into a place of `room` bytes.
fn put_text(place: *mut u8, room: i32, text: &str) -> Result<(), Code> {
    let room = usize::try_from(room)
        .ok()
        .filter(|it| *it > 0 && !place.is_null())
        .ok_or(Code::hipErrorInvalidValue)?;
    let length = text.len().min(room - 1);
    // SAFETY: the place has that room.
    unsafe {
        std::ptr::copy_nonoverlapping(text.as_ptr(), place, length);
        place.add(length).write(0);
    }
    Ok(())
}

entries! {
    /// The older layout, which programs before HIP 6 ask for.
    fn hipGetDeviceProperties = hipGetDevicePropertiesR0000(place: *mut u8, device: i32) {
        fill(place, device, OLDER)
    }

    /// The newer layout.
    fn hipGetDevicePropertiesR0600(place: *mut u8, device: i32) {
        fill(place, device, NEWER)
    }

    /// All devices are alike.
    fn hipChooseDevice = hipChooseDeviceR0000 hipChooseDeviceR0600(device: Out<i32>, properties: *const u8) {
        if properties.is_null() {
            return Err(Code::hipErrorInvalidValue);
        }
        device.put(0)
    }

    /// One attribute.
    fn hipDeviceGetAttribute(value: Out<i32>, attribute: u32, device: i32) {
        let found = device_at(device)?;
        let (name, element) = self::attribute(attribute).ok_or(Code::hipErrorInvalidValue)?;
        let found = if name == "pciBusID" { i64::from(bus(device)) } else { number(found, name, element) };
        value.put(i32::try_from(found).unwrap_or(i32::MAX))
    }

    /// Bytes of device memory.
    fn hipDeviceTotalMem(bytes: Out<usize>, device: i32) {
        bytes.put(device_at(device)?.memory_bytes())
    }

    /// Name of a device.
    fn hipDeviceGetName(place: *mut u8, room: i32, device: i32) {
        put_text(place, room, &text(device_at(device)?, "name"))
    }

    /// An address on the bus that no card has.
    fn hipDeviceGetPCIBusId(place: *mut u8, room: i32, device: i32) {
        device_at(device)?;
        put_text(place, room, &format!("0000:{:02x}:00.0", bus(device)))
    }

    /// The reverse.
    fn hipDeviceGetByPCIBusId(device: Out<i32>, address: In<libc::c_char>) {
        let address = address.text()?;
        let bus = address.split(':').nth(1).and_then(|bus| i32::from_str_radix(bus, 16).ok());
        let number = bus.and_then(|bus| bus.checked_sub(1)).ok_or(Code::hipErrorInvalidDevice)?;
        device_at(number)?;
        device.put(number)
    }

    /// Major and minor number of the target.
    fn hipDeviceComputeCapability(major: Out<i32>, minor: Out<i32>, device: i32) {
        let (a, b) = device_at(device)?.version();
        major.put(a)?;
        minor.put(b)
    }

    /// A number for the device.
    fn hipDeviceGetUuid(place: Out<[u8; 16]>, device: i32) {
        device_at(device)?;
        place.put(uuid(device))
    }

    /// Limits of stack and heap, which are kept and told: the existing sizes suffice.
    fn hipDeviceSetLimit(limit: u32, value: usize) {
        if !matches!(limit, 0 | 2) {
            return Err(Code::hipErrorUnsupportedLimit);
        }
        lock().limits.insert(limit, value);
        Ok(())
    }

    /// As above.
    fn hipDeviceGetLimit(value: Out<usize>, limit: u32) {
        let set = lock().limits.get(&limit).copied();
        let found = match limit {
            0 | 2 if let Some(set) = set => set,
            0 => 16 << 10,
            1 => 1 << 20,
            2 => 8 << 20,
            _ => return Err(Code::hipErrorUnsupportedLimit),
        };
        value.put(found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use arch::Model;

    #[test]
    fn layouts_have_the_places_of_the_headers() {
        for (layout, bytes, fields) in [
            (NEWER, 1472, [("totalGlobalMem", 288), ("multiProcessorCount", 388), ("gcnArchName", 1160)]),
            (OLDER, 792, [("totalGlobalMem", 256), ("multiProcessorCount", 336), ("gcnArchName", 396)]),
        ] {
            let layout = &super::fields(layout);
            assert_eq!(size(layout), bytes);
            for (name, offset) in fields {
                assert_eq!(place(layout, name).0, offset, "{name}");
            }
        }
    }

    #[test]
    fn properties_are_those_of_the_model() {
        let device = Device::new(Model::by_name("mi300x").unwrap(), None);
        let layout = &fields(NEWER);
        let bytes = structure(device, layout);
        let (at, _) = place(layout, "gcnArchName");
        assert!(bytes[at..].starts_with(b"gfx942:sramecc+:xnack-\0"));
        for (name, expected) in [("multiProcessorCount", 304), ("warpSize", 64), ("clockRate", 2_100_000)] {
            assert_eq!(number(device, name, 0), expected, "{name}");
        }
        assert_eq!(memory_bus_bits(device), 16384 / 2 * 2);
    }

    #[test]
    fn every_row_is_read() {
        for layout in [NEWER, OLDER] {
            assert_eq!(fields(layout).len(), layout.lines().count() - 1);
            assert!(fields(layout).iter().all(|it| it.2 > 0));
        }
        let numbers = ATTRIBUTES.lines().skip(1).filter_map(|row| row.split('\t').next()?.parse().ok());
        let numbers: Vec<u32> = numbers.collect();
        assert_eq!(numbers.len(), ATTRIBUTES.lines().count() - 1);
        assert!(numbers.is_sorted() && numbers.iter().all(|it| attribute(*it).is_some()));
        assert_eq!(attribute(10018), Some(("numberOfXccs", 0)));
        assert_eq!(attribute(9999), None);
    }
}
