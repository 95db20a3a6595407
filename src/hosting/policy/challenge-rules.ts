import { DAY_MS } from '../../lib/durations.ts';
import { CHALLENGE_TOKEN, isServedName } from '../../lib/host-names.ts';
import { PermanentHostError } from '../contract/errors.ts';
import { ACME_CHALLENGE_PREFIX, DOMAIN_CHECK_PREFIX, type Proof } from '../contract/proofs.ts';

/** Challenge files that no one withdraws expire after this time. */
export const CHALLENGE_LIFETIME_MS = DAY_MS;

const MAX_TEXT_BYTES = 1024;
/** Base64url, as in RFC 8555 section 8.3. */
const TOKEN = new RegExp(`^${CHALLENGE_TOKEN}$`);
const PREFIXES = [ACME_CHALLENGE_PREFIX, DOMAIN_CHECK_PREFIX];

/** Whether challenge files are published below a prefix of this path. */
export function hasChallengePrefix(path: string): boolean {
  return PREFIXES.some((prefix) => path.startsWith(prefix));
}

/** Whether the path is that of a challenge file: a prefix and a token. */
export function isChallengePath(path: string): boolean {
  const prefix = PREFIXES.find((one) => path.startsWith(one));
  return prefix !== undefined && TOKEN.test(path.slice(prefix.length));
}

/** Throws a {@link PermanentHostError} if no challenge file can have this host name and path. */
export function assertChallengePlace({ hostname, path }: Pick<Proof, 'hostname' | 'path'>): void {
  if (!isServedName(hostname)) {
    throw new PermanentHostError(
      `cannot publish a challenge file for "${hostname}": not a host name in lower case`,
    );
  }
  if (!isChallengePath(path)) {
    throw new PermanentHostError(
      `cannot publish a challenge file at "${path}": not a token below ${PREFIXES.join(' or ')}`,
    );
  }
}

/** Throws a {@link PermanentHostError} if a challenge file cannot have this text. */
export function assertChallengeText(text: string): void {
  if (text === '' || !text.isWellFormed() || Buffer.byteLength(text) > MAX_TEXT_BYTES) {
    throw new PermanentHostError(`a challenge file has 1 to ${MAX_TEXT_BYTES} bytes of UTF-8`);
  }
}
