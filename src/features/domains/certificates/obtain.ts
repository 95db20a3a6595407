import { ACME_CHALLENGE_PREFIX } from '../../../hosting/contract/proofs.ts';
import { HostUnreachableError } from '../../../hosting/remote/client.ts';
import type { AcmeAccount, IssuedCertificate } from '../../../network/acme/authority.ts';
import { AcmeRefusal } from '../../../network/acme/refusal.ts';
import { forgetAccountUrl, registeredAccount } from './acme-account.ts';
import type { Issuance } from './issuance.ts';
import { precheck } from './precheck.ts';
import { AFTER_FINAL_REFUSAL_MS } from './schedule.ts';
import { recordValidation, ValidationsSpent, validationPause } from './validations.ts';

/** Result of one attempt to get a certificate. */
export type Outcome =
  | { kind: 'issued'; certificate: IssuedCertificate }
  /** Not attempted, because the limit of validations is reached or a host is unreachable. */
  | { kind: 'paused'; waitMs: number }
  /** `waitMs`: shortest wait; null uses the retry schedule. `reached`: observed reachability, null if unknown. */
  | { kind: 'refused'; reason: string; waitMs: number | null; reached: boolean | null };

/** Orders for other hosts share the lanes, so an order for an unreachable host ends and is queued again later. */
const HOST_AWAY_MS = 60_000;
const ACCOUNT_UNKNOWN = 'urn:ietf:params:acme:error:accountDoesNotExist';

/**
 * Attempts to get a certificate for one name: checks first, then orders. `replaces`: renewal id of the present certificate.
 * Throws only unexpected errors.
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
      platform.log.info({ err: error, domain: name }, 'certificate order waits for an unreachable host');
      return { kind: 'paused', waitMs: HOST_AWAY_MS };
    }
    if (!(error instanceof AcmeRefusal)) throw error;
    platform.log.warn({ err: error, domain: name }, 'the certificate authority issued no certificate');
    if (error.type === ACCOUNT_UNKNOWN) await forgetAccountUrl(platform, directoryUrl);
    // A problem with the account is retried sooner, so that operators who fix it do not wait for a day.
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
      // Recorded before the request, because it counts at the authority even if this process dies.
      await platform.database.write((transaction) => recordValidation(transaction, platform.clock, name));
      const challenge = { hostname: name, path: `${ACME_CHALLENGE_PREFIX}${token}`, text: keyAuthorization };
      await host.publish(challenge);
      return () => host.withdraw(challenge);
    },
  });
}
