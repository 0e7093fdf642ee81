//! Messages of protocol buffers, as bytes: the three wire types that a trace needs.
//!
//! Source: the encoding of protocol buffers (Google, public documentation). Leaves out: reading, groups, floating point.

/// Varint: integers and enumerations.
const VARINT: u64 = 0;
/// Length, then bytes: text and messages.
const BYTES: u64 = 2;

/// A message under construction.
#[derive(Debug, Default)]
pub(super) struct Message(Vec<u8>);

impl Message {
    pub(super) fn new(fill: impl FnOnce(&mut Message)) -> Message {
        let mut message = Message::default();
        fill(&mut message);
        message
    }

    fn varint(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.0.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.0.push(value as u8);
    }

    /// An integer.
    pub(super) fn uint(&mut self, field: u64, value: u64) {
        self.varint(field << 3 | VARINT);
        self.varint(value);
    }

    fn bytes(&mut self, field: u64, bytes: &[u8]) {
        self.varint(field << 3 | BYTES);
        self.varint(bytes.len() as u64);
        self.0.extend_from_slice(bytes);
    }

    /// Text.
    pub(super) fn text(&mut self, field: u64, text: &str) {
        self.bytes(field, text.as_bytes());
    }

    /// A message inside this one.
    pub(super) fn message(&mut self, field: u64, fill: impl FnOnce(&mut Message)) {
        self.inner(field, Message::new(fill));
    }

    /// The same, of one that is made.
    pub(super) fn inner(&mut self, field: u64, inner: Message) {
        self.bytes(field, &inner.0);
    }

    pub(super) fn into_bytes(self) -> Vec<u8> {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The examples of the documentation: 150 as field 1, "testing" as field 2, and a message that holds the first.
    #[test]
    fn messages_are_those_of_the_documentation() {
        let number = |message: &mut Message| message.uint(1, 150);
        assert_eq!(Message::new(number).into_bytes(), [0x08, 0x96, 0x01]);
        let text = Message::new(|message| message.text(2, "testing"));
        assert_eq!(text.into_bytes(), b"\x12\x07testing");
        let nested = Message::new(|message| message.message(3, number));
        assert_eq!(nested.into_bytes(), [0x1a, 0x03, 0x08, 0x96, 0x01]);
    }
}
