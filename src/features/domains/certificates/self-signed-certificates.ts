import { createSelfSigned } from '../../../lib/certificates/self-signed-certificate.ts';
import { timestamp } from '../../../lib/clock.ts';
import { DAY_MS } from '../../../lib/durations.ts';
import type { Platform } from '../../../platform/platform.ts';
import type { Sealer } from '../../../secrets/sealer.ts';
import { certificatesOf, installsWithOldCertificates, storeUnlessReplaced } from './store.ts';

const VALID_DAYS = 365;
/** Remaining validity at which a certificate is renewed. */
const RENEW_BEFORE_DAYS = 60;

/**
 * Creates a self-signed certificate for each domain without a certificate. Certificates of an authority stay, even if
 * expired, so that the problem is visible. Expired uploads stay until the authority has issued one; without an authority
 * they are replaced. Idempotent.
 */
export async function ensureCertificates(
  { config, database, sealer, clock }: Pick<Platform, 'config' | 'database' | 'sealer' | 'clock'>,
  domains: { id: string; name: string }[],
): Promise<void> {
  if (domains.length === 0) return;
  const present = await certificatesOf(
    database.reader,
    domains.map((domain) => domain.id),
  );
  // A certificate whose key can no longer be opened, because the sealing key was lost, is replaced.
  const renewed = timestamp(clock, RENEW_BEFORE_DAYS * DAY_MS);
  const covered = new Set(
    present
      .filter(({ source, not_after }) => {
        if (source === 'SELF_SIGNED') return not_after > renewed;
        return source !== 'THIRD_PARTY' || config.acmeDirectory !== null || not_after > timestamp(clock);
      })
      .filter(({ sealed_key }) => opens(sealer, sealed_key))
      .map((certificate) => certificate.domain_id),
  );
  for (const { id, name } of domains) {
    if (covered.has(id)) continue;
    const judged = present.find((one) => one.domain_id === id);
    const { chain, key, notBefore, notAfter } = await createSelfSigned({
      names: [name],
      notBefore: clock.now(),
      days: VALID_DAYS,
    });
    const certificate = {
      source: 'SELF_SIGNED' as const,
      directory_url: null,
      order_url: null,
      renewal_id: null,
      renew_at: null,
      upload_id: null,
      warned_days: null,
      chain,
      sealed_key: sealer.seal(key),
      not_before: notBefore.toISOString(),
      not_after: notAfter.toISOString(),
      created_at: timestamp(clock),
    };
    await database.write((transaction) =>
      storeUnlessReplaced(transaction, id, certificate, judged?.sealed_key),
    );
  }
}

function opens(sealer: Sealer, sealed: string): boolean {
  try {
    sealer.open(sealed);
    return true;
  } catch {
    return false;
  }
}

/** The installs with a self-signed certificate that is due for renewal, or an uploaded one that has expired. */
export async function installsToRenew({
  database,
  clock,
}: Pick<Platform, 'database' | 'clock'>): Promise<string[]> {
  return installsWithOldCertificates(database.reader, {
    selfSigned: timestamp(clock, RENEW_BEFORE_DAYS * DAY_MS),
    uploaded: timestamp(clock),
  });
}
