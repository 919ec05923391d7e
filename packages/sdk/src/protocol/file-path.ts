import { fail } from "./errors.ts";

/** Where a shell and a Linux sandbox find the workspace. */
export const workspaceFolder = "/work";

/** A path may have so many bytes, so many in one name, and so many names. */
export const pathLimits = { bytes: 1024, nameBytes: 255, depth: 32 };

/** Longer texts are not looked at, however short the path would be in the end. */
const maxPathChars = 8192;

// Names that mean a device on some machines, whatever follows the first dot.
const deviceName = /^(?:con|prn|aux|nul|clock\$|com[0-9¹²³]|lpt[0-9¹²³]|conin\$|conout\$) *(?:\.|$)/i;

// What is not seen, or changes how what is around it is seen: control and format characters, fillers. What chooses
// between two looks of a character, and what joins letters and pictures, is a part of how they are written.
const invisibleCharacter =
  /(?!\u200c|\u200d|[\ufe00-\ufe0f])[\p{Cc}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\ufff9-\ufffb]/u;

// Some machines leave joiners out of names, and beside plain letters they say nothing.
const idleJoiner = /(?:^|\p{ASCII})(?:\u200c|\u200d|[\ufe00-\ufe0e])|(?:\u200c|\u200d)(?:\p{ASCII}|$)/u;

// What text has in place of bytes that could not be read, and what is no character at all.
const brokenCharacter = /[\p{Noncharacter_Code_Point}\ufffd]/u;

/**
 * A path within a workspace: relative, with slashes, in one spelling. Whoever asks may write it with the folder that
 * shells know it by. It throws for what is no path or is outside, and for what some machine, program or person would
 * silently take for another path. What a machine would merely refuse is allowed.
 */
export function parseFilePath(text: string): string {
  const problem = findPathIssue(text);
  if (problem) throw fail("bad_request", `“${formatPath(text)}” cannot be a path in the workspace: ${problem}.`);
  return toRelative(text);
}

/** The same for a folder, which may end with a slash; nothing for the whole workspace. */
export function parseFolderPath(text: string): string | undefined {
  if (text.length > maxPathChars) return parseFilePath(text);
  let end = text.length;
  // By hand: a pattern for slashes at the end takes a long time for many that are elsewhere.
  while (end > 0 && text[end - 1] === "/") end -= 1;
  const path = text.slice(0, end);
  return ["", ".", workspaceFolder].includes(path) || toRelative(path) === "." ? undefined : parseFilePath(path);
}

/** What is wrong with a path, in words; nothing when it is right. */
export function findPathIssue(text: string): string | undefined {
  if (text.length > maxPathChars) return tooLongMessage;
  if (text.includes("\0")) return "it has a NUL in it";
  if (!text.isWellFormed() || brokenCharacter.test(text)) return "it is not well-formed text";
  const path = toRelative(text);
  if (path === "") return "it is empty";
  if (path.startsWith("/"))
    return `it is outside; paths are relative to the workspace, or begin with ${workspaceFolder}/`;
  if (path.includes("\\")) return "write it with slashes, not backslashes";
  if (invisibleCharacter.test(path)) return "it has a character in it that cannot be seen";
  const encoder = new TextEncoder();
  if (encoder.encode(path).length > pathLimits.bytes) return tooLongMessage;
  const names = path.split("/");
  if (names.length > pathLimits.depth) return `it is more than ${pathLimits.depth - 1} folders deep`;
  if (names[0] === "~") return "there is no home folder here";
  for (const name of names) {
    const problem = findNameProblem(name);
    if (problem) return problem;
    if (encoder.encode(name).length > pathLimits.nameBytes)
      return `a name in it is longer than ${pathLimits.nameBytes} bytes`;
  }
  return undefined;
}

const tooLongMessage = `it is longer than ${pathLimits.bytes} bytes`;

function findNameProblem(name: string): string | undefined {
  if (name === "") return "it has an empty name in it";
  // An address with these in it leads elsewhere before anybody has read it.
  if (/^(?:\.|%2e){1,2}$/i.test(name)) return `“${name}” is not a name`;
  if (/[. ]$/.test(name)) return "a name ends with a dot or a space, which some machines leave out";
  if (name.includes(":"))
    return "it has a colon in it; on some machines that is a drive, or a hidden part of another file";
  if (deviceName.test(name)) return `“${formatPath(name)}” is a device on some machines`;
  if (/^git~[0-9]+$/i.test(name)) return `“${formatPath(name)}” is another name of .git on some machines`;
  if (idleJoiner.test(name)) return "it has a character in it that cannot be seen";
  return undefined;
}

/**
 * How a path is compared where upper and lower case are the same. By way of both: some letters have one of them only,
 * and how some are written in lower case depends on what is behind them.
 */
export function foldPathCase(path: string): string {
  const letters = path.replace(/\u200c|\u200d|[\ufe00-\ufe0f]/g, "");
  return letters.toLowerCase().toUpperCase().normalize("NFC");
}

function toRelative(text: string): string {
  const path = text.normalize("NFC");
  const inside =
    path === workspaceFolder || path.startsWith(`${workspaceFolder}/`) ? path.slice(workspaceFolder.length + 1) : path;
  // “./src/a.ts” is what many people and programs write.
  return inside.replace(/^(?:\.\/)+/, "");
}

/** A path as it may be shown, whatever is in it: on one line, and not too long. */
export function formatPath(text: string): string {
  const plain = text.slice(0, 100).toWellFormed().replace(new RegExp(invisibleCharacter, "gu"), "�");
  return text.length > 100 ? `${plain}…` : plain;
}

/** The folders on the way to a path, the outermost first. */
export function listParentFolders(path: string): string[] {
  const folders: string[] = [];
  for (let slash = path.indexOf("/"); slash >= 0; slash = path.indexOf("/", slash + 1))
    folders.push(path.slice(0, slash));
  return folders;
}
