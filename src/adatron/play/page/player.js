// Which frame is shown: play, pause, step, speed.

const SPEEDS = [1, 2, 5, 10, 20, 40, 60];

export class Player {
  /** `length()` is the number of frames so far, `isComplete()` whether more will come. */
  constructor(length, isComplete, onShow) {
    Object.assign(this, { length, isComplete, onShow });
    this.clock = 0; // the frame that is shown, with a fraction
    this.isPlaying = true;
    this.shown = 0; // frames drawn since the last start, and when that was: tests ask how many a second
    this.since = performance.now();
    this.parts = Object.fromEntries(
      ["restart", "back", "play", "step", "position", "speed"].map((id) => [id, document.getElementById(id)]));
    this.speedSaid = document.getElementById("speed-said");
    const { restart, back, play, step, position, speed } = this.parts;
    speed.value = SPEEDS.indexOf(20);
    restart.addEventListener("click", () => this.go(0));
    back.addEventListener("click", () => this.go(this.index - 1));
    step.addEventListener("click", () => this.go(this.index + 1));
    play.addEventListener("click", () => this.toggle());
    position.addEventListener("input", () => this.go(Number(position.value)));
    speed.addEventListener("input", () => this.showControls());
    this.lastTime = null;
    requestAnimationFrame((time) => this.tick(time));
    this.showControls();
  }

  get index() { return Math.max(0, Math.min(Math.floor(this.clock), this.length() - 1)); }

  get fps() {
    const at = Number(this.parts.speed.value), low = Math.floor(at);
    return at === low ? SPEEDS[low] : Math.round(Math.sqrt(SPEEDS[low] * SPEEDS[low + 1]));
  }

  /** Begin again, playing; who wants no motion gets the last frame when it is there, and may still press play. */
  start({ isAsked = false } = {}) {
    this.clock = 0;
    this.isPlaying = isAsked || !matchMedia("(prefers-reduced-motion: reduce)").matches;
    this.shown = 0;
    this.since = performance.now();
    this.showControls();
  }

  /** Show one frame and pause. */
  go(index) {
    this.isPlaying = false;
    this.clock = Math.max(0, Math.min(index, this.length() - 1));
    this.onShow();
    this.showControls();
  }

  /** All frames have arrived. */
  complete() {
    if (!this.isPlaying && this.shown === 0 && this.clock === 0) this.go(this.length() - 1);
  }

  toggle() {
    const isAtEnd = this.isComplete() && this.index >= this.length() - 1;
    if (!this.isPlaying && isAtEnd) this.start({ isAsked: true });
    else this.isPlaying = !this.isPlaying;
    this.showControls();
  }

  tick(time) {
    const seconds = this.lastTime === null ? 0 : Math.min((time - this.lastTime) / 1000, 0.25);
    this.lastTime = time;
    if (this.isPlaying && this.length() > 0) {
      const before = this.index, last = this.length() - 1;
      this.clock = Math.min(this.clock + seconds * this.fps, last + 0.999);
      if (this.index !== before) {
        this.shown += 1;
        this.onShow();
      }
      if (this.isComplete() && this.index >= last) this.isPlaying = false;
      this.showControls();
    }
    requestAnimationFrame((next) => this.tick(next));
  }

  showControls() {
    const { play, position, back, step } = this.parts, last = Math.max(this.length() - 1, 0);
    const isOver = this.isComplete() && this.index >= last;
    const text = this.isPlaying ? "⏸ Pause" : isOver ? "↻ Again" : "▶ Play";
    if (play.textContent !== text) play.textContent = text;
    document.body.dataset.playing = this.isPlaying;
    position.max = last;
    position.value = this.index;
    back.disabled = this.index === 0;
    step.disabled = this.index >= last;
    this.speedSaid.textContent = `${this.fps}/s`;
    this.parts.speed.setAttribute("aria-valuetext", `${this.fps} frames a second`);
    position.setAttribute("aria-valuetext", `epoch ${document.getElementById("at").textContent}`);
  }
}
