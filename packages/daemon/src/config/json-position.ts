import { findNodeAtLocation, type Node, type ParseError, printParseErrorCode } from "jsonc-parser";
import type { z } from "zod";

/** Returns the path of an issue as it is in the file. */
export function getIssuePath({ path }: Pick<z.core.$ZodIssue, "path">): (string | number)[] {
  return path.filter((part) => typeof part !== "symbol");
}

/** Returns the node at a path; for a missing key, its closest existing parent. */
export function findClosestNode(root: Node, path: readonly (string | number)[]): Node {
  const parents = path.map((_, index) => findNodeAtLocation(root, path.slice(0, path.length - index)));
  return parents.find(Boolean) ?? root;
}

export function findKeyNode(parent: Node, key: string): Node | undefined {
  return parent.children?.map((property) => property.children?.[0]).find((name) => name?.value === key);
}

export function formatPosition(text: string, offset: number): string {
  const before = text.slice(0, offset).split(/\r\n|\r|\n/);
  return `line ${before.length}, column ${(before.at(-1)?.length ?? 0) + 1}`;
}

/** Formats why a text is not JSON: `comma expected`. */
export function formatSyntaxError({ error }: ParseError): string {
  return printParseErrorCode(error)
    .replace(/([a-z])([A-Z])/g, "$1 $2")
    .toLowerCase();
}
