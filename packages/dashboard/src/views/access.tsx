import type { Token } from "@thinkery/sdk";
import { useState } from "react";
import { createCredentialsSource, revokeCredential } from "../api/credentials.ts";
import { useHasScope } from "../api/login.ts";
import { useSource } from "../api/source.ts";
import { announce } from "../frame/announce.tsx";
import { Button } from "../parts/button.tsx";
import { Confirm } from "../parts/confirm.tsx";
import { DateTime } from "../parts/date-time.tsx";
import { Empty } from "../parts/empty.tsx";
import { Notice } from "../parts/notice.tsx";

/** Who can act as the user: the browsers that are logged in, and tokens of programs. */
export function AccessView() {
  const canList = useHasScope("admin");
  return (
    <article className="view">
      <header className="view-head">
        <div>
          <h1>Logins and tokens</h1>
          <p className="lead">Everything that can act as you on this host. What you revoke is disconnected at once.</p>
        </div>
      </header>
      {canList ? (
        <Credentials />
      ) : (
        <Empty title="This requires the scope admin">
          <p>
            Your login cannot list logins and tokens. From a terminal: <code>thinkery token ls</code>
          </p>
        </Empty>
      )}
    </article>
  );
}

function Credentials() {
  const [credentials] = useState(createCredentialsSource);
  const { value, error } = useSource(credentials);
  const [revoking, setRevoking] = useState<Token>();
  const logins = value?.filter(({ kind }) => kind === "login") ?? [];
  const tokens = value?.filter(({ kind }) => kind === "token") ?? [];

  return (
    <>
      {error && (
        <Notice
          tone={value ? "warn" : "bad"}
          title="Failed to load logins and tokens"
          onRetry={() => void credentials.reload()}
        >
          {error.message}
        </Notice>
      )}
      {!value && !error && <p className="faint">Loading…</p>}
      {value && (
        <>
          <section aria-labelledby="logins">
            <div className="section-head">
              <h2 id="logins">Logins</h2>
            </div>
            {logins.length === 0 ? (
              <p className="faint">No browser is logged in.</p>
            ) : (
              <CredentialTable title="Browser" list={logins} onRevoke={setRevoking} />
            )}
          </section>
          <section aria-labelledby="tokens">
            <div className="section-head">
              <h2 id="tokens">Tokens</h2>
            </div>
            {tokens.length === 0 ? (
              <p className="faint">
                No tokens. From a terminal: <code>thinkery token new laptop</code>
              </p>
            ) : (
              <CredentialTable title="Token" list={tokens} onRevoke={setRevoking} />
            )}
          </section>
        </>
      )}
      {revoking && (
        <Revoke
          credential={revoking}
          onRevoked={() => void credentials.reload()}
          onClose={() => setRevoking(undefined)}
        />
      )}
    </>
  );
}

interface CredentialTableProps {
  title: string;
  list: readonly Token[];
  onRevoke(credential: Token): void;
}

function CredentialTable({ title, list, onRevoke }: CredentialTableProps) {
  return (
    <div className="table-frame">
      <table aria-label={`${title}s`}>
        <thead>
          <tr>
            <th scope="col" className="column-name">
              {title}
            </th>
            <th scope="col">Scopes</th>
            <th scope="col">Created</th>
            <th scope="col">Last used</th>
            <th scope="col">Expires</th>
            <th scope="col">
              <span className="visually-hidden">Actions</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {list.map((credential) => (
            <CredentialRow key={credential.id} credential={credential} onRevoke={onRevoke} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

function CredentialRow({ credential, onRevoke }: { credential: Token; onRevoke(credential: Token): void }) {
  const { id, name, scopes, createdAt, lastUsedAt, expiresAt, current } = credential;
  return (
    <tr>
      <th scope="row" title={id}>
        {name} {current && <span className="badge">this page</span>}
      </th>
      <td data-label="Scopes">{scopes.join(", ")}</td>
      <td data-label="Created">
        <DateTime at={createdAt} short />
      </td>
      <td data-label="Last used">{lastUsedAt === undefined ? "–" : <DateTime at={lastUsedAt} short />}</td>
      <td data-label="Expires">{expiresAt === undefined ? "never" : <DateTime at={expiresAt} />}</td>
      <td>
        <Button kind="quiet" aria-label={`Revoke ${name}`} onClick={() => onRevoke(credential)}>
          Revoke
        </Button>
      </td>
    </tr>
  );
}

interface RevokeProps {
  credential: Token;
  onRevoked(): void;
  onClose(): void;
}

function Revoke({ credential, onRevoked, onClose }: RevokeProps) {
  const { id, kind, name, current } = credential;
  const revoke = async () => {
    await revokeCredential(id);
    onClose();
    announce(`${name} revoked.`);
    onRevoked();
  };
  return (
    <Confirm title={`Revoke ${name}?`} action="Revoke" onConfirm={revoke} onClose={onClose}>
      <p>
        {kind === "login"
          ? "That browser is logged out at once."
          : "Programs that use this token stop working at once."}
        {current && " It is the one you are using: you need a new login link afterwards."}
      </p>
    </Confirm>
  );
}
