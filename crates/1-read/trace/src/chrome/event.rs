//! One Chrome trace event, as slices of the bytes at hand.

use rocprof::json::{Cursor, Stop};

/// The fields read from an event. Absent ones are empty.
#[derive(Default)]
pub(super) struct Event<'a> {
    pub(super) phase: u8,
    pub(super) category: &'a [u8],
    pub(super) name: &'a [u8],
    pub(super) process: &'a [u8],
    pub(super) thread: &'a [u8],
    pub(super) start: &'a [u8],
    pub(super) duration: &'a [u8],
    /// Number of an arrow.
    pub(super) id: &'a [u8],
    pub(super) args: Args<'a>,
}

/// Arguments, as PyTorch and rocprof v1 name them.
#[derive(Default)]
pub(super) struct Args<'a> {
    pub(super) external: u64,
    pub(super) correlation: u64,
    pub(super) device: Option<u64>,
    pub(super) stream: Option<u64>,
    pub(super) grid: Option<[u32; 3]>,
    pub(super) block: Option<[u32; 3]>,
    pub(super) bytes: Option<u64>,
    pub(super) kind: &'a [u8],
    pub(super) name: &'a [u8],
    pub(super) dims: &'a [u8],
    pub(super) types: &'a [u8],
    pub(super) strides: &'a [u8],
    pub(super) values: &'a [u8],
    pub(super) collective: &'a [u8],
    pub(super) elements_in: u64,
    pub(super) elements_out: u64,
    pub(super) group_size: u64,
    pub(super) data_type: &'a [u8],
    pub(super) group: &'a [u8],
    /// Kind of a node of ONNX Runtime: `MatMul`.
    pub(super) operator: &'a [u8],
    /// The event around a kernel of ONNX Runtime.
    pub(super) parent: &'a [u8],
    /// Exact times of rocprof v1, ns.
    pub(super) begin_ns: Option<u64>,
    pub(super) end_ns: Option<u64>,
    /// Arguments of a call of rocprof v1, as text.
    pub(super) text: &'a [u8],
}

impl<'a> Event<'a> {
    /// Parses an event.
    pub(super) fn parse(c: &mut Cursor<'a>) -> Result<Event<'a>, Stop> {
        let mut event = Event::default();
        c.object(|key, c| {
            match key {
                b"ph" => event.phase = c.plain()?.first().copied().unwrap_or(0),
                b"cat" => event.category = c.plain()?,
                b"name" => event.name = c.plain()?,
                b"pid" => event.process = c.plain()?,
                b"tid" => event.thread = c.plain()?,
                b"ts" => event.start = c.plain()?,
                b"dur" => event.duration = c.plain()?,
                b"id" => event.id = c.plain()?,
                b"args" if c.peek()? == b'{' => event.args.parse(c)?,
                _ => c.skip(0)?,
            }
            Ok(())
        })?;
        Ok(event)
    }
}

impl<'a> Args<'a> {
    fn parse(&mut self, c: &mut Cursor<'a>) -> Result<(), Stop> {
        c.object(|key, c| {
            match key {
                b"External id" | b"external id" => self.external = c.number()?.unwrap_or(0),
                b"correlation" | b"correlation_id" => self.correlation = c.number()?.unwrap_or(0),
                b"device" | b"dev-id" => self.device = c.number()?,
                b"stream" | b"stream-id" => self.stream = c.number()?,
                b"grid" => self.grid = c.triple()?,
                b"block" => self.block = c.triple()?,
                b"bytes" => self.bytes = c.number()?,
                b"kind" => self.kind = c.plain()?,
                b"name" => self.name = c.plain()?,
                b"Input Dims" | b"Input dims" => self.dims = c.raw()?,
                b"Input type" => self.types = c.raw()?,
                b"Input Strides" => self.strides = c.raw()?,
                b"Concrete Inputs" => self.values = c.raw()?,
                b"Collective name" => self.collective = c.plain()?,
                b"In msg nelems" => self.elements_in = c.number()?.unwrap_or(0),
                b"Out msg nelems" => self.elements_out = c.number()?.unwrap_or(0),
                b"Group size" => self.group_size = c.number()?.unwrap_or(0),
                b"dtype" => self.data_type = c.plain()?,
                b"Process Group Name" => self.group = c.plain()?,
                b"op_name" => self.operator = c.plain()?,
                b"parent_name" => self.parent = c.plain()?,
                b"BeginNs" => self.begin_ns = c.number()?,
                b"EndNs" => self.end_ns = c.number()?,
                b"args" => self.text = c.raw()?,
                _ => c.skip(0)?,
            }
            Ok(())
        })
    }
}
