import { createHmac, timingSafeEqual } from 'node:crypto';
import type { Sealer } from '../../../secrets/sealer.ts';

/** Where archives are downloaded, below the public URL. */
export const DOWNLOAD_PATH = '/downloads/archives';

/**
 * Signed links to archives. A link opens exactly one archive until it expires. It contains no credential, and knowing one link
 * does not help to make another.
 */
export interface ArchiveLinks {
  /** `expiresAt`: ISO 8601. */
  linkTo(archiveId: string, expiresAt: string): string;
  /** Whether a link with these parameters was made here and has not expired. */
  isValid(archiveId: string, parameters: { expires: string; signature: string }, now: Date): boolean;
}

export function createArchiveLinks(sealer: Pick<Sealer, 'derive'>, publicUrl: string): ArchiveLinks {
  const key = Buffer.from(sealer.derive('archive-links'), 'base64url');
  const signatureOf = (archiveId: string, expires: string) =>
    createHmac('sha256', key).update(`${archiveId}.${expires}`).digest();
  return {
    linkTo(archiveId, expiresAt) {
      const expires = String(Math.floor(Date.parse(expiresAt) / 1000));
      const signature = signatureOf(archiveId, expires).toString('base64url');
      return `${publicUrl.replace(/\/$/, '')}${DOWNLOAD_PATH}/${archiveId}?expires=${expires}&signature=${signature}`;
    },
    isValid(archiveId, { expires, signature }, now) {
      const given = Buffer.from(signature, 'base64url');
      const wanted = signatureOf(archiveId, expires);
      if (given.length !== wanted.length || !timingSafeEqual(given, wanted)) return false;
      return now.getTime() < Number(expires) * 1000;
    },
  };
}
