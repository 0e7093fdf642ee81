// Lanes of write caches, on pages that have any: how full they are on average, and the fullest.

LANES.push({ name: "slots of write caches held, %, mean of SSDs", of: "cacheMean", unit: (value) => filled(value, "of write caches held") });
if (data.runs.some(({ overTime }) => overTime.caches?.length > 1)) {
  LANES.push({ name: "slots of write caches held, %, fullest SSD", of: "cacheMost", unit: (value) => filled(value, "in the fullest") });
}

const filled = (value, what) => (value === undefined ? "no write cache" : `${digits(value)}% ${what}`);

// Means over the buckets of one SSD, of which the last ends with the run; buckets of another may be wider or narrower.
function filledBetween({ width, filled: shares }, start, end, length) {
  let sum = 0;
  for (let bucket = Math.min(Math.floor(start / width), shares.length - 1); bucket < shares.length && bucket * width < end; bucket += 1) {
    const until = bucket === shares.length - 1 ? Math.max(end, length) : (bucket + 1) * width;
    sum += shares[bucket] * Math.max(Math.min(end, until) - Math.max(start, bucket * width), 0);
  }
  return sum / Math.max(end - start, 1);
}

for (const { overTime: { ssds, caches, length } } of data.runs) {
  for (const series of ssds) {
    const shares = series.empty.map((_, bucket) => {
      const [start, end] = [bucket * series.width, Math.max(Math.min((bucket + 1) * series.width, length), bucket * series.width + 1)];
      return (caches ?? []).map((cache) => filledBetween(cache, start, end, length) * 100);
    }).filter((shares) => shares.length > 0);
    series.cacheMean = shares.map((all) => all.reduce((sum, share) => sum + share, 0) / all.length);
    series.cacheMost = shares.map((all) => Math.max(...all));
  }
}
