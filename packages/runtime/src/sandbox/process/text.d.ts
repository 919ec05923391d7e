/** The bundle of a file as text, see `bundledText` in build.mjs. */
declare module "*?text" {
  const text: string;
  export default text;
}

/** The same, compressed with gzip, as base64. */
declare module "*?packed" {
  const packed: string;
  export default packed;
}
