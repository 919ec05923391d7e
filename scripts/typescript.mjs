// `node --import ./scripts/typescript.mjs file.ts`: runs TypeScript directly, with types stripped by esbuild.
import { register } from "node:module";

register("./typescript-hooks.mjs", import.meta.url);
