import Type from 'typebox';
import type { Queries } from '../../../database/database.ts';
import { defineJob, type JobKind } from '../../../jobs/job.ts';
import { timestamp } from '../../../lib/clock.ts';
import { DAY_MS } from '../../../lib/durations.ts';
import type { Mailer } from '../../../mail/mailer.ts';
import type { Platform } from '../../../platform/platform.ts';
import { expiryMail } from './expiry-mail.ts';
import { recordWarned, unwarnedCertificates } from './store.ts';

/** Days before expiry at which the operator is warned about a certificate that was not renewed. */
const WARNED_AT = [14, 7, 1];
const BATCH = 500;

const mailPayload = Type.Object({
  certificates: Type.Array(
    Type.Object({
      domain: Type.String(),
      install: Type.String(),
      not_after: Type.String(),
      reason: Type.Union([Type.String(), Type.Null()]),
    }),
  ),
});

/** The jobs that warn the operator once at each threshold about certificates that were not renewed in time. */
export function expiryWarnings(platform: Platform, mailer: Mailer) {
  const { config, database, queue, clock, log } = platform;

  const mailWarning = defineJob({
    name: 'mail_expiry_warning',
    payload: mailPayload,
    maxAttempts: 12,
    timeoutMs: 60_000,
    async run({ certificates }) {
      if (config.operatorEmail === null) return;
      await mailer.send({ to: config.operatorEmail, ...expiryMail(certificates, clock.now()) });
    },
  });

  const warn = defineJob({
    name: 'warn_of_expiry',
    payload: Type.Object({}),
    maxAttempts: 3,
    timeoutMs: 60_000,
    async run() {
      const due = await dueWarnings(database.reader, clock.now());
      if (due.length === 0) return;
      for (const { domain, install, not_after, reason } of due) {
        log.error({ domain, install, expires: not_after, reason }, 'a certificate is about to expire');
      }
      return async (transaction) => {
        for (const certificate of due) await recordWarned(transaction.queries, certificate);
        if (config.operatorEmail === null) return;
        const certificates = due.map(({ domain, install, not_after, reason }) => ({
          domain,
          install,
          not_after,
          reason,
        }));
        await queue.enqueue(transaction, mailWarning, { payload: { certificates }, lane: null });
      };
    },
  });

  const kinds: JobKind[] = [mailWarning, warn];
  return { kinds, warn };
}

/** Certificates of served domains below a threshold that has not been warned about, soonest expiry first. */
async function dueWarnings(queries: Queries, now: Date) {
  const rows = await unwarnedCertificates(queries, {
    thresholds: WARNED_AT.map((days) => ({ days, endsBy: timestamp({ now: () => now }, days * DAY_MS) })),
    due: now.toISOString(),
    limit: BATCH,
  });
  return rows.map((row) => ({ ...row, threshold: threshold(row.not_after, now) }));
}

/** The lowest threshold that a certificate has reached. */
function threshold(notAfter: string, now: Date): number {
  const days = (Date.parse(notAfter) - now.getTime()) / DAY_MS;
  return Math.min(...WARNED_AT.filter((at) => days <= at));
}
