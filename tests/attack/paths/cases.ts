/** Paths that somebody might try, and what must come of each. */
export interface PathCase {
  path: string;
  /** What is tried with it. */
  why: string;
  /** Where it leads within the workspace; nothing where it is refused. */
  lands?: string;
}

const dotDots = ["..", "../..", "../../../../../../../.."];
const targets = ["etc/passwd", "root/.ssh/authorized_keys", "x", "thinkery.sqlite", ".env"];
const name = "a.txt";
const code = (...points: number[]) => String.fromCodePoint(...points);

const groups: readonly (readonly [why: string, paths: readonly string[]])[] = [
  ["upwards", dotDots.flatMap((up) => targets.flatMap((target) => [`${up}/${target}`, `./${up}/${target}`, `a/${up}/${target}`, `/work/${up}/${target}`, `a/b/${up}/../${target}`]))],
  ["upwards, and nothing else", ["..", "../", "./..", "a/..", "a/../", "a/b/../..", "/work/..", "/work/../", ". /..", "...", "....", "..../x", ".../x", "a/..."]],
  ["here, in other words", [".", "./", "./.", "././", "a/.", "a/./b", "a/././b", "/work/.", "/work/a/./b"]],
  ["upwards with backslashes", dotDots.flatMap((up) => targets.flatMap((target) => [`${up}/${target}`.replaceAll("/", "\\"), `a\\${up.replaceAll("/", "\\")}\\${target}`]))],
  ["upwards with both", ["..\\../x", "../..\\x", "a/..\\..\\x", "a\\../x", ".\\..\\x", "..\\", "..\\/x", "../\\x", "\\..\\x", "/..\\x", "..//..//x", "..///x", ".//..//x"]],
  ["absolute", ["/", "//", "///", "/etc/passwd", "//etc/passwd", "/root", "/tmp/x", "/dev/null", "/dev/stdin", "/proc/self/environ", "/sys", "/x", "/.", "/..", "/../x", "/./x", "/home/user/.bashrc"]],
  ["absolute, and almost the workspace", ["/work", "/work/", "/work//", "/work//x", "/work///x", "/workspace/x", "/work.x", "/work2/x", "/WORK/x", "/Work/x", "//work/x", "/./work/x", "/work/./", "/work/.//x", "/work//work/x", "/work/ ", "/work\\x", "/work\0/x", "/work/../work/x", "/wor/x", "/work%2fx"]],
  ["a drive or a share", ["C:", "C:/", "C:/x", "C:x", "c:\\x", "C:\\Windows\\win.ini", "\\\\server\\share\\x", "//server/share", "\\\\?\\C:\\x", "\\\\.\\C:", "\\\\.\\PhysicalDrive0", "//?/C:/x", "//./C:/x", "\\??\\C:\\x", "file:///etc/passwd", "file://x", "http://x/y", "data:text/plain,x", "javascript:1"]],
  ["a hidden part of a file", ["a:b", "a.txt:b", "a.txt:$DATA", "a.txt::$DATA", "a.txt:b:$DATA", ".:x", "..:x", "a/b:c/d", ":", ":a", "a:", "dir::$INDEX_ALLOCATION", "dir:$I30:$INDEX_ALLOCATION/x"]],
  [
    "a device of Windows",
    ["con", "prn", "aux", "nul", "clock$", "conin$", "conout$", ...[0, 1, 2, 3, 4, 5, 6, 7, 8, 9].flatMap((digit) => [`com${digit}`, `lpt${digit}`]), "com¹", "com²", "com³", "lpt¹", "lpt²", "lpt³"].flatMap((device) => [device, device.toUpperCase(), `${device}.txt`, `a/${device}/b`]),
  ],
  ["a device, a little hidden", ["CoN", "nUl.tar.gz", "con .txt", "con  .txt", "NUL .x.y", "aux.", "aux ", "nul:", "nul/x", "com1.c/x", "/work/nul", "./aux.h"]],
  ["a name that some machines make another of", ["a.", "a ", "a..", "a. .", "a .", ". .", ".. ", " ..", ".. /x", ". /x", "a./b", "a /b", "a/b.", "a/b ", "a/b. ", " ", "  ", "a/ ", " /a", "a/ /b", ".git.", ".git ", ".git/ ", "git~1", "GIT~1", "git~2/config", "a/GIT~1/hooks/x"]],
  ["an empty name", ["", "a//b", "a/b/", "a/", "//a", "a///b", "./", "a/b//", ".//a"]],
  ["upwards as an address writes it", ["%2e%2e", "%2E%2E/x", ".%2e/x", "%2e./x", "a/%2e%2e/x", "%2e", "%2e/x", "a/%2E", "/%2e%2e/x", "/work/%2e%2e/x", "%2e%2e/%2e%2e/etc/passwd"]],
  ["a NUL", ["\0", "a\0", "\0a", "a\0.txt", "../x\0.png", "a/\0/b", "a.txt\0/../x", "/work/\0"]],
  ["a control character", [...Array.from({ length: 31 }, (_, index) => index + 1), 0x7f, 0x80, 0x85, 0x9b, 0x9f].flatMap((point) => [`a${code(point)}b`, ...(point % 7 === 0 ? [code(point), `../${code(point)}`] : [])])],
  [
    "a character that cannot be seen",
    [0xad, 0x34f, 0x61c, 0x115f, 0x1160, 0x17b4, 0x180e, 0x200b, 0x200e, 0x200f, 0x2028, 0x2029, 0x202a, 0x202b, 0x202c, 0x202d, 0x202e, 0x2060, 0x2061, 0x2064, 0x2066, 0x2067, 0x2068, 0x2069, 0x206a, 0x206f, 0x3164, 0xfeff, 0xffa0, 0xfff9, 0xfffb, 0xe0001, 0xe0041, 0xe0100].flatMap((point) => [
      `a${code(point)}b`,
      `${code(point)}${name}`,
    ]),
  ],
  ["a joiner where it joins nothing", ["a\u200db", ".g\u200cit/config", "\u200c.git", ".git\u200d", "a/\u200d", "\u200d", "con\u200c", ".\u200c./x", ".\u200d.", "a\ufe00b"]],
  ["half a character", ["\ud800", "\udc00", "a\ud83d", "\ude00a", "\udc00\ud800", "a/\ud800/b", "..\ud800/x", "\ud800\ud800\udc00"]],
  ["bytes that were no text", ["\ufffd", "\ufffd\ufffd/x", "a\ufffd", "\ufffe", "\uffff", "a\ufdd0", code(0x1fffe), code(0x10ffff), "\u00c0\u00ae".replace("\u00ae", "\ufffd")]],
  ["too long", ["a".repeat(256), "é".repeat(128), "😀".repeat(64), `${"a".repeat(256)}.txt`, `x/${"b".repeat(300)}`, `${"abcdefgh/".repeat(30)}${"c".repeat(255)}/${"d".repeat(255)}/${"e".repeat(255)}`, "a/".repeat(4_000), "a".repeat(10_000), "./".repeat(5_000) + name, "😀".repeat(5_000), "../".repeat(3_000), "\u0301".repeat(9_000)]],
  ["too deep", [`${"a/".repeat(32)}a`, `${"a/".repeat(40)}a`, `/work/${"a/".repeat(32)}a`, `./${"b/".repeat(33)}x`]],
  ["a home folder", ["~", "~/x", "~/.ssh/id_rsa", "/work/~/x", "./~/x"]],
];

/** Each lands where it says, or at the path behind it. */
const harmless: readonly (readonly [why: string, paths: readonly (string | readonly [path: string, lands: string])[]])[] = [
  ["a plain path", ["a.txt", "src/a.ts", "a b/c d.txt", ".env", ".git/config", "..a", "a..b", "...a", "a/..b/c", "a.b.c", "-rf", "--"]],
  ["as shells write it", [["/work/a", "a"], ["./a", "a"], ["././a", "a"], ["/work/./a", "a"], ["/work/work/a", "work/a"], "work/a", ["/work/a/b.txt", "a/b.txt"], ["./work/x", "work/x"]]],
  ["an address that nobody reads as one", ["a%2fb", "%2fetc%2fpasswd", "..%2f..%2fetc", "%252e%252e/x", "%252e%252e%252fx", "..%5cx", "%00", "a%00.txt", "%c0%ae%c0%ae/x", "%c0%af", "%e0%80%ae", "..%c0%afx", "..%ef%bc%8fx", "%u002e%u002e", "%%32%65", "100%", "%", "&#46;&#46;", "?a=b", "a#b"]],
  ["what looks like a slash or a dot", ["..∕x", "..⁄x", "..／x", "..＼x", "..⧵x", "﹨", "⧸etc⧸passwd", "‥/x", "…/x", "．．/x", "․․/x", "。。/x", ["/work/／etc", "／etc"], "᜵", "ﾟ", "à/¯", "\u00a0", "\u3000", "À®À®/x"]],
  ["two spellings of one name", ["caf\u00e9", ["cafe\u0301", "caf\u00e9"], ["\u212bngstrom", "\u00c5ngstrom"], ["A\u030angstrom", "\u00c5ngstrom"], ["\u2126", "\u03a9"], ["\u212a", "K"], ["\u1100\u1161", "\uac00"], ["q\u0307\u0323", "q\u0323\u0307"], ["\u037e", ";"], ["\u1fef", "`"], ["/work/cafe\u0301", "caf\u00e9"], ["\u0344", "\u0308\u0301"], ["\ufb1d", "\u05d9\u05b4"]]],
  ["what a program may take for its own", ["__proto__", "__proto__/x", "a/__proto__", "__proto__x", "constructor", "prototype", "toString", "hasOwnProperty", "a/__proto__/b", "constructor/prototype/x", "then", "toJSON", "null", "undefined", "NaN", "true", "0", "-1", "length", "valueOf", "default", "[object Object]"]],
  ["what a shell or a database may take for its own", ["$HOME", "$HOME/x", "${HOME}/x", "$(id)", "`id`", "; rm -rf x", "a|b", "a&&b", "a>b", "*", "?", "[a]", "{a,b}", "!x", "#x", "~root/x", "~x", "a~", "a/~/b", "'; DROP TABLE files; --", '"a"', "a_b", "%_%", "%APPDATA%/x", "%s%n", "{{7*7}}", "<script>", "@x", "=1+1", "-"]],
  ["a name of the house", ["thinkery.sqlite", "config.json", "daemon.json", "blobs/x", "global~alice/x", "files/x", "yjs/x", ".thinkery/x", "node_modules/x", "proc/self/environ", "etc/passwd", "dev/null", "tmp/x"]],
  ["almost a device", ["console.ts", "cone", "auxiliary", "null0", "com", "com10", "com1a", "a.con", "x.nul", "lpt", "git~", "git~a", "agit~1", "$con"]],
  ["what people write", ["Ünïcödé/文件.txt", "👨‍👩‍👧.png", "❤️.md", "1️⃣.txt", "می‌خواهم.txt", "שלום", "مرحبا", "ﬁ", "ß", "ı", "İ", "ς", "ſ", " a", "a/ b"]],
  ["as long and as deep as it may be", ["a".repeat(255), "é".repeat(127), `${"a/".repeat(31)}a`, [`/work/${"b/".repeat(31)}b`, `${"b/".repeat(31)}b`], [`./${"c".repeat(255)}/${"d".repeat(255)}`, `${"c".repeat(255)}/${"d".repeat(255)}`]]],
];

export const pathCases: readonly PathCase[] = [
  ...groups.flatMap(([why, paths]) => paths.map((path) => ({ path, why }))),
  ...harmless.flatMap(([why, paths]) => paths.map((one) => (typeof one === "string" ? { path: one, why, lands: one } : { path: one[0], why, lands: one[1] }))),
].filter(({ path }, index, all) => all.findIndex((other) => other.path === path) === index);

/** Names that some machines have one file for: who has the first cannot have the others too. */
export const twins: readonly (readonly string[])[] = [
  ["readme.md", "README.md", "ReadMe.MD"],
  ["src/a.ts", "SRC/a.ts", "Src/A.ts"],
  ["straße", "STRASSE", "straSSe", "STRAẞE"],
  ["ΑΣ", "ας", "ασ"],
  ["ſ", "s", "S"],
  ["K", "k"],
  ["µ", "μ", "Μ"],
  ["é", "É", "É"],
  ["ﬁle", "file", "FILE"],
  ["ǆ", "ǅ", "Ǆ"],
  ["❤️", "❤"],
];
