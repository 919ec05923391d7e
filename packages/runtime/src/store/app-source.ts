import { countAppBytes, type AppFacts, appMain, type NewApp } from "@thinkery/sdk";

/** An app as it lies in the blob store: all its modules by their names. */
export interface AppSource {
  main: string;
  modules: Record<string, string>;
}

/** The same code is the same bytes, in whatever order its modules were given. */
export function packApp({ code, modules = {} }: NewApp): Uint8Array {
  const named = Object.entries({ ...modules, [appMain]: code }).sort(([one], [other]) => (one < other ? -1 : 1));
  return new TextEncoder().encode(
    JSON.stringify({ main: appMain, modules: Object.fromEntries(named) } satisfies AppSource),
  );
}

export function unpackApp(content: Uint8Array): AppSource {
  return JSON.parse(new TextDecoder().decode(content)) as AppSource;
}

/** What is to be known of an app whose source is in this blob. */
export function createAppFacts(app: NewApp, blob: string, by: string): AppFacts {
  return {
    version: blob.slice(0, 12),
    blob,
    main: appMain,
    modules: Object.keys(app.modules ?? {}).sort(),
    bytes: countAppBytes(app),
    by,
  };
}
