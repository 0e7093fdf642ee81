// What one request did and waited for, to the nanosecond, and who collected meanwhile.

const requestOf = ({ requests }, id) => {
  const index = firstAtLeast(requests.id, id);
  return requests.id[index] === id ? index : -1;
};

function showRequest(run, index) {
  const recording = recordingOf(run);
  const { requests } = recording;
  const blame = Array.from(requests.blame.subarray(index * PARTS, (index + 1) * PARTS));
  const [arrival, response, flags] = [requests.arrival[index], requests.response[index], requests.flags[index]];
  const node = byId("request");
  node.hidden = false;
  const rows = blame.map((ns, part) => [ns, part]).filter(([ns, part]) => ns > 0 || part < 5).map(([ns, part]) =>
    html("tr", ns > 0 ? {} : { class: "none" }, html("td", {}, partKey(part)), html("td", {}, micros(ns)), html("td", {}, percent(ns / response)), html("td", {}, data.parts[part].meaning)));
  const size = requests.bytes[index];
  node.replaceChildren(
    html("h3", {}, `Request ${count(requests.id[index])} under ${data.runs[run].label} took ${duration(response)}`),
    html("p", {}, `A ${operationOf(flags)}${size > 0 ? ` of ${bytes(size)}` : ""} that arrived ${(arrival / 1e9).toFixed(9)} s into the measured part. ${verdict(blame, response)}`),
    stackedBar(Math.min(node.clientWidth - 34, 720), response, blame, "what the request did and waited for"),
    html("div", { class: "scroll" }, html("table", {}, html("thead", {}, html("tr", {}, ...["part", "µs", "share", "what it is"].map((text) => html("th", {}, text)))),
      html("tbody", {}, ...rows, html("tr", {}, html("td", {}, "sum"), html("td", {}, micros(sum(blame))), html("td", {}, "100%"), html("td", {}, "from arrival to the end of its last operation"))))),
    html("p", {}, `${waitedFor(recording, index, blame[GC_PART])}${collectingDuring(recording, arrival, arrival + response)}`),
    html("p", {}, elsewhere(run, requests.id[index])));
}

const micros = (ns) => (ns / 1e3).toFixed(3).replace(/\B(?=(\d{3})+\.)/g, ",");

function bytes(size) {
  const units = ["B", "KiB", "MiB", "GiB"];
  let unit = 0;
  while (size >= 1024 && unit < 3) [size, unit] = [size / 1024, unit + 1];
  return `${Number.isInteger(size) ? size : size.toFixed(1)} ${units[unit]}`;
}

function verdict(blame, response) {
  const part = blame.indexOf(Math.max(...blame));
  return `Most of it, ${percent(blame[part] / response)}, was ${data.parts[part].meaning}.`;
}

// Whose collection held it up, and for how long where it waited for others too. Behind the members stands the journal.
function waitedFor({ requests, members }, index, all) {
  const [member, wait] = [requests.gcMember[index], requests.gcWait[index]];
  if (member < 0) return "";
  const whose = member < members ? `SSD ${member}` : "the journal";
  if (wait === all) return `It waited ${duration(wait)} for garbage collection of ${whose}. `;
  return `It waited ${duration(all)} for garbage collection, longest for that of ${whose}: ${duration(wait)}. `;
}

// Which devices collected between two moments; only said where intervals are exact.
function collectingDuring(recording, from, to) {
  const window = recording.windows.find((window) => window.gc && window.from <= from && window.to >= to);
  const lanes = window ? window.gc : recording.gap === 0 ? recording.gc : null;
  if (!lanes) return "Which SSDs collected meanwhile is kept only roughly here; it is exact in the tinted windows.";
  const busy = lanes.map((spans, member) => {
    let time = 0;
    for (let i = firstAtLeast(spans.end, from); i < spans.length && spans.start[i] < to; i++) time += Math.min(spans.end[i], to) - Math.max(spans.start[i], from);
    return [member, time];
  }).filter(([, time]) => time > 0);
  if (busy.length === 0) return "No SSD collected garbage meanwhile.";
  return `Collecting meanwhile: ${busy.map(([member, time]) => `SSD ${member} for ${duration(time)}`).join(", ")}. (Not all of them need have been in this request's way.)`;
}

function elsewhere(run, id) {
  const others = data.runs.map((other, index) => {
    if (index === run || other.seed !== data.runs[run].seed) return null;
    const recording = recordingOf(index);
    const found = recording ? requestOf(recording, id) : -1;
    return found < 0 ? null : `${other.label} ${duration(recording.requests.response[found])}`;
  }).filter(Boolean);
  return others.length > 0 ? `The same request elsewhere: ${others.slice(0, 8).join(" · ")}.` : "";
}
