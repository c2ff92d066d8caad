//! Objects of the program that graphs hold references to; the program's function ends one when nobody holds it.

use crate::work::HostFunction;
use std::collections::BTreeMap;

/// An object.
#[derive(Debug)]
struct UserObject {
    data: usize,
    end: HostFunction,
    references: u32,
}

/// All objects, by handle.
#[derive(Debug, Default)]
pub(crate) struct UserObjects {
    objects: BTreeMap<usize, UserObject>,
    /// Functions to call, with the object's data, once the runtime is not locked.
    ended: Vec<(HostFunction, usize)>,
    last: usize,
}

impl UserObjects {
    /// An object with a number of references.
    pub(crate) fn create(&mut self, data: usize, end: HostFunction, references: u32) -> usize {
        self.last += 16;
        self.objects.insert(self.last, UserObject { data, end, references });
        self.last
    }

    /// Adds references; false if the object has ended.
    pub(crate) fn retain(&mut self, object: usize, count: u32) -> bool {
        let Some(object) = self.objects.get_mut(&object) else { return false };
        object.references = object.references.saturating_add(count);
        true
    }

    /// Whether an object is there.
    pub(crate) fn is_there(&self, object: usize) -> bool {
        self.objects.contains_key(&object)
    }

    /// Gives references back. More than there are change nothing, as in AMD's runtime.
    pub(crate) fn release(&mut self, object: usize, count: u32) {
        let Some(found) = self.objects.get_mut(&object).filter(|it| it.references >= count) else { return };
        found.references -= count;
        if found.references == 0
            && let Some(UserObject { data, end, .. }) = self.objects.remove(&object)
        {
            self.ended.push((end, data));
        }
    }

    /// Functions to call now.
    pub(crate) fn take_ended(&mut self) -> Vec<(HostFunction, usize)> {
        std::mem::take(&mut self.ended)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    unsafe extern "C" fn nothing(_: *mut std::ffi::c_void) {}

    #[test]
    fn objects_end_with_their_last_reference() {
        let mut objects = UserObjects::default();
        let object = objects.create(7, nothing, 2);
        assert!(objects.retain(object, 1));
        objects.release(object, 4);
        objects.release(object, 2);
        assert!(objects.is_there(object) && objects.take_ended().is_empty());
        objects.release(object, 1);
        let ended: Vec<usize> = objects.take_ended().into_iter().map(|it| it.1).collect();
        assert_eq!((ended, objects.is_there(object), objects.retain(object, 1)), (vec![7], false, false));
    }
}
