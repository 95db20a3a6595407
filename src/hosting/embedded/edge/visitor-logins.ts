import { createHmac, randomBytes } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { LRUCache } from 'lru-cache';
import { addressBlock } from '../../../lib/address-block.ts';
import type { Clock } from '../../../lib/clock.ts';
import { MINUTE_MS } from '../../../lib/durations.ts';
import { entryLimit } from '../../../lib/entry-limit.ts';
import { isInRanges } from '../../policy/address-ranges.ts';
import { isPass, PASS_COOKIE, PASS_HEADER } from '../../policy/visitor-pass.ts';
import { isVisitorPassword } from '../../policy/visitor-password.ts';
import type { Vhost } from '../host-folder/vhost.ts';

/** Checks the name and password of visitors to protected websites (RFC 7617). */
export interface VisitorLogins {
  /** Why a visitor may not see the website; null if the visitor may. `header`: of `Authorization`. */
  refusal(
    vhost: Pick<Vhost, 'id' | 'revision' | 'protect'>,
    header: string | undefined,
    address: string | undefined,
  ): Promise<Refusal | null>;
  /** Whether a request has a pass of the website's WordPress. */
  hasPass(vhost: Pick<Vhost, 'protect'>, headers: IncomingHttpHeaders): boolean;
}

/** Whether these credentials are meant for the website's password, and not for its WordPress. */
export function namesVisitor({ protect }: Pick<Vhost, 'protect'>, header: string | undefined): boolean {
  const given = credentials(header);
  return given !== null && protect !== null && Object.hasOwn(protect.users, given.user);
}

/** `retryAfter`: seconds until the next attempt, after too many. */
export type Refusal = { status: 401; realm: string } | { status: 429; retryAfter: number };

/** The limits of the Lua module `protection`. */
const FAILURES = 10;
const FAILURES_MS = MINUTE_MS;
const COMPUTED_BY_INSTALL = 10;
const COMPUTED_IN_TOTAL = 40;
const REMEMBERED_MS = 10 * MINUTE_MS;
const MOST_REMEMBERED = 1_000;
const MOST_COUNTED = 10_000;

const BASIC = /^basic +([\w+/=-]+)$/i;

export function createVisitorLogins({ clock }: { clock: Clock }): VisitorLogins {
  const secret = randomBytes(32);
  const now = () => clock.now().getTime();
  /** Credentials that were right until that time, by a keyed hash: it holds no password. */
  const accepted = new LRUCache<string, number>(entryLimit(MOST_REMEMBERED));
  /** By install and address block, and by install and in total. */
  const failures = new LRUCache<string, { count: number; until: number }>(entryLimit(MOST_COUNTED));
  const computed = new LRUCache<string, { count: number; until: number }>(entryLimit(MOST_COUNTED));

  function count(
    counts: LRUCache<string, { count: number; until: number }>,
    key: string,
    windowMs: number,
  ): number {
    const present = counts.get(key);
    const window =
      present !== undefined && present.until > now() ? present : { count: 0, until: now() + windowMs };
    window.count++;
    counts.set(key, window);
    return window.count;
  }

  return {
    hasPass({ protect }, headers) {
      if (protect === null) return false;
      const sent = [headers[PASS_HEADER.toLowerCase()], passCookie(headers.cookie)];
      return sent.some((pass) => typeof pass === 'string' && isPass(protect.passKey, pass, clock.now()));
    },
    async refusal({ id, revision, protect }, header, address) {
      if (protect === null || isInRanges(protect.exempt, address)) return null;
      const given = credentials(header);
      if (given === null) return { status: 401, realm: protect.realm };
      const known = createHmac('sha256', secret)
        .update(`${id} ${revision} ${given.user}:${given.password}`)
        .digest('hex');
      if ((accepted.get(known) ?? 0) > now()) return null;
      const failed = `${id} ${addressBlock(address)}`;
      const before = failures.get(failed);
      if (before !== undefined && before.until > now() && before.count >= FAILURES) {
        return { status: 429, retryAfter: Math.ceil((before.until - now()) / 1_000) };
      }
      // Attempts that the install's own limit refuses do not use up the total of the others.
      const isExhausted =
        count(computed, id, 1_000) > COMPUTED_BY_INSTALL ||
        count(computed, 'total', 1_000) > COMPUTED_IN_TOTAL;
      if (isExhausted) return { status: 429, retryAfter: 1 };
      const hash = Object.hasOwn(protect.users, given.user) ? (protect.users[given.user] ?? null) : null;
      if ((await isVisitorPassword(hash, given.password)) && hash !== null) {
        accepted.set(known, now() + REMEMBERED_MS);
        return null;
      }
      count(failures, failed, FAILURES_MS);
      return { status: 401, realm: protect.realm };
    },
  };
}

function passCookie(header = ''): string | undefined {
  const prefix = `${PASS_COOKIE}=`;
  return header
    .split(';')
    .map((part) => part.trim())
    .find((part) => part.startsWith(prefix))
    ?.slice(prefix.length);
}

function credentials(header: string | undefined): { user: string; password: string } | null {
  const [, encoded] = BASIC.exec(header ?? '') ?? [];
  const text = encoded === undefined ? '' : Buffer.from(encoded, 'base64').toString('utf8');
  const colon = text.indexOf(':');
  return colon < 0 ? null : { user: text.slice(0, colon), password: text.slice(colon + 1) };
}
