//! Columns of numbers that grow row by row and become Arrow arrays as they are.
//!
//! A vector of numbers *is* the buffer of an Arrow array, so nothing is copied at the end. A column that was 0 in all
//! rows takes memory only once somebody reads it: many loads have no parity, no rebuild and no link.

use std::sync::Arc;

use arrow_array::types::{Int8Type, Int64Type, UInt64Type};
use arrow_array::{
    ArrayRef, BooleanArray, DictionaryArray, Int8Array, PrimitiveArray, RecordBatch, StringArray,
};
use arrow_buffer::{BooleanBufferBuilder, Buffer, NullBuffer, ScalarBuffer};
use arrow_schema::{ArrowError, DataType, Field, Schema};
use harmonia_metrics::rows::{Kind, NULL, OPERATIONS, Rows};

/// Rows of one table of one run.
pub(crate) struct Builder {
    rows: &'static Rows,
    columns: Vec<Column>,
    pub count: usize,
}

enum Column {
    /// With the type of the numbers.
    Numbers(Numbers, DataType),
    /// Numbers, some of which are missing.
    Optional(Numbers, BooleanBufferBuilder),
    Flags(BooleanBufferBuilder),
    Operations(Vec<i8>),
}

/// Numbers of which the first may all be 0.
#[derive(Default)]
struct Numbers {
    /// So many zeros, if there are no values.
    zeros: usize,
    values: Vec<i64>,
}

impl Builder {
    pub fn new(rows: &'static Rows) -> Self {
        let columns = rows.columns.iter().map(|(_, kind)| Column::new(*kind)).collect();
        Builder { rows, columns, count: 0 }
    }

    pub fn push<const N: usize>(&mut self, row: [i64; N]) {
        for (column, value) in self.columns.iter_mut().zip(row) {
            column.push(value);
        }
        self.count += 1;
    }

    /// All rows as one batch.
    pub fn finish(self) -> Result<RecordBatch, ArrowError> {
        let arrays = self.columns.into_iter().map(Column::finish).collect();
        RecordBatch::try_new(Arc::new(schema(self.rows)), arrays)
    }
}

/// What a table of these rows looks like.
pub(crate) fn schema(rows: &Rows) -> Schema {
    Schema::new(rows.columns.iter().map(|(name, kind)| field(name, *kind)).collect::<Vec<_>>())
}

fn field(name: &str, kind: Kind) -> Field {
    let of = match kind {
        Kind::Integer | Kind::Optional => DataType::Int64,
        Kind::Unsigned => DataType::UInt64,
        Kind::Flag => DataType::Boolean,
        Kind::Operation => words(),
        Kind::Text => DataType::Utf8,
    };
    Field::new(name, of, kind == Kind::Optional)
}

/// The type of a column that has few different words.
pub(crate) fn words() -> DataType {
    DataType::Dictionary(Box::new(DataType::Int8), Box::new(DataType::Utf8))
}

/// Operations by their numbers in a row.
pub(crate) fn operations(codes: Vec<i8>) -> ArrayRef {
    let names = Arc::new(StringArray::from_iter_values(OPERATIONS));
    Arc::new(DictionaryArray::<Int8Type>::new(Int8Array::new(codes.into(), None), names))
}

impl Column {
    fn new(kind: Kind) -> Self {
        match kind {
            Kind::Integer => Column::Numbers(Numbers::default(), DataType::Int64),
            Kind::Unsigned => Column::Numbers(Numbers::default(), DataType::UInt64),
            Kind::Optional => Column::Optional(Numbers::default(), BooleanBufferBuilder::new(0)),
            Kind::Flag => Column::Flags(BooleanBufferBuilder::new(0)),
            Kind::Operation => Column::Operations(Vec::new()),
            Kind::Text => unreachable!("no row has a text"),
        }
    }

    fn push(&mut self, value: i64) {
        match self {
            Column::Numbers(numbers, _) => numbers.push(value),
            Column::Optional(numbers, there) => {
                there.append(value != NULL);
                numbers.push(if value == NULL { 0 } else { value });
            }
            Column::Flags(flags) => flags.append(value != 0),
            Column::Operations(codes) => codes.push(value as i8),
        }
    }

    fn finish(self) -> ArrayRef {
        match self {
            Column::Numbers(numbers, DataType::UInt64) => numbers.unsigned(),
            Column::Numbers(numbers, _) => Arc::new(numbers.signed(None)),
            Column::Optional(numbers, mut there) => {
                Arc::new(numbers.signed(Some(NullBuffer::new(there.finish()))))
            }
            Column::Flags(mut flags) => Arc::new(BooleanArray::new(flags.finish(), None)),
            Column::Operations(mut codes) => {
                codes.shrink_to_fit();
                operations(codes)
            }
        }
    }
}

impl Numbers {
    #[inline]
    fn push(&mut self, value: i64) {
        if self.values.is_empty() {
            if value == 0 {
                self.zeros += 1;
                return;
            }
            self.values = vec![0; self.zeros];
        }
        self.values.push(value);
    }

    /// The system hands out zeros as pages that take no memory until they are touched.
    fn into_values(mut self) -> Vec<i64> {
        if self.values.is_empty() {
            return vec![0; self.zeros];
        }
        self.values.shrink_to_fit();
        self.values
    }

    fn signed(self, nulls: Option<NullBuffer>) -> PrimitiveArray<Int64Type> {
        PrimitiveArray::new(ScalarBuffer::from(self.into_values()), nulls)
    }

    fn unsigned(self) -> ArrayRef {
        let values = self.into_values();
        let rows = values.len();
        let values = ScalarBuffer::new(Buffer::from_vec(values), 0, rows);
        Arc::new(PrimitiveArray::<UInt64Type>::new(values, None))
    }
}
