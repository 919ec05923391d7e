import { expect, test } from "vitest";
import { findNearest } from "./nearest.ts";

const keys = ["port", "host", "sandboxSlots", "allowedHosts", "allowedOrigins"];

test("a misspelled word finds the intended one", () => {
  expect(findNearest("prot", keys)).toBe("port");
  expect(findNearest("hots", keys)).toBe("host");
  expect(findNearest("sandboxslot", keys)).toBe("sandboxSlots");
  expect(findNearest("allowedHost", keys)).toBe("allowedHosts");
  expect(findNearest("allowdOrigin", keys)).toBe("allowedOrigins");
});

test("a word that resembles none of the candidates finds none", () => {
  expect(findNearest("colour", keys)).toBeUndefined();
  expect(findNearest("x", keys)).toBeUndefined();
  expect(findNearest("", keys)).toBeUndefined();
  expect(findNearest("a".repeat(100_000), keys)).toBeUndefined();
  expect(findNearest("port", [])).toBeUndefined();
});

test("the closest candidate wins, and the first one if several are equally close", () => {
  expect(findNearest("restar", ["start", "restart"])).toBe("restart");
  expect(findNearest("ls", ["la", "lb"])).toBe("la");
});
