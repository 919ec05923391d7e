/** Maps the params of a view to its address, relative to that of its scope. */
export interface ViewAddress<Params> {
  /** First path segments that belong to the view; none for the index view of a scope. */
  segments: readonly string[];
  /** Params of the tab or link to the view. */
  initial: Params;
  /** `segments` are decoded and begin with one of the view's own. Returns undefined if the address is invalid. */
  parse(segments: string[], query: URLSearchParams): Params | undefined;
  /** The inverse of `parse`: a path that begins with a slash, or "" for the index view. */
  build(params: Params): string;
}

export type NoParams = Record<string, never>;

/** The address of a scope itself, such as /app/:agency. Each scope has one index view. */
export const indexAddress: ViewAddress<NoParams> = {
  segments: [],
  initial: {},
  parse: (segments) => (segments.length === 0 ? {} : undefined),
  build: () => "",
};

/** An address of a single path segment. */
export function createSegmentAddress(segment: string): ViewAddress<NoParams> {
  return {
    segments: [segment],
    initial: {},
    parse: (segments) => (segments.length === 1 && segments[0] === segment ? {} : undefined),
    build: () => `/${segment}`,
  };
}
