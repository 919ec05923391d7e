import type { Change, TextPatch } from "@thinkery/sdk";
import type { ContentWithInfo } from "./content.ts";
import { createPatch } from "./text/patch.ts";

interface StepFields {
  path: string;
  kind: Change["kind"] | "moved";
  other?: string | undefined;
  before: ContentWithInfo | undefined;
  after: ContentWithInfo | undefined;
  /** Patches of the file since its last full copy. */
  patchCount?: number | undefined;
}

/** The change of one file in one version. `moved` is the old path of a `move` and is not shown to clients. */
export class Step implements StepFields {
  readonly path: string;
  readonly kind: StepFields["kind"];
  readonly other: string | undefined;
  readonly before: ContentWithInfo | undefined;
  readonly after: ContentWithInfo | undefined;
  readonly patchCount: number;
  #patch: TextPatch | undefined;

  constructor({ path, kind, other, before, after, patchCount = 0 }: StepFields) {
    this.path = path;
    this.kind = kind;
    this.other = other;
    this.before = before;
    this.after = after;
    this.patchCount = patchCount;
  }

  /** The patch between both contents, if both are text. Computed once: history, live documents and tools all use it. */
  get patch(): TextPatch | undefined {
    const [before, after] = [this.before?.content, this.after?.content];
    if (typeof before !== "string" || typeof after !== "string") return undefined;
    return (this.#patch ??= createPatch(before, after));
  }
}
