import { createSelfSigned } from '../../../hosting/policy/self-signed-certificate.ts';
import { timestamp } from '../../../lib/clock.ts';
import { DAY_MS } from '../../../lib/durations.ts';
import type { Platform } from '../../../platform/platform.ts';
import type { Sealer } from '../../../secrets/sealer.ts';
import { certificatesOf, insertSelfSigned, installsWithSelfSigned } from './store.ts';

const VALID_DAYS = 365;
/** Renewed when this much of its life is left. */
const RENEW_BEFORE_DAYS = 60;

/**
 * Sees to it that every one of these domains has a certificate: a self-signed one where no authority gave one. What an
 * authority gave stays, expired or not: how it stands is then plain to see. Idempotent.
 */
export async function ensureCertificates(
  { database, sealer, clock }: Pick<Platform, 'database' | 'sealer' | 'clock'>,
  domains: { id: string; name: string }[],
): Promise<void> {
  if (domains.length === 0) return;
  const present = await certificatesOf(
    database.reader,
    domains.map((domain) => domain.id),
  );
  // One whose key cannot be opened any more (the sealing key was lost) serves nobody: another is made.
  const renewed = timestamp(clock, RENEW_BEFORE_DAYS * DAY_MS);
  const covered = new Set(
    present
      .filter(({ source, not_after }) => source !== 'SELF_SIGNED' || not_after > renewed)
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
      warned_days: null,
      chain,
      sealed_key: sealer.seal(key),
      not_before: notBefore.toISOString(),
      not_after: notAfter.toISOString(),
      created_at: timestamp(clock),
    };
    await database.write((transaction) => insertSelfSigned(transaction, id, certificate, judged?.sealed_key));
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

/** The installs that have a self-signed certificate to renew. */
export async function installsToRenew({
  database,
  clock,
}: Pick<Platform, 'database' | 'clock'>): Promise<string[]> {
  return installsWithSelfSigned(database.reader, timestamp(clock, RENEW_BEFORE_DAYS * DAY_MS));
}
