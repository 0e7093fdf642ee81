// Lanes of write caches, on pages that have any: how full they are on average, and the fullest.

LANES.push({ name: "slots of write caches held, %, mean of SSDs", of: "cacheMean", unit: (value) => filled(value, "of write caches held") });
if (data.runs.some(({ overTime }) => overTime.caches?.length > 1)) {
  LANES.push({ name: "slots of write caches held, %, fullest SSD", of: "cacheMost", unit: (value) => filled(value, "in the fullest") });
}

const filled = (value, what) => (value === undefined ? "no write cache" : `${digits(value)}% ${what}`);

// Means over the buckets of one SSD, of which the last ends with the run; buckets of another may be wider or narrower. Buckets without a share,
// in which it was no part of the array, are left out; undefined if there are no others.
function filledBetween({ width, filled: shares }, start, end, length) {
  let [sum, time] = [0, 0];
  for (let bucket = Math.min(Math.floor(start / width), shares.length - 1); bucket < shares.length && bucket * width < end; bucket += 1) {
    if (shares[bucket] === null) continue;
    const until = bucket === shares.length - 1 ? Math.max(end, length) : (bucket + 1) * width;
    const shared = Math.max(Math.min(end, until) - Math.max(start, bucket * width), 0);
    [sum, time] = [sum + shares[bucket] * shared, time + shared];
  }
  return time > 0 ? sum / time : undefined;
}

for (const { overTime: { ssds, caches, length } } of data.runs) {
  for (const series of ssds) {
    const shares = series.empty.map((_, bucket) => {
      const [start, end] = [bucket * series.width, Math.max(Math.min((bucket + 1) * series.width, length), bucket * series.width + 1)];
      return (caches ?? []).map((cache) => filledBetween(cache, start, end, length)).filter((share) => share !== undefined).map((share) => share * 100);
    });
    const ofAll = (of) => (caches ? shares.map((all) => (all.length > 0 ? of(all) : undefined)) : []);
    series.cacheMean = ofAll((all) => all.reduce((sum, share) => sum + share, 0) / all.length);
    series.cacheMost = ofAll((all) => Math.max(...all));
  }
}
