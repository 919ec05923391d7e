import { expect, test } from "vitest";
import { nearest } from "./nearest.ts";

const keys = ["port", "host", "sandboxSlots", "allowedHosts", "allowedOrigins"];

test("a misspelt word finds the word that was meant", () => {
  expect(nearest("prot", keys)).toBe("port");
  expect(nearest("hots", keys)).toBe("host");
  expect(nearest("sandboxslot", keys)).toBe("sandboxSlots");
  expect(nearest("allowedHost", keys)).toBe("allowedHosts");
  expect(nearest("allowdOrigin", keys)).toBe("allowedOrigins");
});

test("a word that is like none of them finds none", () => {
  expect(nearest("colour", keys)).toBeUndefined();
  expect(nearest("x", keys)).toBeUndefined();
  expect(nearest("", keys)).toBeUndefined();
  expect(nearest("a".repeat(100_000), keys)).toBeUndefined();
  expect(nearest("port", [])).toBeUndefined();
});

test("the closest of several wins, and the first of equals", () => {
  expect(nearest("restar", ["start", "restart"])).toBe("restart");
  expect(nearest("ls", ["la", "lb"])).toBe("la");
});
