import { expect, test } from "vitest";
import { Redactor, StreamRedactor } from "./redact.ts";

const token = `thk_Ym9i.${"x".repeat(43)}.${"y".repeat(22)}`;

test("in logs, values that look like secrets are redacted", () => {
  const text = `key sk-${"a".repeat(30)} and ghp_${"b".repeat(30)} and Bearer ${"c".repeat(20)} and thk_${"d".repeat(30)}`;
  expect(new Redactor([]).redactLog(text)).toBe("key [redacted] and [redacted] and [redacted] and [redacted]");
});

test("in conversations, only the host's own secrets and tokens are redacted", () => {
  const { redact } = new Redactor(["correct-horse-battery"]);
  const other = `sk-${"a".repeat(30)}`;
  expect(redact(`{"password":"correct-horse-battery"} ${token} ${other}`)).toBe(
    `{"password":"[redacted]"} [redacted] ${other}`,
  );
});

test("ordinary words are left alone", () => {
  expect(new Redactor(["a"]).redactLog("a sketch of a task")).toBe("a sketch of a task");
});

test("all texts of a value are redacted, also if they are escaped in its JSON", () => {
  const secret = 'quoted"and\\slashed';
  const redactor = new Redactor([secret]);
  expect(redactor.redactValue({ [secret]: [secret, 1, null, { text: `a ${secret} b` }] })).toEqual({
    "[redacted]": ["[redacted]", 1, null, { text: "a [redacted] b" }],
  });
  const same = { text: "nothing" };
  expect(redactor.redactValue(same)).toBe(same);
});

test("what is left of a secret that was cut off is redacted, unless it is less than half", () => {
  const secret = "0123456789abcdefghijklmnopqrstuvwxyz-ABC";
  const { redact } = new Redactor([secret, "sixteen-chars-ab"]);
  for (const [text, rest] of [
    [secret, 20],
    [Buffer.from(secret).toString("base64"), 20],
    [Buffer.from(secret).toString("hex"), 20],
    [token, "thk_Ym9i.".length + 22],
  ] as const)
    for (let length = 1; length <= text.length; length++) {
      const cut = text.slice(0, length);
      expect([cut, redact(`see ${cut}… and ${cut}`)]).toEqual(
        length >= rest ? [cut, "see [redacted]… and [redacted]"] : [cut, `see ${cut}… and ${cut}`],
      );
    }
  expect(redact("sixteen-chars-a sixteen-chars-ab")).toBe("sixteen-chars-a [redacted]");
});

test("a secret is found in base64 of a text that contains it, wherever it begins there", () => {
  const secret = "0123456789abcdefghijklmnopqrstuvwxyz-ABC";
  const { redact } = new Redactor([secret]);
  for (let before = 0; before <= 6; before++)
    for (let after = 0; after <= 6; after++) {
      const text = "x".repeat(before) + secret + "y".repeat(after);
      for (const encoding of ["base64", "base64url"] as const) {
        const clean = redact(Buffer.from(text).toString(encoding));
        expect([before, after, clean]).toEqual([before, after, expect.stringContaining("[redacted]")]);
        // At most a part of the first and last characters of the secret is left.
        const left = Buffer.from(clean.replace("[redacted]", ""), encoding).toString("latin1");
        expect(left.length).toBeLessThanOrEqual(before + after + 2);
      }
    }
  const header = `Basic ${Buffer.from(`user:${secret}`).toString("base64")}`;
  expect(redact(header)).toMatch(/^Basic dXNlcj[\w]?\[redacted\]/);
});

test("ways to write a secret that begin alike are told apart", () => {
  // In base64 and base64url they differ in the last character only.
  const secret = "a secret that ends with ???";
  const encoded = Buffer.from(secret).toString("base64");
  const forUrls = Buffer.from(secret).toString("base64url");
  const { redact } = new Redactor([secret]);
  expect(redact(`${encoded} ${forUrls}. ${encoded.replace(/=+$/, "")}, ${secret}`)).toBe(
    "[redacted] [redacted]. [redacted], [redacted]",
  );
});

test("a secret in a stream is redacted wherever the stream is cut, and the rest arrives unchanged", () => {
  const redactor = new Redactor(["secret-one-two", "secret-two-three"]);
  const text = `the secret-one-two, secret-tw and ${token}. thk_ this secret-t`;
  const expected = `the [redacted], secret-tw and [redacted]. thk_ this secret-t`;
  for (let size = 1; size <= text.length; size++) {
    const stream = new StreamRedactor(redactor);
    let out = "";
    for (let at = 0; at < text.length; at += size) out += stream.push(text.slice(at, at + size));
    expect([size, out + stream.flush()]).toEqual([size, expected]);
  }
  const stream = new StreamRedactor(redactor);
  expect(stream.push("plain words!")).toBe("plain words!");
});

test("a secret that is cut off in a stream is redacted, also at its end", () => {
  const secret = "0123456789abcdefghijklmnopqrstuvwxyz-ABC";
  const redactor = new Redactor([secret]);
  const text = `${secret.slice(0, 30)}… ${secret} ${secret.slice(0, 19)}. ${secret.slice(0, 25)}`;
  for (let size = 1; size <= text.length; size++) {
    const stream = new StreamRedactor(redactor);
    let out = "";
    for (let at = 0; at < text.length; at += size) out += stream.push(text.slice(at, at + size));
    expect([size, out + stream.flush()]).toEqual([size, `[redacted]… [redacted] ${secret.slice(0, 19)}. [redacted]`]);
  }
});
