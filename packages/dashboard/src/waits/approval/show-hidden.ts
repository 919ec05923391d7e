import { sanitizeText } from "../../chat/call/sanitize-text.ts";

/** Characters without a shape, such as zero-width spaces and tags. In a call they can hide what would run. */
const formatChars = /[\p{Cf}\p{Default_Ignorable_Code_Point}\u2800]/gu;

/** Makes a call safe to decide about: nothing reorders the text, and nothing in it is invisible. */
export function showHidden(text: string): string {
  return sanitizeText(text).replace(formatChars, "\ufffd");
}
