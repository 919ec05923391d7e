import { fail, type Scope, type Token } from "@thinkery/sdk";

type Kind = "token" | "login" | "code";

interface Row extends Record<string, SqlStorageValue> {
  id: string;
  hash: string;
  kind: string;
  name: string;
  scopes: string;
  created_at: number;
  expires_at: number | null;
  last_used_at: number | null;
  page_hash: string | null;
}

export interface NewCredential {
  id: string;
  hash: string;
  kind: Kind;
  name: string;
  scopes: readonly Scope[];
  expiresAt?: number;
  /** Hash of the secret that the page of a login holds. */
  pageHash?: string;
}

export interface CheckedCredential {
  kind: Exclude<Kind, "code">;
  scopes: Scope[];
  expiresAt?: number;
  pageHash?: string;
}

/** How a credential was presented: in a header, or as the cookie of a page that may hold its login's secret. */
export type Presentation = { via: "header" } | { via: "cookie"; pageHash: string | undefined };

/** Whether a credential may be used like that. A cookie alone is worthless: every local server is sent it. */
export function isUsable({ kind, pageHash }: CheckedCredential, presented: Presentation): boolean {
  if (presented.via === "header") return kind === "token";
  // Both are hashes, so the time this takes tells nothing about the secret.
  return kind === "login" && pageHash !== undefined && pageHash === presented.pageHash;
}

/** Opens one path once. */
export interface NewTicket {
  hash: string;
  path: string;
  scopes: readonly Scope[];
  expiresAt: number;
  /** The hash of the credential that it was created with. */
  credential?: string;
}

export interface RedeemedTicket {
  scopes: Scope[];
  credential?: string;
}

// The last use is stored at most once a minute: a write per request would cost an fsync each.
const useUpdateIntervalMs = 60_000;

/** They are listed together. */
const maxPerKind = 1000;

/** The tokens, page logins and one-time codes of one user. Only hashes are stored. */
export class Credentials {
  readonly #sql: SqlStorage;
  readonly #user: string;

  constructor(sql: SqlStorage, user: string) {
    this.#sql = sql;
    this.#user = user;
  }

  add(credential: NewCredential, now = Date.now()): Token {
    this.#sql.exec("DELETE FROM credentials WHERE expires_at < ?", now);
    this.#makeRoom(credential.kind);
    this.#sql.exec(
      "INSERT INTO credentials (id, hash, kind, name, scopes, created_at, expires_at, page_hash) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
      credential.id,
      credential.hash,
      credential.kind,
      credential.name,
      credential.scopes.join(" "),
      now,
      credential.expiresAt ?? null,
      credential.pageHash ?? null,
    );
    return this.#toToken(this.#sql.exec<Row>("SELECT * FROM credentials WHERE id = ?", credential.id).one());
  }

  /** Returns a credential that has not expired and is not a one-time code. */
  find(hash: string, now = Date.now()): CheckedCredential | undefined {
    const row = this.#findValid(hash, now);
    return row && row.kind !== "code" ? toCheckedCredential(row) : undefined;
  }

  /** Returns a valid credential that may be used like that, and notes its use. */
  use(hash: string, presented: Presentation, now = Date.now()): CheckedCredential | undefined {
    const row = this.#findValid(hash, now);
    if (!row || row.kind === "code") return undefined;
    const credential = toCheckedCredential(row);
    if (!isUsable(credential, presented)) return undefined;
    if (now - (row.last_used_at ?? 0) > useUpdateIntervalMs) {
      this.#sql.exec("UPDATE credentials SET last_used_at = ? WHERE id = ?", now, row.id);
    }
    return credential;
  }

  /** Consumes a one-time code and returns its scopes. */
  redeem(hash: string, now = Date.now()): Scope[] | undefined {
    const row = this.#findValid(hash, now);
    if (row?.kind !== "code") return undefined;
    this.#sql.exec("DELETE FROM credentials WHERE id = ?", row.id);
    return parseScopes(row);
  }

  addTicket({ hash, path, scopes, expiresAt, credential }: NewTicket, now = Date.now()): void {
    this.#sql.exec("DELETE FROM tickets WHERE expires_at < ?", now);
    this.#sql.exec(
      "INSERT INTO tickets VALUES (?, ?, ?, ?, ?)",
      hash,
      path,
      scopes.join(" "),
      expiresAt,
      credential ?? null,
    );
  }

  /** Consumes a ticket, whatever path it is for, and returns what it grants if it is valid for this one. */
  redeemTicket(hash: string, path: string, now = Date.now()): RedeemedTicket | undefined {
    const [row] = this.#sql
      .exec<{ path: string; scopes: string; expires_at: number; credential: string | null }>(
        "DELETE FROM tickets WHERE hash = ? RETURNING *",
        hash,
      )
      .toArray();
    if (!row || row.path !== path || row.expires_at <= now) return undefined;
    return { scopes: parseScopes(row), ...(row.credential ? { credential: row.credential } : {}) };
  }

  list(currentHash?: string, now = Date.now()): Token[] {
    return this.#sql
      .exec<Row>(
        "SELECT * FROM credentials WHERE kind <> 'code' AND (expires_at IS NULL OR expires_at > ?) ORDER BY created_at",
        now,
      )
      .toArray()
      .map((row) => ({ ...this.#toToken(row), ...(row.hash === currentHash ? { current: true as const } : {}) }));
  }

  /** Returns the hash of the revoked credential, so that caches can drop it. */
  revoke(by: { id: string } | { hash: string }): string | undefined {
    const [column, value] = "id" in by ? ["id", by.id] : ["hash", by.hash];
    const [row] = this.#sql.exec<Row>(`SELECT * FROM credentials WHERE ${column} = ?`, value).toArray();
    if (!row) return undefined;
    this.#sql.exec("DELETE FROM credentials WHERE id = ?", row.id);
    return row.hash;
  }

  clear(): void {
    this.#sql.exec("DELETE FROM credentials");
  }

  /** Programs depend on their tokens. Of logins and codes, the oldest end. */
  #makeRoom(kind: Kind): void {
    const { count } = this.#sql
      .exec<{ count: number }>("SELECT count(*) AS count FROM credentials WHERE kind = ?", kind)
      .one();
    if (count < maxPerKind) return;
    if (kind === "token")
      throw fail("conflict", `A user can have at most ${maxPerKind} tokens. Revoke those you no longer need.`);
    this.#sql.exec(
      "DELETE FROM credentials WHERE id IN (SELECT id FROM credentials WHERE kind = ? ORDER BY created_at LIMIT ?)",
      kind,
      count - maxPerKind + 1,
    );
  }

  #findValid(hash: string, now: number): Row | undefined {
    const [row] = this.#sql.exec<Row>("SELECT * FROM credentials WHERE hash = ?", hash).toArray();
    return row && (row.expires_at === null || row.expires_at > now) ? row : undefined;
  }

  #toToken(row: Row): Token {
    return {
      id: row.id,
      kind: row.kind as Token["kind"],
      name: row.name,
      user: this.#user,
      scopes: parseScopes(row),
      createdAt: new Date(row.created_at).toISOString(),
      ...(row.expires_at ? { expiresAt: new Date(row.expires_at).toISOString() } : {}),
      ...(row.last_used_at ? { lastUsedAt: new Date(row.last_used_at).toISOString() } : {}),
    };
  }
}

const parseScopes = (row: Pick<Row, "scopes">) => row.scopes.split(" ") as Scope[];

function toCheckedCredential(row: Row): CheckedCredential {
  return {
    kind: row.kind as CheckedCredential["kind"],
    scopes: parseScopes(row),
    ...(row.expires_at ? { expiresAt: row.expires_at } : {}),
    ...(row.page_hash ? { pageHash: row.page_hash } : {}),
  };
}
