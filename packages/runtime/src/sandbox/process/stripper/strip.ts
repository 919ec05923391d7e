import { transform } from "sucrase";

/** What is left of TypeScript, with a map back; or why it cannot be read, at an offset from 0. */
export type Strip = { code: string; mappings: string } | { message: string; pos: number | undefined };

export function strip(given: string): Strip {
  try {
    // Imports that are only used as types go, as TypeScript has it: what they name is not there at run time.
    const { code, sourceMap } = transform(given, {
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
