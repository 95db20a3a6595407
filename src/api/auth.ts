import { timingSafeEqual } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { CallerLimits } from '../access/caller.ts';
import { parseLimits } from '../access/limits.ts';
import type { Database, Queries } from '../database/database.ts';
import { createLastUses, minuteOf } from '../database/last-uses.ts';
import type { Clock } from '../lib/clock.ts';
import { MINUTE_MS } from '../lib/durations.ts';
import { parseUuid } from '../lib/ids.ts';
import { hashSecret, isSecret } from '../secrets/random-secret.ts';

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
const NOBODY = Buffer.from(hashSecret(''), 'hex');

export interface Authenticator {
  /**
   * The credential of an `Authorization` header that has proved it before; undefined if {@link verify} must check it. Saves reading and
   * hashing it again.
   */
  recognise(header: string): VerifiedCredential | undefined;
  /** The username and password of a Basic header, or undefined if it cannot be read. */
  read(header: string): BasicCredentials | undefined;
  /**
   * The user and limits of these credentials; null if they are wrong, expired or revoked. At once if the credential is cached. The
   * `header` that they were read from is recognised from then on.
   */
  verify(
    credentials: BasicCredentials,
    header?: string,
  ): Promise<VerifiedCredential | null> | VerifiedCredential | null;
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

interface KnownCredential {
  verified: VerifiedCredential;
  passwordHash: Buffer;
  /** The header that last proved the password; null before the first. */
  header: Buffer | null;
  isRevoked: boolean;
  /** In milliseconds since 1970, as all times here. Infinity: never. */
  expiresAt: number;
  /** Uses before this time need not be noted. */
  usedUntil: number;
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
  const find = database.prepare<{ id: string }, CredentialRow>(
    (queries, parameter) =>
      queries
        .selectFrom('credentials')
        .select(['id', 'user_id', 'password_hash', 'expires_at', 'revoked_at', 'last_used_at'])
        .select(['read_only', 'account_id', 'install_ids'])
        .where('id', '=', parameter('id')),
    { credentials: ['id', 'id'] },
  );

  function remembered(id: string, now: number): KnownCredential | undefined {
    const entry = known.get(id);
    return entry && entry.until > now ? entry.credential : undefined;
  }

  async function load(id: string, now: number): Promise<KnownCredential | undefined> {
    const before = forgotten;
    const [found] = await find({ id });
    const credential = found && knownFrom(found);
    if (forgotten !== before) return credential;
    if (credential) known.set(id, { credential, until: now + REMEMBERED_MS });
    else known.delete(id);
    return credential;
  }

  function noteUse(credential: KnownCredential, now: number): void {
    if (now < credential.usedUntil) return;
    const minute = minuteOf(new Date(now));
    credential.usedUntil = endOf(minute);
    uses.note(credential.verified.credentialId, minute);
  }

  function check(
    credential: KnownCredential | undefined,
    password: string,
    now: number,
    header: string | undefined,
  ): VerifiedCredential | null {
    const isRight = isSecret(password, credential?.passwordHash ?? NOBODY);
    if (!credential || !isRight || !isValid(credential, now)) return null;
    if (header !== undefined) credential.header = Buffer.from(header, 'latin1');
    noteUse(credential, now);
    return credential.verified;
  }

  return {
    recognise(header) {
      const now = clock.now().getTime();
      const credential = remembered(usernameIn(header), now);
      if (!credential?.header || !isSame(header, credential.header) || !isValid(credential, now))
        return undefined;
      noteUse(credential, now);
      return credential.verified;
    },
    read: readBasic,
    verify({ username, password }, header) {
      const now = clock.now().getTime();
      const id = parseUuid(username);
      if (id !== username) return check(undefined, password, now, header);
      const credential = remembered(id, now);
      return credential
        ? check(credential, password, now, header)
        : load(id, now).then((loaded) => check(loaded, password, now, header));
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

function knownFrom(row: Readonly<CredentialRow>): KnownCredential {
  const { id, user_id, password_hash, expires_at, revoked_at, last_used_at } = row;
  return {
    verified: { userId: user_id, credentialId: id, limits: parseLimits(row) },
    passwordHash: Buffer.from(password_hash, 'hex'),
    header: null,
    isRevoked: revoked_at !== null,
    expiresAt: expires_at === null ? Number.POSITIVE_INFINITY : Date.parse(expires_at),
    usedUntil: last_used_at === null ? 0 : endOf(last_used_at),
  };
}

const endOf = (minute: string): number => Date.parse(minute) + MINUTE_MS;

const isValid = (credential: KnownCredential, now: number): boolean =>
  !credential.isRevoked && credential.expiresAt > now;

/** A username is a UUID, and Base64 writes its 36 bytes as 48 characters that depend on nothing else. */
const USERNAME_FROM = 'Basic '.length;
const USERNAME_TO = USERNAME_FROM + 48;

function usernameIn(header: string): string {
  return Buffer.from(header.slice(USERNAME_FROM, USERNAME_TO), 'base64').toString('latin1');
}

/** Whether a header is the remembered one. In constant time. */
function isSame(header: string, remembered: Buffer): boolean {
  return header.length === remembered.length && timingSafeEqual(Buffer.from(header, 'latin1'), remembered);
}

function readBasic(header: string): BasicCredentials | undefined {
  const encoded = /^basic +([A-Za-z0-9+/_=-]+) *$/i.exec(header)?.[1];
  if (encoded === undefined) return undefined;
  const pair = Buffer.from(encoded, 'base64').toString('utf8');
  const colon = pair.indexOf(':');
  return colon === -1 ? undefined : { username: pair.slice(0, colon), password: pair.slice(colon + 1) };
}
