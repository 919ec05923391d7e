const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { ignoreBOM: true, fatal: false });
const strictDecoder = new TextDecoder("utf-8", { ignoreBOM: true, fatal: true });

// oxlint-disable-next-line no-control-regex -- NUL is part of ASCII
const ascii = /^[\0-\x7f]*$/;

/** Fetches the content of a file that was not sent along. */
export type ContentSource = (path: string) => Promise<string | Uint8Array>;

/** The immutable content of a file, converted between its forms on demand. */
export class FileBody {
  #text: string | undefined;
  /** A string in which each character is a byte. */
  #latin: string | undefined;
  #bytes: Uint8Array | undefined;
  #size: number | undefined;
  /** The path to fetch the content from, if it was not sent along. */
  readonly #remotePath: string | undefined;
  /** Whether it is known not to be text. */
  readonly isBinary: boolean;

  private constructor(forms: {
    text?: string;
    latin?: string;
    bytes?: Uint8Array;
    size?: number;
    remotePath?: string;
    isBinary?: boolean;
  }) {
    this.#text = forms.text;
    this.#latin = forms.latin;
    this.#bytes = forms.bytes;
    this.#size = forms.size;
    this.#remotePath = forms.remotePath;
    this.isBinary = forms.isBinary ?? false;
  }

  static of(content: string | Uint8Array): FileBody {
    return typeof content === "string" ? new FileBody({ text: content }) : new FileBody({ bytes: content });
  }

  /** Takes a string in which each character is a byte. */
  static ofLatin(latin: string): FileBody {
    return new FileBody({ latin, size: latin.length });
  }

  /** Creates a body whose content is fetched when it is first read. */
  static ofRemote(path: string, size: number, isBinary = false): FileBody {
    return new FileBody({ remotePath: path, size, isBinary });
  }

  get isLoaded(): boolean {
    return this.#text !== undefined || this.#latin !== undefined || this.#bytes !== undefined;
  }

  /** In bytes. */
  get size(): number {
    return (this.#size ??= this.#bytes?.length ?? this.latin().length);
  }

  async load(source: ContentSource): Promise<void> {
    if (this.isLoaded || this.#remotePath === undefined) return;
    const content = await source(this.#remotePath);
    if (typeof content === "string") this.#text = content;
    else this.#bytes = content;
    this.#size = undefined;
  }

  /** Drops content that can be fetched again. */
  unload(): void {
    if (this.#remotePath === undefined) return;
    this.#size = this.size;
    this.#text = this.#latin = this.#bytes = undefined;
  }

  text(): string {
    if (this.#text !== undefined) return this.#text;
    if (this.#latin !== undefined && ascii.test(this.#latin)) return (this.#text = this.#latin);
    return (this.#text = decoder.decode(this.bytes()));
  }

  latin(): string {
    if (this.#latin !== undefined) return this.#latin;
    if (this.#text !== undefined && ascii.test(this.#text)) return (this.#latin = this.#text);
    return (this.#latin = toLatin(this.bytes()));
  }

  bytes(): Uint8Array {
    if (this.#bytes !== undefined) return this.#bytes;
    if (this.#latin === undefined) {
      if (this.#text === undefined) throw new Error("EIO: i/o error, the content is not loaded");
      return (this.#bytes = encoder.encode(this.#text));
    }
    return (this.#bytes = fromLatin(this.#latin));
  }

  /** Returns the content as a workspace stores it: a string if it is text. */
  content(): string | Uint8Array {
    if (this.#text !== undefined && this.#bytes === undefined && this.#latin === undefined)
      return this.#text.isWellFormed() ? this.#text : this.bytes();
    const latin = this.#latin;
    if (latin !== undefined && ascii.test(latin)) return latin.includes("\0") ? this.bytes() : latin;
    try {
      const text = strictDecoder.decode(this.bytes());
      return text.includes("\0") ? this.bytes() : text;
    } catch {
      return this.bytes();
    }
  }

  /** Returns false if the content is not loaded. */
  startsWith(text: string): boolean {
    if (this.#text !== undefined) return this.#text.startsWith(text);
    if (this.#latin !== undefined) return this.#latin.startsWith(text);
    return this.#bytes !== undefined && toLatin(this.#bytes.subarray(0, text.length)) === text;
  }

  isSameAs(other: FileBody): boolean {
    if (this === other) return true;
    if (!this.isLoaded || !other.isLoaded || this.size !== other.size) return false;
    return this.latin() === other.latin();
  }
}

export function toLatin(bytes: Uint8Array): string {
  let text = "";
  for (let at = 0; at < bytes.length; at += 32_768) text += String.fromCharCode(...bytes.subarray(at, at + 32_768));
  return text;
}

export function fromLatin(latin: string): Uint8Array {
  const bytes = new Uint8Array(latin.length);
  for (let at = 0; at < latin.length; at++) bytes[at] = latin.charCodeAt(at);
  return bytes;
}

/** Encodes text as UTF-8 in a string in which each character is a byte. */
export function encodeLatin(text: string): string {
  return ascii.test(text) ? text : toLatin(encoder.encode(text));
}
