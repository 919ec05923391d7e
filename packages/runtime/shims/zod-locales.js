// zod brings its messages in some fifty languages; ours are in one, and the others cost start-up time.
export { default as en } from "zod/v4/locales/en.js";
