import type { z } from "zod";

/** Lists the fields that a schema allows in the object at a path. */
export function listFields(schema: z.core.$ZodType, path: readonly PropertyKey[]): string[] {
  const { def } = (schema as z.core.$ZodTypes)._zod;
  const [key, ...rest] = path;
  switch (def.type) {
    case "object": {
      if (key === undefined) return Object.keys(def.shape);
      const field = def.shape[String(key)] ?? def.catchall;
      return field ? listFields(field, rest) : [];
    }
    case "array":
      return key === undefined ? [] : listFields(def.element, rest);
    case "record":
      return key === undefined ? [] : listFields(def.valueType, rest);
    case "union":
      return def.options.flatMap((option) => listFields(option, path));
    case "optional":
    case "nullable":
    case "default":
    case "prefault":
    case "readonly":
      return listFields(def.innerType, path);
    case "pipe":
      return listFields(def.in, path);
    case "lazy":
      return listFields(def.getter(), path);
    default:
      return [];
  }
}
