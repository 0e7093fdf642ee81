//! Files that are known and cannot be read, so that they are named instead of shown byte by byte.

/// First bytes of a kind of file, and what it is.
const KINDS: [(&[u8], &str); 1] = [(
    &0x1234_5678_9abc_def0u64.to_le_bytes(),
    "a trace of libCacheSim (lcs): it has the names of objects and their sizes, but no offsets, so it is no trace of a \
     disk. Convert the trace that it was made from",
)];

/// What a file that begins so is, if it is known and cannot be read.
pub(in super::super) fn named(head: &[u8]) -> Option<&'static str> {
    KINDS.iter().find(|(first, _)| head.starts_with(first)).map(|(_, what)| *what)
}

#[cfg(test)]
mod tests {
    use super::super::testing::detected;

    #[test]
    fn an_lcs_file_is_named_and_refused() {
        let file = [&0x1234_5678_9abc_def0u64.to_le_bytes()[..], &[0; 100]].concat();
        let error = detected(&file).unwrap_err();
        assert!(error.starts_with("t: is a trace of libCacheSim (lcs)") && error.len() < 250, "{error}");
    }
}
