import type { Sealer } from '../../secrets/sealer.ts';

/**
 * The password of the repository with an install's backups: 256 bits, base64url. Derived and not stored, so that whoever has the
 * sealing key can open the backups of a machine that is lost, and no install's password tells another's.
 */
export function backupPassword(sealer: Pick<Sealer, 'derive'>, installId: string): string {
  return sealer.derive(`backup:${installId}`);
}
