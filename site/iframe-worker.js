// A page that is opened as a file may start no worker, and the search is one. This class runs its script in a hidden frame instead.
// The offline plugin would load such a class from another host; it takes a script with this name instead.
class FrameWorker extends EventTarget {
  constructor(url) {
    super();
    const frame = document.createElement("iframe");
    frame.hidden = true;
    document.body.append(frame);
    this.inside = frame.contentWindow;
    this.inside.postMessage = (data) => this.dispatchEvent(new MessageEvent("message", { data }));
    const script = this.inside.document.createElement("script");
    script.src = new URL(url, location);
    this.loaded = new Promise((done) => script.addEventListener("load", done));
    this.inside.document.body.append(script);
  }

  postMessage(data) {
    this.loaded.then(() => this.inside.dispatchEvent(new this.inside.MessageEvent("message", { data })));
  }
}

if (location.protocol === "file:") window.Worker = FrameWorker;
