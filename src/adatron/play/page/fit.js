// A fit on the server: frames arrive line by line while it goes on.

export class Fit {
  /** Ask for a fit; `onNews` is called whenever something has arrived. */
  constructor(machine, points, onNews) {
    this.frames = [];
    this.about = null; // classes, code, Novikoff's bound: what is known before the first epoch
    this.error = "";
    this.ended = false;
    this.aborter = new AbortController();
    this.run(machine, points, onNews);
  }

  get last() { return this.frames[this.frames.length - 1]; }

  cancel() { this.aborter.abort(); }

  async run(machine, points, onNews) {
    try {
      const response = await fetch("fit", {
        method: "POST",
        headers: { "Content-Type": "application/json" },
        body: JSON.stringify({ ...machine, points }),
        signal: this.aborter.signal,
      });
      if (!response.ok) throw new Error((await response.json()).error);
      for await (const line of linesOf(response.body)) {
        this.take(JSON.parse(line));
        onNews();
      }
      if (!this.error && !this.last?.status) throw new Error("the server went away; is adatron play still running?");
    } catch (error) {
      if (error.name === "AbortError") return;
      this.error = error instanceof TypeError ? "the server does not answer; is adatron play still running?" : error.message;
    }
    this.ended = true;
    onNews();
  }

  take(news) {
    if (news.error !== undefined) this.error = news.error;
    else if (this.about === null) this.about = news;
    else {
      news.alpha = unpacked(news.alpha, Uint16Array);
      news.decisions = news.decisions.map((part) => unpacked(part, Int16Array));
      this.frames.push(news);
    }
  }
}

function unpacked({ unit, data }, Kind) {
  const bytes = Uint8Array.from(atob(data), (letter) => letter.charCodeAt(0));
  return Float32Array.from(new Kind(bytes.buffer), (value) => value * unit);
}

async function* linesOf(body) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (let { value, done } = await reader.read(); !done; { value, done } = await reader.read()) {
    const lines = (rest + value).split("\n");
    rest = lines.pop();
    yield* lines;
  }
}
