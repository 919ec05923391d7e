import { InvalidArgumentError } from "commander";

export function parsePositiveInteger(text: string): number {
  if (/^[1-9]\d{0,14}$/.test(text)) return Number(text);
  throw new InvalidArgumentError("Expected a whole number above zero.");
}
