import { transform } from "sucrase";

/** JavaScript with source map mappings, or why the source cannot be parsed, at an offset from 0. */
export type Strip = { code: string; mappings: string } | { message: string; pos: number | undefined };

export function strip(source: string): Strip {
  try {
    // Like TypeScript, this removes imports that are only used as types: they do not exist at run time.
    const { code, sourceMap } = transform(source, {
      transforms: ["typescript"],
      disableESTransforms: true,
      filePath: "code",
      sourceMapOptions: { compiledFilename: "code" },
    });
    return { code, mappings: sourceMap?.mappings ?? "" };
  } catch (error) {
    const { message, pos } = error as Error & { pos?: number };
    return { message: message.replace("Error transforming code: ", ""), pos };
  }
}
