import type { TSchema } from 'typebox';
import type { Caller } from '../../../../access/caller.ts';
import { authorize } from '../../../../access/permissions.ts';
import { changeFor } from '../../../../access/request-transactions.ts';
import { lockHostNames, lockRow } from '../../../../database/lock.ts';
import { timestamp } from '../../../../lib/clock.ts';
import type { Platform } from '../../../../platform/platform.ts';
import { applyInstall } from '../../../websites/installs/jobs.ts';
import { takeTurn } from '../../../websites/installs/operation-limits.ts';
import { findInstallAccess } from '../../../websites/installs/store.ts';
import { postponeOrder } from '../attempts-store.ts';
import { replaceCertificate } from '../store.ts';
import { coversName } from './adopt-uploads.ts';
import { uploadFault } from './certificate-fault.ts';
import { readUploadIsolated } from './isolated-upload.ts';
import type { ReadUpload } from './read-upload.ts';
import { clearReasons, type ServedDomain, servedDomainsOf } from './store.ts';

/** The changes of an upload. */
export interface StoredUpload {
  /** The names of the domains that have the certificate from now on. */
  domains: string[];
  /** ISO 8601. */
  not_after: string;
  serial_number: string;
}

/** Number of names in a message; the others are counted. */
const SHOWN_NAMES = 5;

export type UploadService = ReturnType<typeof createUploadService>;

/** `extraRoots`: PEM of roots that are trusted beside the well-known ones. */
export function createUploadService(platform: Platform, extraRoots: () => string[]) {
  const { database, queue, clock, random, sealer, activity, log } = platform;

  return {
    /**
     * Serves a certificate from elsewhere for all domains of an install that it covers, in place of the one that each has.
     * `schema`: of the request, for the order of its faults. Throws NotFound, Forbidden, InvalidRequest, RateLimited.
     */
    async upload(
      caller: Caller,
      installId: string,
      { schema, ...sent }: { certificate: string; private_key: string; schema: TSchema },
    ): Promise<StoredUpload> {
      authorize('install.work', 'install.read', await findInstallAccess(database.reader, caller, installId));
      const upload = await readUploadIsolated(
        { ...sent, now: clock.now(), extraRoots: extraRoots() },
        { schema, log },
      );
      return changeFor(database, caller, async (transaction) => {
        const { queries } = transaction;
        await lockHostNames(transaction);
        await lockRow(transaction, 'installs', installId);
        const install = await findInstallAccess(queries, caller, installId);
        authorize('install.work', 'install.read', install);
        const served = await servedDomainsOf(queries, installId);
        const covered = served.filter(({ name }) => coversName(upload.names, name));
        if (covered.length === 0) throw coversNothing(upload, served);
        await takeTurn(transaction, installId, 'upload_certificate', clock.now());
        const certificate = newCertificate(upload);
        for (const { id } of covered) {
          await replaceCertificate(queries, id, certificate);
          await postponeOrder(queries, id, certificate.not_after);
        }
        await clearReasons(
          queries,
          covered.map(({ id }) => id),
        );
        await queue.enqueue(transaction, applyInstall, {
          payload: { id: installId },
          lane: installId,
          requestId: caller.origin.requestId,
        });
        await activity.record(transaction, caller, install.account_id, {
          action: 'certificate.upload',
          subject: { id: installId, name: covered[0]?.name ?? '' },
          installId,
          details: { domains: covered.length, expires: certificate.not_after },
        });
        return {
          domains: covered.map(({ name }) => name),
          not_after: certificate.not_after,
          serial_number: upload.serialNumber,
        };
      });
    },
  };

  function newCertificate({ pem, key, notBefore, notAfter }: ReadUpload) {
    const third = (notAfter.getTime() - notBefore.getTime()) / 3;
    return {
      source: 'THIRD_PARTY' as const,
      chain: pem,
      sealed_key: sealer.seal(key),
      not_before: notBefore.toISOString(),
      not_after: notAfter.toISOString(),
      directory_url: null,
      order_url: null,
      renewal_id: null,
      // No warning comes before: a certificate can be shorter-lived than the first threshold.
      renew_at: new Date(notAfter.getTime() - third).toISOString(),
      upload_id: random.uuid(),
      warned_days: null,
      created_at: timestamp(clock),
    };
  }
}

function coversNothing({ names }: ReadUpload, served: ServedDomain[]) {
  return uploadFault(
    'certificate',
    'covers_no_domain',
    `The certificate is for ${listed(names)}, and the install serves ${listed(served.map(({ name }) => name))}. ` +
      'Add the domain to the install first, or upload a certificate for one of its domains.',
  );
}

function listed(names: string[]): string {
  const others = names.length - SHOWN_NAMES;
  return `${names.slice(0, SHOWN_NAMES).join(', ')}${others > 0 ? ` and ${others} more` : ''}`;
}
