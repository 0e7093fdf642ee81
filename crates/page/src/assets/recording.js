// Reads what encode.rs wrote: recordings as Base64, each only when it is asked for.

class Reader {
  constructor(base64) {
    const text = atob(base64);
    this.bytes = new Uint8Array(text.length);
    for (let i = 0; i < text.length; i++) this.bytes[i] = text.charCodeAt(i);
    this.at = 0;
  }

  // Plain arithmetic: shifts would cut numbers off at 32 bits.
  integer() {
    let value = 0;
    let scale = 1;
    for (;;) {
      const byte = this.bytes[this.at++];
      value += (byte & 127) * scale;
      if (byte < 128) return value;
      scale *= 128;
    }
  }

  take(length) {
    this.at += length;
    return this.bytes.subarray(this.at - length, this.at);
  }
}

const PARTS = data.parts.length;
const partNamed = (name) => data.parts.findIndex((part) => part.name === name);
const GC_PART = partNamed("GC queue");
const REBUILD_PART = partNamed("rebuild wait");
const decoded = new Map();

// The recording of a run, or null if none was kept.
function recordingOf(run) {
  if (!data.runs[run].recording) return null;
  if (!decoded.has(run)) decoded.set(run, decode(data.runs[run].recording, byId(`recording-${run}`).textContent));
  return decoded.get(run);
}

function decode(header, base64) {
  const reader = new Reader(base64);
  const levels = header.widths.map((width) => {
    const length = reader.integer();
    const counts = Float64Array.from({ length }, () => reader.integer());
    return { width, counts, p50: reader.take(length), p99: reader.take(length), max: reader.take(length) };
  });
  const requests = decodeRequests(reader);
  const gc = Array.from({ length: header.members }, () => decodeIntervals(reader));
  const windows = header.windows.map((window) => ({
    ...window,
    gc: window.exact ? Array.from({ length: header.members }, () => decodeIntervals(reader)) : null,
  }));
  return { ...header, levels, requests, gc, windows };
}

function decodeRequests(reader) {
  const length = reader.integer();
  const columns = { length, id: new Float64Array(length), arrival: new Float64Array(length), response: new Float64Array(length),
    bytes: new Float64Array(length), flags: new Uint8Array(length), blame: new Float64Array(length * PARTS),
    gcMember: new Int32Array(length).fill(-1), gcWait: new Float64Array(length) };
  let id = 0;
  let arrival = 0;
  for (let i = 0; i < length; i++) {
    columns.id[i] = id += reader.integer();
    columns.arrival[i] = arrival += reader.integer();
    columns.flags[i] = reader.bytes[reader.at++];
    columns.bytes[i] = reader.integer();
    const present = reader.integer();
    let response = 0;
    for (let part = 0; part < PARTS; part++) {
      if (present & (1 << part)) response += columns.blame[i * PARTS + part] = reader.integer();
    }
    columns.response[i] = response;
    if (present & (1 << GC_PART)) {
      columns.gcMember[i] = reader.integer() - 1;
      columns.gcWait[i] = columns.blame[i * PARTS + GC_PART] - reader.integer();
    }
  }
  return columns;
}

function decodeIntervals(reader) {
  const length = reader.integer();
  const spans = { length, start: new Float64Array(length), end: new Float64Array(length), busy: new Float64Array(length) };
  let reached = 0;
  for (let i = 0; i < length; i++) {
    spans.start[i] = reached += reader.integer();
    const size = reader.integer();
    spans.end[i] = reached += size;
    spans.busy[i] = size > 0 ? 1 - reader.integer() / size : (reader.integer(), 1);
  }
  return spans;
}

// The middle of a cell of response times, in nanoseconds.
function cellTime(cell, { cellsPerOctave, firstOctave }) {
  const octave = Math.floor(cell / cellsPerOctave) + firstOctave;
  return 2 ** octave * (1 + ((cell % cellsPerOctave) + 0.5) / cellsPerOctave);
}

// Index of the first element that is not below a value, in a rising array.
function firstAtLeast(array, value) {
  let low = 0;
  let high = array.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (array[middle] < value) low = middle + 1;
    else high = middle;
  }
  return low;
}

const OPERATIONS = ["read", "write", "trim", "flush"];
const operationOf = (flags) => OPERATIONS[flags & 3];
// A page operation of it met a collection of its die; that need not have kept it waiting.
const metGc = (flags) => (flags & 4) !== 0;
// It waited for garbage collection, wherever that was.
const isGcAffected = ({ blame }, index) => blame[index * PARTS + GC_PART] > 0;
const isSlowest = (flags) => (flags & 16) !== 0;
