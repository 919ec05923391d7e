/** How the params of a view are written in its address, behind the address of its scope. */
export interface ViewAddress<Params> {
  /** First path segments that belong to the view; none for the index view of a scope. */
  segments: readonly string[];
  /** Where a tab or link leads. */
  initial: Params;
  /** `segments` are decoded and begin with one of the view's own. Returns undefined if there is no such address. */
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

/** One path segment and nothing behind it. */
export function createSegmentAddress(segment: string): ViewAddress<NoParams> {
  return {
    segments: [segment],
    initial: {},
    parse: (segments) => (segments.length === 1 && segments[0] === segment ? {} : undefined),
    build: () => `/${segment}`,
  };
}
