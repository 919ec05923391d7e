// The little of Buffer that the shell uses, where there is no Node.
class TextBytes extends Uint8Array {
  toString(encoding = "utf8") {
    if (encoding === "utf8" || encoding === "utf-8") return new TextDecoder().decode(this);
    let text = "";
    for (let at = 0; at < this.length; at += 32_768) text += String.fromCharCode(...this.subarray(at, at + 32_768));
    return encoding === "base64" ? btoa(text) : text;
  }
}

const latin = (text) => Uint8Array.from(text, (char) => char.charCodeAt(0));

globalThis.Buffer ??= {
  from(data, encoding = "utf8") {
    if (typeof data !== "string") return new TextBytes(data);
    if (encoding === "base64") return new TextBytes(latin(atob(data)));
    return new TextBytes(encoding === "latin1" || encoding === "binary" ? latin(data) : new TextEncoder().encode(data));
  },
};
