// Makes the search work on pages from the file system, where browsers start no workers. A hidden frame runs the
// worker's script instead and forwards messages.
// SPDX-License-Identifier: Apache-2.0
if (location.protocol === "file:") {
  window.IFrameWorker = class extends EventTarget {
    constructor(url) {
      super();
      const frame = document.createElement("iframe");
      frame.hidden = true;
      frame.triadAnswer = (data) => this.dispatchEvent(new MessageEvent("message", {data}));
      frame.srcdoc = "<script>self.postMessage = (data) => frameElement.triadAnswer(data)</script>" +
          `<script src="${new URL(url, location.href)}"></script>`;
      this.loaded = new Promise((resolve) => frame.addEventListener("load", resolve, {once: true}));
      this.frame = frame;
      if (document.body) document.body.append(frame);
      else addEventListener("DOMContentLoaded", () => document.body.append(frame));
    }
    postMessage(data) {
      this.loaded.then(() => {
        const inside = this.frame.contentWindow;
        inside.dispatchEvent(new inside.MessageEvent("message", {data}));
      });
    }
    terminate() {
      this.frame.remove();
    }
  };
  window.Worker = window.IFrameWorker;
}
