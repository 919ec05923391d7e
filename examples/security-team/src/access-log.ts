export interface LogLine {
  at: string;
  ip: string;
  user: string;
  path: string;
  status: number;
}

const line = (minute: number, ip: string, user: string, path: string, status: number): LogLine => ({
  at: new Date(Date.UTC(2026, 0, 15, 9, minute)).toISOString(),
  ip,
  user,
  path,
  status,
});

/** A morning at a company: two employees, and one attacker. */
export const accessLog: readonly LogLine[] = [
  line(1, "192.0.2.10", "ada", "/login", 200),
  line(2, "192.0.2.10", "ada", "/reports", 200),
  ...["root", "admin", "ada", "bob", "test", "backup", "oracle"].map((user, index) =>
    line(3 + index, "203.0.113.77", user, "/login", 401),
  ),
  line(11, "192.0.2.23", "bob", "/login", 401),
  line(12, "192.0.2.23", "bob", "/login", 200),
  line(15, "192.0.2.10", "ada", "/reports/7", 200),
  line(18, "203.0.113.77", "bob", "/login", 200),
  line(19, "203.0.113.77", "bob", "/export/customers", 200),
  line(21, "192.0.2.23", "bob", "/mail", 200),
];
