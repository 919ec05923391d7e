import { fail } from "./errors.ts";

/** The folder of the workspace in shells and the Linux sandbox. */
export const workspaceFolder = "/work";

/** Maximum bytes of a path, bytes of one name, and names in a path. */
export const pathLimits = { bytes: 1024, nameBytes: 255, depth: 32 };

/** Longer inputs are rejected unseen, however short the normalized path would be. */
const maxPathChars = 8192;

// Names that refer to a device on some systems, whatever follows the first dot.
const deviceName = /^(?:con|prn|aux|nul|clock\$|com[0-9¹²³]|lpt[0-9¹²³]|conin\$|conout\$) *(?:\.|$)/i;

// Characters that are invisible or change how their neighbors are displayed: control and format characters, fillers.
// Variation selectors and joiners are excluded: they are part of how letters and emoji are written.
const invisibleCharacter =
  /(?!\u200c|\u200d|[\ufe00-\ufe0f])[\p{Cc}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\ufff9-\ufffb]/u;

// Some systems drop joiners from names, and next to ASCII characters they have no meaning.
const idleJoiner = /(?:^|\p{ASCII})(?:\u200c|\u200d|[\ufe00-\ufe0e])|(?:\u200c|\u200d)(?:\p{ASCII}|$)/u;

// Replacement characters for bytes that could not be decoded, and noncharacters.
const brokenCharacter = /[\p{Noncharacter_Code_Point}\ufffd]/u;

/**
 * Parses a workspace path into its normal form: relative, with slashes, in Unicode NFC. Also accepts paths that start
 * with the folder of the workspace. Throws if the path is invalid or outside the workspace, or if some system, program
 * or person could silently mistake it for another path. Paths that some systems merely reject are allowed.
 */
export function parseFilePath(text: string): string {
  const issue = findPathIssue(text);
  if (issue) throw fail("bad_request", `Invalid path “${formatPath(text)}”: ${issue}.`);
  return toRelative(text);
}

/** Parses the path of a folder, which may end with a slash. Returns undefined for the root of the workspace. */
export function parseFolderPath(text: string): string | undefined {
  if (text.length > maxPathChars) return parseFilePath(text);
  let end = text.length;
  // Not with a regular expression: one for trailing slashes is slow if there are many slashes elsewhere.
  while (end > 0 && text[end - 1] === "/") end -= 1;
  const path = text.slice(0, end);
  return ["", ".", workspaceFolder].includes(path) || toRelative(path) === "." ? undefined : parseFilePath(path);
}

/** Returns what is wrong with a path, as part of a sentence, or undefined if it is valid. */
export function findPathIssue(text: string): string | undefined {
  if (text.length > maxPathChars) return tooLongMessage;
  if (text.includes("\0")) return "it contains a NUL character";
  if (!text.isWellFormed() || brokenCharacter.test(text)) return "it is not well-formed Unicode";
  const path = toRelative(text);
  if (path === "") return "it is empty";
  if (path.startsWith("/"))
    return `it is outside the workspace; use a relative path, or one that starts with ${workspaceFolder}/`;
  if (path.includes("\\")) return "use slashes, not backslashes";
  if (invisibleCharacter.test(path)) return "it contains an invisible character";
  const encoder = new TextEncoder();
  if (encoder.encode(path).length > pathLimits.bytes) return tooLongMessage;
  const names = path.split("/");
  if (names.length > pathLimits.depth) return `it is more than ${pathLimits.depth - 1} folders deep`;
  if (names[0] === "~") return "there is no home folder here";
  for (const name of names) {
    const issue = findNameIssue(name);
    if (issue) return issue;
    if (encoder.encode(name).length > pathLimits.nameBytes)
      return `it contains a name of more than ${pathLimits.nameBytes} bytes`;
  }
  return undefined;
}

const tooLongMessage = `it is longer than ${pathLimits.bytes} bytes`;

function findNameIssue(name: string): string | undefined {
  if (name === "") return "it contains an empty name";
  // URL parsers resolve these before anyone can check them.
  if (/^(?:\.|%2e){1,2}$/i.test(name)) return `“${name}” is not a name`;
  if (/[. ]$/.test(name)) return "a name ends with a dot or a space, which some systems drop";
  if (name.includes(":"))
    return "it contains a colon, which some systems read as a drive or a hidden part of another file";
  if (deviceName.test(name)) return `“${formatPath(name)}” is a device on some systems`;
  if (/^git~[0-9]+$/i.test(name)) return `“${formatPath(name)}” is an alias of .git on some systems`;
  if (idleJoiner.test(name)) return "it contains an invisible character";
  return undefined;
}

/**
 * Folds the case of a path, for comparisons as on case-insensitive file systems. Goes through both cases: some letters
 * have only one, and the lower case of some depends on the letters that follow.
 */
export function foldPathCase(path: string): string {
  const letters = path.replace(/\u200c|\u200d|[\ufe00-\ufe0f]/g, "");
  return letters.toLowerCase().toUpperCase().normalize("NFC");
}

function toRelative(text: string): string {
  const path = text.normalize("NFC");
  const inside =
    path === workspaceFolder || path.startsWith(`${workspaceFolder}/`) ? path.slice(workspaceFolder.length + 1) : path;
  // People and programs often write “./src/a.ts”.
  return inside.replace(/^(?:\.\/)+/, "");
}

/** Formats a path for display, even an invalid one: on one line, without invisible characters, and shortened. */
export function formatPath(text: string): string {
  const plain = text.slice(0, 100).toWellFormed().replace(new RegExp(invisibleCharacter, "gu"), "�");
  return text.length > 100 ? `${plain}…` : plain;
}

/** Lists the parent folders of a path, outermost first. */
export function listParentFolders(path: string): string[] {
  const folders: string[] = [];
  for (let slash = path.indexOf("/"); slash >= 0; slash = path.indexOf("/", slash + 1))
    folders.push(path.slice(0, slash));
  return folders;
}
