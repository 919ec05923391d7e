import { z } from "zod";
import { explainInvalidValue, type Setting, type SettingsSchema } from "./setting-values.ts";

const baseFields = { label: z.string().min(1).max(100).optional(), description: z.string().max(500).optional() };

const optionSchema = z.union([
  z.string().min(1).max(200),
  z.strictObject({ value: z.string().min(1).max(200), label: z.string().min(1).max(200) }),
]);

const settingSchema = z
  .discriminatedUnion("type", [
    z.strictObject({
      type: z.literal("select"),
      ...baseFields,
      options: z.union([z.literal("$roles"), z.array(optionSchema).min(1).max(200).readonly()], {
        error: 'expected "$roles" or a list of options',
      }),
      default: z.string().optional(),
    }),
    z.strictObject({
      type: z.literal("number"),
      ...baseFields,
      min: z.number().optional(),
      max: z.number().optional(),
      step: z.number().positive().optional(),
      default: z.number().optional(),
    }),
    z.strictObject({
      type: z.literal("text"),
      ...baseFields,
      maxLength: z.int().min(1).max(10_000).optional(),
      multiline: z.boolean().optional(),
      default: z.string().optional(),
    }),
    z.strictObject({ type: z.literal("toggle"), ...baseFields, default: z.boolean().optional() }),
  ])
  .check(({ value, issues }) => {
    const message = value.default === undefined ? undefined : explainInvalidValue(value as Setting, value.default);
    if (message) issues.push({ code: "custom", path: ["default"], message, input: value.default });
  });

/** A package stores its settings in one row. */
const maxSchemaChars = 500_000;

/** The settings that an agent declares: a form is drawn from them, and values are checked against them. */
export const settingsSchemaSchema = z
  .record(
    z.string().regex(/^[A-Za-z][A-Za-z0-9_]{0,63}$/, "expected a name of letters, digits and _, such as maxSteps"),
    settingSchema,
  )
  .refine((schema) => Object.keys(schema).length <= 50, { error: "more than 50 settings", abort: true })
  .refine((schema) => JSON.stringify(schema).length <= maxSchemaChars, {
    error: `more than ${maxSchemaChars} characters`,
  })
  .meta({ id: "SettingsSchema" });

// The schema and the type that code without a validator uses describe the same.
null as unknown as z.infer<typeof settingsSchemaSchema> satisfies SettingsSchema;
