import { ACME_CHALLENGE_PREFIX } from '../../../hosting/contract/host.ts';
import { HostUnreachableError } from '../../../hosting/remote/client.ts';
import type { AcmeAccount, IssuedCertificate } from '../../../network/acme/authority.ts';
import { AcmeRefusal } from '../../../network/acme/refusal.ts';
import { forgetAccountUrl, registeredAccount } from './acme-account.ts';
import type { Issuance } from './issuance.ts';
import { precheck } from './precheck.ts';
import { AFTER_FINAL_REFUSAL_MS } from './schedule.ts';
import { recordValidation, ValidationsSpent, validationPause } from './validations.ts';

/** How one try to get a certificate ended. */
export type Outcome =
  | { kind: 'issued'; certificate: IssuedCertificate }
  /** The limit of validations, or a host that is away: nothing was tried, and nothing new is known. */
  | { kind: 'paused'; waitMs: number }
  /** `waitMs`: not before; null leaves it to the scale. `reached`: what was seen on the way, null for nothing. */
  | { kind: 'refused'; reason: string; waitMs: number | null; reached: boolean | null };

/** Orders of other hosts' names share the lanes, so this one's are not put off in there but asked for again. */
const HOST_AWAY_MS = 60_000;
const ACCOUNT_UNKNOWN = 'urn:ietf:params:acme:error:accountDoesNotExist';

/**
 * One try for one name: checks first, then orders. `replaces` is the renewal id of the present certificate. Throws only
 * what nobody foresaw.
 */
export async function obtain(
  issuance: Issuance,
  name: string,
  replaces: string | null,
  signal: AbortSignal,
): Promise<Outcome> {
  const { platform, directoryUrl } = issuance;
  const paused = () => validationPause(platform.database.reader, platform.clock, name);
  const waitMs = await paused();
  if (waitMs > 0) return { kind: 'paused', waitMs };
  let reached: boolean | null = null;
  let isRegistered = false;
  try {
    const checked = await precheck(issuance, name, signal);
    reached = checked.reached;
    if (checked.refusal !== null) return { kind: 'refused', reason: checked.refusal, waitMs: null, reached };
    const account = await registeredAccount(platform, issuance.authority, directoryUrl, signal);
    isRegistered = true;
    return { kind: 'issued', certificate: await order(issuance, name, account, replaces, signal) };
  } catch (error) {
    if (error instanceof ValidationsSpent) return { kind: 'paused', waitMs: await paused() };
    if (error instanceof HostUnreachableError) {
      platform.log.info({ err: error, domain: name }, 'a certificate waits for a host');
      return { kind: 'paused', waitMs: HOST_AWAY_MS };
    }
    if (!(error instanceof AcmeRefusal)) throw error;
    platform.log.warn({ err: error, domain: name }, 'the certificate authority issued no certificate');
    if (error.type === ACCOUNT_UNKNOWN) await forgetAccountUrl(platform, directoryUrl);
    // What is wrong with the account is the operator's to mend, who then need not wait for a day.
    const isFinal = error.permanent && isRegistered;
    const asked = isFinal ? AFTER_FINAL_REFUSAL_MS : error.retryAfterMs;
    const capped = asked === null ? null : Math.min(asked, AFTER_FINAL_REFUSAL_MS);
    return { kind: 'refused', reason: error.message, waitMs: capped, reached };
  }
}

function order(
  { authority, host, platform }: Issuance,
  name: string,
  account: AcmeAccount & { url: string },
  replaces: string | null,
  signal: AbortSignal,
): Promise<IssuedCertificate> {
  return authority.obtain({
    name,
    account,
    signal,
    ...(replaces === null ? {} : { replaces }),
    async publishChallenge(token, keyAuthorization) {
      // Before the authority is asked: what it was asked for counts, whatever becomes of this process.
      await platform.database.write((transaction) => recordValidation(transaction, platform.clock, name));
      const challenge = { hostname: name, path: `${ACME_CHALLENGE_PREFIX}${token}`, text: keyAuthorization };
      await host.publish(challenge);
      return () => host.withdraw(challenge);
    },
  });
}
