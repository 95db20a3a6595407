import { createHmac, timingSafeEqual } from 'node:crypto';
import type { Sealer } from '../../secrets/sealer.ts';

/** Where archives and single files of backups are downloaded, below the public URL. */
export const DOWNLOAD_PATH = '/downloads/archives';
export const FILES_PATH = '/downloads/backups';

/**
 * Signed links. A link opens exactly one resource until it expires. It contains no credential, and knowing one link does not help to
 * make another.
 */
export interface DownloadLinks {
  /** `expiresAt`: ISO 8601. `further`: what else of the link is signed. */
  linkTo(id: string, expiresAt: string, further?: Readonly<Record<string, string>>): string;
  /** Whether a link with these parameters was made here and has not expired. */
  isValid(
    id: string,
    parameters: { expires: string; signature: string; further?: Readonly<Record<string, string>> },
    now: Date,
  ): boolean;
}

/** Each purpose has its own key. `address`: the links without the id. */
export function signedLinks(
  sealer: Pick<Sealer, 'derive'>,
  { purpose, address }: { purpose: string; address: string },
): DownloadLinks {
  const key = Buffer.from(sealer.derive(purpose), 'base64url');
  const signatureOf = (id: string, expires: string, further: Readonly<Record<string, string>>) =>
    createHmac('sha256', key)
      // Links without further fields are also those of earlier versions.
      .update(Object.keys(further).length === 0 ? `${id}.${expires}` : JSON.stringify([id, expires, further]))
      .digest();
  return {
    linkTo(id, expiresAt, further = {}) {
      const expires = String(Math.floor(Date.parse(expiresAt) / 1000));
      const signature = signatureOf(id, expires, further).toString('base64url');
      return `${address}/${id}?${new URLSearchParams({ ...further, expires, signature })}`;
    },
    isValid(id, { expires, signature, further = {} }, now) {
      const given = Buffer.from(signature, 'base64url');
      const wanted = signatureOf(id, expires, further);
      if (given.length !== wanted.length || !timingSafeEqual(given, wanted)) return false;
      return now.getTime() < Number(expires) * 1000;
    },
  };
}
