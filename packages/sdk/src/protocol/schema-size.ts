type JsonSchema = Record<string, unknown>;

/**
 * Returns how many nodes a JSON schema has once its references are followed, or undefined if one of them is recursive or
 * leads nowhere. Validating an input takes time in proportion to that: a few references that double each other make a
 * small schema take forever.
 */
export function countSchemaNodes(schema: JsonSchema): number | undefined {
  const sizes = new Map<unknown, number | undefined>();
  const pending = new Set<unknown>();

  function count(value: unknown): number | undefined {
    if (typeof value !== "object" || value === null) return 0;
    if (sizes.has(value)) return sizes.get(value);
    if (pending.has(value)) return undefined;
    pending.add(value);
    const size = countParts(value);
    pending.delete(value);
    sizes.set(value, size);
    return size;
  }

  function countParts(value: object): number | undefined {
    let size = 1;
    for (const [key, part] of Object.entries(value)) {
      const target = key === "$ref" && typeof part === "string" ? resolveReference(schema, part) : part;
      const more = target === unresolved ? undefined : count(target);
      if (more === undefined) return undefined;
      size += more;
    }
    return size;
  }

  return count(schema);
}

const unresolved = Symbol("unresolved");

/** Resolves `#` and `#/$defs/name`. */
function resolveReference(schema: JsonSchema, reference: string): unknown {
  if (!/^#(?:\/|$)/.test(reference)) return unresolved;
  let target: unknown = schema;
  for (const part of reference.split("/").slice(1)) {
    const name = part.replaceAll("~1", "/").replaceAll("~0", "~");
    if (typeof target !== "object" || target === null || !Object.hasOwn(target, name)) return unresolved;
    target = (target as JsonSchema)[name];
  }
  return target;
}
