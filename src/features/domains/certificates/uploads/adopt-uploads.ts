import { X509Certificate } from 'node:crypto';
import { timestamp } from '../../../../lib/clock.ts';
import { parsePeerCertificate } from '../../../../network/probe/peer-certificate.ts';
import type { Platform } from '../../../../platform/platform.ts';
import { covers } from '../../domains/domain-name.ts';
import { storeUnlessReplaced } from '../store.ts';
import { servedDomainsOf, uploadsOfInstall } from './store.ts';

/**
 * Gives an uploaded certificate of an install to its other domains that the certificate covers and that have none, a
 * self-signed one or an expired one: to domains that were added after the upload. Idempotent.
 */
export async function adoptUploads(
  { database, clock }: Pick<Platform, 'database' | 'clock'>,
  installId: string,
): Promise<void> {
  const now = timestamp(clock);
  const uploads = await uploadsOfInstall(database.reader, installId, now);
  if (uploads.length === 0) return;
  const candidates = [...new Map(uploads.map((upload) => [upload.upload_id, upload])).values()];
  const named = candidates.map((upload) => ({ upload, names: namesOf(upload.chain) }));
  for (const domain of await servedDomainsOf(database.reader, installId)) {
    if (domain.source !== 'SELF_SIGNED' && domain.not_after !== null && domain.not_after > now) continue;
    const found = named.find(({ names }) => coversName(names, domain.name));
    if (found === undefined) continue;
    const certificate = {
      ...found.upload,
      source: 'THIRD_PARTY' as const,
      directory_url: null,
      order_url: null,
      renewal_id: null,
    };
    await database.write((transaction) =>
      storeUnlessReplaced(transaction, domain.id, certificate, domain.sealed_key ?? undefined),
    );
  }
}

/** Whether a certificate with these names is valid for a domain, which can be a wildcard. */
export function coversName(names: readonly string[], domain: string): boolean {
  return names.some((name) => covers(name, domain));
}

function namesOf(chain: string): string[] {
  return parsePeerCertificate(new X509Certificate(chain)).dnsNames.map((name) => name.toLowerCase());
}
