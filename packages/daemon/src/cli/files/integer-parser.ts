import { InvalidArgumentError } from "commander";

/** Reads an option that is a whole number above zero. */
export function createIntegerParser(what: string): (text: string) => number {
  return (text) => {
    if (/^[1-9]\d{0,14}$/.test(text)) return Number(text);
    throw new InvalidArgumentError(`Expected ${what}, a whole number.`);
  };
}
