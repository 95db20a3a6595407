import { timingSafeEqual } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { CallerLimits } from '../access/caller.ts';
import { parseLimits } from '../access/limits.ts';
import type { Database, Queries } from '../database/database.ts';
import { createLastUses, minuteOf } from '../database/last-uses.ts';
import type { Clock } from '../lib/clock.ts';
import { parseUuid } from '../lib/ids.ts';
import { hashSecret } from '../secrets/random-secret.ts';

/** A valid credential's user and limits. */
export interface VerifiedCredential {
  userId: string;
  /** The API username. */
  credentialId: string;
  limits: CallerLimits | null;
}

/** How long a process trusts a cached credential: the longest delay of a revocation by another process. */
const REMEMBERED_MS = 4_000;
const REMEMBERED_CREDENTIALS = 10_000;
/** Compared with if the username is unknown, so that both cases take the same time. */
const NOBODY = hashSecret('');

export interface Authenticator {
  /** The username and password of a Basic header, or undefined if it cannot be read. */
  read(header: string): BasicCredentials | undefined;
  /** The user and limits of these credentials; null if they are wrong, expired or revoked. */
  verify(credentials: BasicCredentials): Promise<VerifiedCredential | null>;
  /** Forgets a credential that this process has changed. */
  forget(credentialId: string): void;
  /** Writes last uses that are still in memory. */
  flush(): Promise<void>;
}

export interface BasicCredentials {
  username: string;
  password: string;
}

interface CredentialRow {
  id: string;
  user_id: string;
  password_hash: string;
  expires_at: string | null;
  revoked_at: string | null;
  last_used_at: string | null;
  read_only: boolean;
  account_id: string | null;
  install_ids: unknown;
}

interface KnownCredential extends Omit<CredentialRow, 'read_only' | 'account_id' | 'install_ids'> {
  limits: CallerLimits | null;
}

/** HTTP Basic (RFC 7617) with API credentials. A cached check costs one hash and one lookup in memory. */
export function createAuthenticator(
  database: Database,
  clock: Clock,
  report: (error: unknown) => void,
): Authenticator {
  const known = new LRUCache<string, { credential: KnownCredential; until: number }>({
    max: REMEMBERED_CREDENTIALS,
  });
  /** Counts calls of forget, so that a query that was in progress during one is not cached. */
  let forgotten = 0;
  const uses = createLastUses(database, noteLastUsed, report);
  const find = database.prepare<{ id: string }, CredentialRow>((queries, parameter) =>
    queries
      .selectFrom('credentials')
      .select(['id', 'user_id', 'password_hash', 'expires_at', 'revoked_at', 'last_used_at'])
      .select(['read_only', 'account_id', 'install_ids'])
      .where('id', '=', parameter('id')),
  );

  async function look(id: string, now: number): Promise<KnownCredential | undefined> {
    const remembered = known.get(id);
    if (remembered && remembered.until > now) return remembered.credential;
    const before = forgotten;
    const [found] = await find({ id });
    const credential = found && knownFrom(found);
    if (forgotten !== before) return credential;
    if (credential) known.set(id, { credential, until: now + REMEMBERED_MS });
    else known.delete(id);
    return credential;
  }

  function noteUse(credential: KnownCredential, now: number): void {
    const minute = minuteOf(new Date(now));
    if (credential.last_used_at !== null && credential.last_used_at >= minute) return;
    credential.last_used_at = minute;
    uses.note(credential.id, minute);
  }

  return {
    read: readBasic,
    async verify({ username, password }) {
      const now = clock.now().getTime();
      const id = parseUuid(username);
      const credential = id === username ? await look(id, now) : undefined;
      const right = matches(password, credential?.password_hash ?? NOBODY);
      if (!credential || !right || credential.revoked_at !== null) return null;
      if (credential.expires_at !== null && Date.parse(credential.expires_at) <= now) return null;
      noteUse(credential, now);
      return { userId: credential.user_id, credentialId: credential.id, limits: credential.limits };
    },
    forget: (credentialId) => {
      forgotten++;
      known.delete(credentialId);
    },
    flush: uses.flush,
  };
}

async function noteLastUsed(queries: Queries, id: string, minute: string): Promise<void> {
  await queries
    .updateTable('credentials')
    .set({ last_used_at: minute })
    .where('id', '=', id)
    .where((eb) => eb.or([eb('last_used_at', 'is', null), eb('last_used_at', '<', minute)]))
    .execute();
}

function knownFrom({ read_only, account_id, install_ids, ...row }: Readonly<CredentialRow>): KnownCredential {
  return { ...row, limits: parseLimits({ read_only, account_id, install_ids }) };
}

function readBasic(header: string): BasicCredentials | undefined {
  const encoded = /^basic +([A-Za-z0-9+/_=-]+) *$/i.exec(header)?.[1];
  if (encoded === undefined) return undefined;
  const pair = Buffer.from(encoded, 'base64').toString('utf8');
  const colon = pair.indexOf(':');
  return colon === -1 ? undefined : { username: pair.slice(0, colon), password: pair.slice(colon + 1) };
}

function matches(password: string, hash: string): boolean {
  return timingSafeEqual(Buffer.from(hashSecret(password)), Buffer.from(hash));
}
