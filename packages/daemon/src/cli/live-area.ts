const intervalMs = 1000;

interface LiveAreaOptions {
  write(text: string): void;
  /** Returns the lines as they are now, each narrower than the terminal. */
  format(): string[];
}

/** Lines at the end of a terminal that are drawn again as they change. */
export class LiveArea {
  private readonly options: LiveAreaOptions;
  private drawnCount = 0;
  private timer: NodeJS.Timeout | undefined;

  constructor(options: LiveAreaOptions) {
    this.options = options;
  }

  draw(): void {
    this.erase();
    const lines = this.options.format();
    this.drawnCount = lines.length;
    if (lines.length === 0) return this.stop();
    this.options.write(`${lines.join("\n")}\n`);
    this.timer ??= setInterval(() => this.draw(), intervalMs).unref();
  }

  erase(): void {
    if (this.drawnCount > 0) this.options.write(`\u001b[${this.drawnCount}A\r\u001b[J`);
    this.drawnCount = 0;
  }

  stop(): void {
    this.erase();
    clearInterval(this.timer);
    this.timer = undefined;
  }
}
