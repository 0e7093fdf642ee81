//! Reading traces, one thread, warm cache: a reader against a bare scan of the same bytes that only finds newlines and
//! commas, a packed file against its decompressor alone plus the plain reader, and memory against the file's length.
//!
//! The floor of a reader is the scan: whoever reads text has to find where its fields end. It uses the vectorised search
//! of the `memchr` crate, as the readers do for lines.

use std::fs::File;
use std::io::{BufWriter, Read, Write};
use std::path::{Path, PathBuf};
use std::time::Instant;

use harmonia_trace::Trace;

use crate::table::{Spread, Tables};

const ROWS: u64 = 2_000_000;
const REPEATS: usize = 7;
/// A decompressor alone fills a buffer of this many bytes again and again.
const BUFFER: usize = 256 << 10;

/// A table of readers.
pub fn bench(tables: &mut Tables) {
    let folder = std::env::temp_dir().join(format!("harmonia-bench-{}", std::process::id()));
    let result = std::fs::create_dir_all(&folder).and_then(|()| table(tables, &folder));
    let _ = std::fs::remove_dir_all(&folder);
    if let Err(error) = result {
        crate::failed(&format!("read traces: {error}"));
    }
}

fn table(tables: &mut Tables, folder: &Path) -> std::io::Result<()> {
    tables.section("reading 2 M rows");
    for (format, row) in [("msr", msr as fn(&mut dyn Write, u64) -> std::io::Result<()>), ("spc", spc)] {
        let plain = folder.join(format);
        write(&plain, ROWS, row)?;
        let text = std::fs::read(&plain)?;
        let scan = || timed(|| scan(&plain));
        let read = |path: &Path| timed(|| assert_eq!(rows(path, format), ROWS));
        reader(
            tables,
            &format!("{format} reader, rate over that of the bare scan"),
            || (scan(), read(&plain)),
            |s, r| s / r,
        );
        let (gz, zst) = (folder.join(format!("{format}.gz")), folder.join(format!("{format}.zst")));
        std::fs::write(&gz, packed_gz(&text)?)?;
        std::fs::write(&zst, zstd::encode_all(&text[..], 3)?)?;
        for (path, name) in [(&gz, "gz"), (&zst, "zst")] {
            let packed = std::fs::read(path)?;
            let alone = || {
                timed(|| {
                    let unpacked = match name {
                        "gz" => drain(flate2::bufread::MultiGzDecoder::new(&packed[..])),
                        _ => zstd::Decoder::with_buffer(&packed[..]).map_or(0, drain),
                    };
                    assert_eq!(unpacked, text.len());
                })
            };
            let label = format!("{format}.{name}, time over unpacking alone and the plain reader");
            reader(tables, &label, || (alone() + read(&plain), read(path)), |parts, whole| whole / parts);
        }
    }
    memory(tables, folder)
}

/// What `ratio` makes of pairs of times, and the rate of the second.
fn reader(tables: &mut Tables, case: &str, pair: impl Fn() -> (f64, f64), ratio: impl Fn(f64, f64) -> f64) {
    let pairs: Vec<(f64, f64)> = (0..REPEATS).map(|_| pair()).collect();
    let ratios = pairs.iter().map(|&(floor, time)| ratio(floor, time)).collect();
    let time = Spread::of(pairs.iter().map(|pair| pair.1).collect()).median;
    tables.figures(case, None, ratios, Some((ROWS as f64 / time / 1e6, "M rows/s")));
}

fn timed<T>(work: impl FnOnce() -> T) -> f64 {
    let clock = Instant::now();
    std::hint::black_box(work());
    clock.elapsed().as_secs_f64()
}

/// Where newlines and commas are in a file, mapped as the readers map it.
fn scan(path: &Path) -> usize {
    let Ok(file) = File::open(path) else { return 0 };
    // SAFETY: the file is this benchmark's own and nobody changes it.
    let Ok(text) = (unsafe { memmap2::Mmap::map(&file) }) else { return 0 };
    memchr::memchr2_iter(b'\n', b',', &text).fold(0, |sum, place| sum ^ place)
}

/// Reads a trace to its end.
fn rows(path: &Path, format: &str) -> u64 {
    read_all(path, format).unwrap_or_else(|error| panic!("{error}"))
}

fn read_all(path: &Path, format: &str) -> Result<u64, harmonia_trace::TraceError> {
    let mut reader = Trace::open_file(path, format)?.records()?;
    let (mut sum, mut rows) = (0, 0);
    while let Some(record) = reader.next_record()? {
        sum ^= record.offset ^ record.time_ns;
        rows += 1;
    }
    std::hint::black_box(sum);
    Ok(rows)
}

fn drain(mut decoder: impl Read) -> usize {
    let mut buffer = vec![0; BUFFER];
    let mut bytes = 0;
    while let Ok(count @ 1..) = decoder.read(&mut buffer) {
        bytes += count;
    }
    bytes
}

fn packed_gz(text: &[u8]) -> std::io::Result<Vec<u8>> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(text)?;
    encoder.finish()
}

fn write(path: &Path, rows: u64, row: fn(&mut dyn Write, u64) -> std::io::Result<()>) -> std::io::Result<()> {
    let mut file = BufWriter::new(File::create(path)?);
    (0..rows).try_for_each(|index| row(&mut file, index))?;
    file.flush()
}

/// A row as long as those of the traces of MSR Cambridge.
fn msr(out: &mut dyn Write, index: u64) -> std::io::Result<()> {
    let random = index.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let kind = if random.is_multiple_of(3) { "Read" } else { "Write" };
    let (offset, size) = (random % 182_084_181_504 / 512 * 512, (random >> 32) % 128 * 512 + 512);
    let time = 128_166_465_299_039_421 + index * 1000 + random % 1000;
    writeln!(out, "{time},web,3,{kind},{offset},{size},{}", random % 200_000)
}

/// A row as long as those of the Financial traces.
fn spc(out: &mut dyn Write, index: u64) -> std::io::Result<()> {
    let random = index.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let kind = if random.is_multiple_of(3) { "R" } else { "w" };
    let (asu, lba, size) = (random % 22, (random >> 8) % 1_000_000, (random >> 32) % 16 * 512 + 512);
    writeln!(out, "{asu},{lba},{size},{kind},{}.{:06}", index / 1000, index % 1000 * 1000)
}

/// Peak memory of reading a file and one eight times as long, plain and packed, each in a process of its own.
fn memory(tables: &mut Tables, folder: &Path) -> std::io::Result<()> {
    let program = std::env::current_exe()?;
    for kind in ["", ".gz", ".zst"] {
        let mut peaks = Vec::new();
        for rows in [ROWS / 4, ROWS * 2] {
            let path = folder.join(format!("memory{kind}"));
            write(&path, rows, msr)?;
            match kind {
                ".gz" => std::fs::write(&path, packed_gz(&std::fs::read(&path)?)?)?,
                ".zst" => std::fs::write(&path, zstd::encode_all(&std::fs::read(&path)?[..], 3)?)?,
                _ => {}
            }
            let output = std::process::Command::new(&program).arg("read-trace").arg(&path).output()?;
            peaks.push(String::from_utf8_lossy(&output.stdout).trim().parse().unwrap_or(f64::NAN));
        }
        tables.note(format!(
            "Reading 0.5 M and 4 M rows of msr{kind} takes {:.1} and {:.1} MB.",
            peaks[0] / 1e6,
            peaks[1] / 1e6
        ));
    }
    Ok(())
}

/// Reads a trace and prints the peak memory of this process, in bytes.
pub fn print_peak_memory(path: PathBuf) {
    std::hint::black_box(rows(&path, "msr"));
    println!("{}", harmonia_run::peak_rss_bytes());
}
