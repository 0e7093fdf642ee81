//! A table as a Parquet file, which DuckDB, polars and pandas read.

use std::io::{self, Write};
use std::path::Path;
use std::sync::Arc;

use harmonia_scenario::files::refuse_irregular;
use parquet::basic::{Compression, LogicalType, Repetition, Type};
use parquet::data_type::{ByteArray, ByteArrayType, DoubleType, Int64Type};
use parquet::errors::{ParquetError, Result};
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::types::{Type as SchemaType, TypePtr};

use crate::store::temporary;
use crate::table::{Column, Kind, Table, Value};

/// Writes the table, whole or not at all.
///
/// # Errors
/// If it cannot be written, or something stands there that is no regular file.
pub fn write(table: &Table, target: &Path) -> io::Result<()> {
    let folder = target.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    refuse_irregular(target)?;
    let mut file = temporary(folder)?;
    file.write_all(&encode(table).map_err(|error| io::Error::other(error.to_string()))?)?;
    file.as_file().sync_all()?;
    refuse_irregular(target)?;
    file.persist(target).map_err(|error| error.error)?;
    Ok(())
}

/// The bytes of the file.
fn encode(table: &Table) -> Result<Vec<u8>> {
    let properties = WriterProperties::builder()
        .set_compression(Compression::LZ4_RAW)
        .set_created_by(format!("harmonia {}", env!("CARGO_PKG_VERSION")))
        .build();
    let mut bytes = Vec::new();
    let mut writer = SerializedFileWriter::new(&mut bytes, schema(table)?, Arc::new(properties))?;
    if table.rows() > 0 {
        let mut group = writer.next_row_group()?;
        table.columns.iter().try_for_each(|column| encode_column(&mut group, column))?;
        group.close()?;
    }
    writer.close()?;
    Ok(bytes)
}

fn schema(table: &Table) -> Result<TypePtr> {
    let field = |column: &Column| {
        let (physical, logical) = match column.kind {
            Kind::Integer => (Type::INT64, Some(LogicalType::integer(64, is_signed(column)))),
            Kind::Number => (Type::DOUBLE, None),
            Kind::Text => (Type::BYTE_ARRAY, Some(LogicalType::String)),
        };
        SchemaType::primitive_type_builder(&column.name, physical)
            .with_repetition(Repetition::OPTIONAL)
            .with_logical_type(logical)
            .build()
            .map(Arc::new)
    };
    let fields = table.columns.iter().map(field).collect::<Result<_>>()?;
    SchemaType::group_type_builder("harmonia").with_fields(fields).build().map(Arc::new)
}

/// Signed where it can be, so that differences of counts may be negative; seeds need not be below 2^63.
fn is_signed(column: &Column) -> bool {
    column.values.iter().filter_map(whole).all(|value| value >= 0)
}

fn encode_column<W: Write + Send>(
    group: &mut SerializedRowGroupWriter<'_, W>,
    column: &Column,
) -> Result<()> {
    let few = || ParquetError::General("the table has fewer columns than its rows".into());
    let mut writer = group.next_column()?.ok_or_else(few)?;
    let there: Vec<i16> = column.values.iter().map(|value| i16::from(*value != Value::Null)).collect();
    match column.kind {
        Kind::Integer => {
            let values: Vec<i64> = column.values.iter().filter_map(whole).collect();
            writer.typed::<Int64Type>().write_batch(&values, Some(&there), None)?;
        }
        Kind::Number => {
            let values: Vec<f64> = column.values.iter().filter_map(number).collect();
            writer.typed::<DoubleType>().write_batch(&values, Some(&there), None)?;
        }
        Kind::Text => {
            let values: Vec<ByteArray> = column.values.iter().filter_map(text).collect();
            writer.typed::<ByteArrayType>().write_batch(&values, Some(&there), None)?;
        }
    }
    writer.close()
}

fn whole(value: &Value) -> Option<i64> {
    match value {
        Value::Integer(value) => Some(value.cast_signed()),
        _ => None,
    }
}

fn number(value: &Value) -> Option<f64> {
    match value {
        Value::Number(value) => Some(*value),
        _ => None,
    }
}

fn text(value: &Value) -> Option<ByteArray> {
    match value {
        Value::Text(value) => Some(ByteArray::from(value.as_str())),
        _ => None,
    }
}
