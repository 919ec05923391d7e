/** The bundle of a file as text; see `bundledText` in build.mjs. */
declare module "*?text" {
  const text: string;
  export default text;
}
