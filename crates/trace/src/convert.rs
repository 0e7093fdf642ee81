//! A trace from its first record to its last in another format.
//!
//! What the target cannot say as it was is counted with the reason its writer gives, or refused at the first such
//! record. The output may be packed; the writer gathers what it writes and hands over all of it at its end, and errors
//! of the last bytes are errors.
//!
//! Times count from the first record **written**: a reader of the output sees no other zero. What lies before it (the
//! trace's start cut off, other volumes, records the target has no words for) is told, and moves nothing against
//! another. The clock time of the first record written goes along where the target has absolute times.

use std::fs::File;
use std::io::{self, Write};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use serde::Serialize;

use crate::read::note;
use crate::{
    ASK_EVERY, FORMATS, Noted, Out, Packing, ReadLog, Step, Trace, TraceError, TraceFormat, TraceReader,
    TraceRecord, Written, names,
};

/// Formats that pack by themselves: packing them again would only keep other programs from reading them.
const PACKED_BY_THEMSELVES: [&str; 1] = ["harmonia"];
/// Level of zstd that writes as fast as a disk takes it.
const ZSTD_LEVEL: i32 = 3;

/// Where a trace is converted to.
#[derive(Debug, Clone, Copy)]
pub struct Target {
    /// The format, one that can be written.
    pub format: &'static TraceFormat,
    /// How the file is packed, if it is.
    pub packing: Option<Packing>,
    /// Whether a record that cannot be written as it is ends the conversion.
    pub exact: bool,
}

/// What was written.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Conversion {
    /// Records read.
    pub rows: u64,
    /// Records written, those that were changed included.
    pub written: u64,
    /// Records that read back a little different, by reason.
    pub changed: Vec<Noted>,
    /// Records that are not there, by reason.
    pub dropped: Vec<Noted>,
    /// How far into the trace the first record written lies, from which its times count, in ns.
    pub first_ns: u64,
    /// What was passed over, mended or tolerated in reading.
    pub log: ReadLog,
}

/// Why a conversion ended early. What was written until then is of no use.
#[derive(Debug, thiserror::Error)]
pub enum ConvertError {
    /// The trace cannot be read.
    #[error(transparent)]
    Trace(#[from] TraceError),
    /// It was to be exact, and a record cannot be written as it is.
    #[error("{0}")]
    Inexact(TraceError),
    /// The output cannot be written.
    #[error("{0}")]
    Output(io::Error),
    /// `go_on` said no.
    #[error("stopped")]
    Stopped,
}

impl Target {
    /// The target that `format` and the extensions of `path` name.
    ///
    /// # Errors
    /// If no format is named and the extension tells none, the format is unknown or cannot be written or packed.
    pub fn new(format: Option<&str>, path: &Path, exact: bool) -> Result<Self, String> {
        Self::among(FORMATS, format, path, exact)
    }

    fn among(
        formats: &'static [TraceFormat],
        format: Option<&str>,
        path: &Path,
        exact: bool,
    ) -> Result<Self, String> {
        let writable = || names(formats.iter().filter(|format| format.write.is_some()));
        let extension = path.extension().and_then(|extension| extension.to_str()).unwrap_or_default();
        let packing = Packing::of_extension(extension);
        let name = match (format, extension) {
            (Some(name), _) => name,
            (None, "parquet") => "harmonia",
            _ => return Err(format!("the name does not tell the format: choose one of {}", writable())),
        };
        let format = formats
            .iter()
            .find(|format| format.name == name)
            .ok_or_else(|| format!("`{name}` is not a trace format: choose one of {}", writable()))?;
        if format.write.is_none() {
            return Err(format!("format `{name}` is read only: choose one of {}", writable()));
        }
        if packing.is_some() && PACKED_BY_THEMSELVES.contains(&name) {
            return Err(format!("format `{name}` packs by itself: leave out the .{extension}"));
        }
        Ok(Target { format, packing, exact })
    }
}

/// Writes `trace` to `file`, which is empty. `go_on` is asked with the number of rows so far every now and then.
///
/// # Errors
/// See [`ConvertError`].
pub fn convert(
    trace: &Trace,
    target: Target,
    file: File,
    go_on: &mut dyn FnMut(u64) -> bool,
) -> Result<Conversion, ConvertError> {
    let open = target.format.write.ok_or_else(|| {
        ConvertError::Output(io::Error::other(format!("format `{}` is read only", target.format.name)))
    })?;
    let output = SharedOutput::new(file, target.packing).map_err(ConvertError::Output)?;
    let mut done = Conversion::default();
    let mut reader = trace.records()?;
    let has_handles = reader.has_handles() && finds_handle(&mut reader, go_on)?;
    if reader.has_handles() {
        reader = trace.records()?;
    }
    let mut writer = open(Box::new(output.clone()) as Out, has_handles).map_err(ConvertError::Output)?;
    let mut first_ns = None;
    loop {
        let mut record = match reader.next_step()? {
            Step::Record(record) => record,
            Step::Pause if go_on(done.rows) => continue,
            Step::Pause => return Err(ConvertError::Stopped),
            Step::End => break,
        };
        // Until one is written, each may be the first.
        let origin_ns = first_ns.unwrap_or(record.time_ns);
        if first_ns.is_none()
            && let Some(utc_ns) = reader.origin_utc_ns().and_then(|utc_ns| utc_ns.checked_add(origin_ns))
        {
            writer.begins(utc_ns);
        }
        record.time_ns -= origin_ns;
        let written = writer.write(&record, reader.volumes()).map_err(ConvertError::Output)?;
        done.rows += 1;
        if !matches!(written, Written::Dropped(_)) {
            first_ns = Some(origin_ns);
        }
        let (list, what, reason) = match written {
            Written::Exact => (None, "", ""),
            Written::Changed(reason) => (Some(&mut done.changed), "changed", reason),
            Written::Dropped(reason) => (Some(&mut done.dropped), "dropped", reason),
        };
        if let Some(list) = list {
            if target.exact {
                let name = target.format.name;
                let problem = format!("this request would be {what} in format {name}: {reason}");
                return Err(ConvertError::Inexact(reader.error(problem)));
            }
            note(list, reason, 1);
        }
        if done.rows.is_multiple_of(ASK_EVERY) && !go_on(done.rows) {
            return Err(ConvertError::Stopped);
        }
    }
    writer.finish().and_then(|()| output.finish()).map_err(ConvertError::Output)?;
    done.written = done.rows - done.dropped.iter().map(|noted| noted.rows).sum::<u64>();
    let start_ns = trace.options.start.map_or(0, |start| start.0);
    done.first_ns = first_ns.map_or(0, |first_ns| start_ns.saturating_add(first_ns));
    done.log = reader.log().clone();
    Ok(done)
}

/// Reads up to the first record with a placement handle; whether there is one.
fn finds_handle(reader: &mut TraceReader, go_on: &mut dyn FnMut(u64) -> bool) -> Result<bool, ConvertError> {
    let mut rows = 0u64;
    loop {
        let ask = match reader.next_step()? {
            Step::Record(TraceRecord { handle: Some(_), .. }) => return Ok(true),
            Step::Record(_) => {
                rows += 1;
                rows.is_multiple_of(ASK_EVERY)
            }
            Step::Pause => true,
            Step::End => return Ok(false),
        };
        if ask && !go_on(rows) {
            return Err(ConvertError::Stopped);
        }
    }
}

/// An output that the writer owns and this module finishes: dropping a packer would swallow the errors of its last
/// bytes.
#[derive(Clone)]
struct SharedOutput(Arc<Mutex<Option<Packer>>>);

enum Packer {
    Plain(File),
    Gzip(Box<flate2::write::GzEncoder<File>>),
    Zstd(Box<zstd::Encoder<'static, File>>),
}

impl SharedOutput {
    fn new(file: File, packing: Option<Packing>) -> io::Result<Self> {
        let packer = match packing {
            None => Packer::Plain(file),
            Some(Packing::Gzip) => {
                Packer::Gzip(Box::new(flate2::write::GzEncoder::new(file, flate2::Compression::default())))
            }
            Some(Packing::Zstd) => {
                let mut encoder = zstd::Encoder::new(file, ZSTD_LEVEL)?;
                // As the zstd command does; without it damage may go unnoticed.
                encoder.include_checksum(true)?;
                Packer::Zstd(Box::new(encoder))
            }
        };
        Ok(SharedOutput(Arc::new(Mutex::new(Some(packer)))))
    }

    fn with<T>(&self, act: impl FnOnce(&mut dyn Write) -> io::Result<T>) -> io::Result<T> {
        match self.0.lock().unwrap_or_else(PoisonError::into_inner).as_mut() {
            Some(Packer::Plain(out)) => act(out),
            Some(Packer::Gzip(out)) => act(out.as_mut()),
            Some(Packer::Zstd(out)) => act(out.as_mut()),
            None => Err(io::Error::other("the output is finished")),
        }
    }

    fn finish(&self) -> io::Result<()> {
        let taken = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        let mut file = match taken {
            Some(Packer::Plain(out)) => out,
            Some(Packer::Gzip(out)) => out.finish()?,
            Some(Packer::Zstd(out)) => out.finish()?,
            None => return Ok(()),
        };
        file.flush()
    }
}

impl Write for SharedOutput {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.with(|out| out.write(bytes))
    }

    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.with(|out| out.write_all(bytes))
    }

    fn flush(&mut self) -> io::Result<()> {
        self.with(|out| out.flush())
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::io::BufWriter;

    use super::*;
    use crate::write::buffered;
    use crate::{TraceHash, TraceOptions, TraceWriter, VolumeNames};
    use harmonia_types::{Operation, SimDuration};

    /// Writes MSR lines, drops what MSR has no word for, and half KiBs, and rounds times to 100 ns.
    struct Toy(BufWriter<Out>);

    impl TraceWriter for Toy {
        fn write(&mut self, record: &TraceRecord, volumes: &VolumeNames) -> io::Result<Written> {
            let kind = match record.operation {
                Operation::Read => "Read",
                Operation::Write => "Write",
                Operation::Trim | Operation::Flush => return Ok(Written::Dropped("neither read nor write")),
            };
            if record.length == 512 {
                return Ok(Written::Dropped("half a KiB"));
            }
            let name = &volumes.names()[usize::from(record.volume)];
            let (host, disk) = name.rsplit_once('_').unwrap_or(("h", "0"));
            let TraceRecord { time_ns, offset, length, .. } = record;
            writeln!(self.0, "{},{host},{disk},{kind},{offset},{length},1", time_ns / 100)?;
            Ok(if time_ns.is_multiple_of(100) { Written::Exact } else { Written::Changed("time rounded") })
        }

        fn finish(mut self: Box<Self>) -> io::Result<()> {
            self.0.flush()
        }
    }

    static TOY: TraceFormat =
        TraceFormat { name: "toy", write: Some(|out, _| Ok(Box::new(Toy(buffered(out))))), ..FORMATS[0] };
    static THREE: [TraceFormat; 3] = [
        TOY,
        TraceFormat { name: "mute", write: None, ..FORMATS[0] },
        TraceFormat { name: "harmonia", ..TOY },
    ];

    fn trace(time_unit_ns: u64) -> Trace {
        let text: String =
            (0..100_000u64).map(|i| format!("{i},h,{},Read,{},4096,1\n", i % 3, i * 512)).collect();
        let mut options = TraceOptions::of_format("msr");
        options.units.time_ns = Some(time_unit_ns);
        Trace::from_bytes("t.csv", text.into_bytes(), &options).unwrap()
    }

    fn target(packing: Option<Packing>, exact: bool) -> Target {
        Target { format: &TOY, packing, exact }
    }

    fn records(trace: &Trace) -> Vec<TraceRecord> {
        let mut reader = trace.records().unwrap();
        std::iter::from_fn(|| reader.next_record().unwrap()).collect()
    }

    #[test]
    fn what_is_written_reads_back_packed_or_not() {
        let folder = tempfile::tempdir().unwrap();
        let original = trace(100);
        for (packing, least) in [(None, 2_000_000), (Some(Packing::Gzip), 1), (Some(Packing::Zstd), 1)] {
            let path = folder.path().join("out");
            let done = convert(&original, target(packing, true), File::create(&path).unwrap(), &mut |_| true)
                .unwrap();
            assert_eq!((done.rows, done.written, done.changed.len()), (100_000, 100_000, 0));
            assert!(fs::metadata(&path).unwrap().len() >= least);
            let back = Trace::open_file(&path, "msr").unwrap();
            assert_eq!(records(&back), records(&original));
        }
    }

    #[test]
    fn what_cannot_be_said_is_counted_or_refused() {
        let file = || tempfile::tempfile().unwrap();
        let original = trace(50);
        let done = convert(&original, target(None, false), file(), &mut |_| true).unwrap();
        assert_eq!(done.changed, [Noted { reason: "time rounded".into(), rows: 50_000 }]);
        assert_eq!((done.rows, done.written), (100_000, 100_000));
        let text = b"0,h,0,Read,0,4096,1\n1,h,0,Read,0,512,1\n2,h,0,Read,0,4096,1\n".to_vec();
        let short = Trace::from_bytes("t", text, &TraceOptions::of_format("msr")).unwrap();
        let done = convert(&short, target(None, false), file(), &mut |_| true).unwrap();
        assert_eq!(done.dropped, [Noted { reason: "half a KiB".into(), rows: 1 }]);
        assert_eq!((done.rows, done.written), (3, 2));
        let refused = convert(&original, target(None, true), file(), &mut |_| true).unwrap_err();
        assert_eq!(refused.to_string(), "t.csv:2: this request would be changed in format toy: time rounded");
    }

    /// Cut off, of another volume or dropped: what comes before the first record written moves no record against another.
    #[test]
    fn times_count_from_the_first_record_written() {
        let convert_part = |text: &str, start: u64, only: Option<&str>, exact: bool| {
            let start = Some(SimDuration(start));
            let options =
                TraceOptions { start, only: only.map(Into::into), ..TraceOptions::of_format("msr") };
            let part = Trace::from_bytes("t", text.as_bytes().to_vec(), &options).unwrap();
            let file = tempfile::NamedTempFile::new().unwrap();
            let done = convert(&part, target(None, exact), file.reopen().unwrap(), &mut |_| true).unwrap();
            // Whoever reads it back counts from its first row in any case: it is the row itself that has to say 0.
            let written = fs::read_to_string(file.path()).unwrap();
            assert!(written.starts_with("0,h,"), "{written}");
            (done, records(&part), records(&Trace::open_file(file.path(), "msr").unwrap()))
        };
        let text = "0,h,0,Read,0,512,1\n7,h,1,Read,0,4096,1\n9,h,1,Write,0,4096,1\n20,h,0,Read,0,4096,1\n";
        let of = |start, only, exact| {
            let (done, read, back) = convert_part(text, start, only, exact);
            let hash = |records: &[TraceRecord], origin_ns: u64| {
                let mut hash = TraceHash::default();
                records.iter().for_each(|record| {
                    hash.add(&TraceRecord { time_ns: record.time_ns - origin_ns, ..*record });
                });
                hash.text()
            };
            let dropped = read.len() - back.len();
            assert_eq!(hash(&back, 0), hash(&read[dropped..], read[dropped].time_ns), "{start} {only:?}");
            (done.first_ns, back.iter().map(|record| record.time_ns).collect::<Vec<_>>())
        };
        assert_eq!(of(0, None, false), (700, vec![0, 200, 1300]), "the first is dropped");
        assert_eq!(of(100, None, true), (700, vec![0, 200, 1300]), "the first is cut off");
        assert_eq!(of(700, None, true), (700, vec![0, 200, 1300]), "just there");
        assert_eq!(of(0, Some("1"), true), (700, vec![0, 200]), "others are of another volume");
        let (done, read, back) = convert_part(&text[text.find('7').unwrap()..], 0, None, true);
        assert_eq!((done.first_ns, read), (0, back));
    }

    /// Behind a first row without one, too: the file has its columns from its first row on.
    #[test]
    fn placement_handles_go_along_or_are_said_to_be_lost() {
        let text = "op,offset,size,handle\nW,0,512,\nW,512,512,0\nR,0,512,5\nW,0,512,3\nW,0,512,3\n";
        let columns = Some("op,offset,size,handle".parse().unwrap());
        let options = TraceOptions { columns, ..TraceOptions::default() };
        let original = Trace::from_bytes("t", text.as_bytes().to_vec(), &options).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let to = |name: &str, exact: bool| {
            let path = folder.path().join(name);
            let target = Target::new(name.strip_suffix(".csv"), &path, exact).unwrap();
            (convert(&original, target, File::create(&path).unwrap(), &mut |_| true), path)
        };
        let (done, path) = to("t.parquet", true);
        assert_eq!(done.unwrap().rows, 5);
        let back = Trace::open_file(&path, "harmonia").unwrap();
        assert_eq!(records(&back), records(&original));
        let handles: Vec<_> =
            records(&back).iter().map(|record| record.handle.map(|handle| handle.number())).collect();
        assert_eq!(handles, [None, Some(0), None, Some(3), Some(3)]);
        let told = crate::Handles { writes: 3, different: 2, highest: 3 };
        assert_eq!(
            (back.info().unwrap().handles, original.info().unwrap().handles),
            (Some(told), Some(told))
        );
        assert_eq!(trace(100).info().unwrap().handles, None);
        let (lost, _) = to("msr.csv", false);
        let reason = "the format has no placement handles".into();
        assert_eq!(lost.unwrap().changed, [Noted { reason, rows: 3 }]);
        let (refused, _) = to("msr.csv", true);
        let words = "t:3: this request would be changed in format msr: the format has no placement handles";
        assert_eq!(refused.unwrap_err().to_string(), words);
    }

    /// A column in which no row has a handle is none.
    #[test]
    fn a_column_without_a_handle_is_not_written() {
        let write = |text: &str, columns: &str| {
            let columns = Some(columns.parse().unwrap());
            let options = TraceOptions { columns, ..TraceOptions::default() };
            let trace = Trace::from_bytes("t", text.as_bytes().to_vec(), &options).unwrap();
            let file = tempfile::NamedTempFile::new().unwrap();
            let target = Target::new(None, Path::new("t.parquet"), true).unwrap();
            convert(&trace, target, file.reopen().unwrap(), &mut |_| true).unwrap();
            fs::read(file.path()).unwrap()
        };
        let without = write("W,0,512\nR,0,512\n", "op,offset,size");
        assert_eq!(write("W,0,512,\nR,0,512,1\n", "op,offset,size,handle"), without);
        assert_ne!(write("W,0,512,1\nR,0,512,\n", "op,offset,size,handle"), without);
    }

    #[test]
    fn it_stops_when_told_to() {
        let mut asked = Vec::new();
        let stopped = convert(&trace(100), target(None, true), tempfile::tempfile().unwrap(), &mut |rows| {
            asked.push(rows);
            false
        });
        assert!(matches!(stopped, Err(ConvertError::Stopped)));
        assert_eq!(asked, [ASK_EVERY]);
    }

    /// /dev/full takes nothing: the buffer is only written when the output is finished.
    #[cfg(target_os = "linux")]
    #[test]
    fn a_full_disk_is_noticed_at_the_last_byte() {
        for packing in [None, Some(Packing::Gzip), Some(Packing::Zstd)] {
            let line = b"0,h,0,Read,0,4096,1\n".to_vec();
            let short = Trace::from_bytes("t", line, &TraceOptions::of_format("msr")).unwrap();
            let full = File::options().write(true).open("/dev/full").unwrap();
            let error = convert(&short, target(packing, true), full, &mut |_| true).unwrap_err();
            assert!(matches!(error, ConvertError::Output(_)), "{error}");
        }
    }

    #[test]
    fn the_target_is_named_or_told_by_the_extension() {
        let to = |format: Option<&str>, path: &str| {
            Target::among(&THREE, format, Path::new(path), false)
                .map(|target| (target.format.name, target.packing))
        };
        assert_eq!(to(Some("toy"), "a.csv.gz"), Ok(("toy", Some(Packing::Gzip))));
        assert_eq!(to(Some("toy"), "a.ZST"), Ok(("toy", Some(Packing::Zstd))));
        assert_eq!(to(None, "a.parquet"), Ok(("harmonia", None)));
        assert!(to(None, "a.csv").unwrap_err().contains("choose one of toy, harmonia"));
        assert!(to(Some("toyy"), "a").unwrap_err().contains("`toyy` is not a trace format"));
        assert!(to(Some("mute"), "a").unwrap_err().contains("read only"));
        assert!(to(Some("harmonia"), "a.gz").unwrap_err().contains("packs by itself"));
    }
}
