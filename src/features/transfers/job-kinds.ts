import { RATE_LIMITS, type RateCounter, rateLimitKey } from '../../access/rate-limits.ts';
import { defineJob, type JobKind } from '../../jobs/job.ts';
import type { Mailer } from '../../mail/mailer.ts';
import type { Platform } from '../../platform/platform.ts';
import { offerSite, sendTransferMail, transferSite } from './jobs.ts';
import { transferMail } from './mail.ts';
import { concludeTransfer, endTransfer } from './move.ts';
import { tellOwners } from './news.ts';
import { findTransfer } from './store.ts';

const { size, windowSeconds } = RATE_LIMITS.transferOffers;

/** The jobs that transfer sites and email owners about it. */
export function transferJobKinds(platform: Platform, counter: RateCounter, mailer: Mailer): JobKind[] {
  const { config, database } = platform;
  return [
    defineJob({
      ...transferSite,
      // The whole transfer is one transaction, and a repetition finds it ended.
      run: ({ transfer_id }) =>
        database.write((transaction) => concludeTransfer(transaction, platform, transfer_id)),
      giveUp: ({ transfer_id }, { reason }, transaction) =>
        endTransfer(transaction, platform, transfer_id, reason),
    }),
    defineJob({
      ...offerSite,
      async run({ transfer_id }, { attempt, log }) {
        const transfer = await findTransfer(database.reader, transfer_id);
        if (!transfer?.awaits_acceptance || transfer.destination_name === null) return;
        // Retries count once.
        const key = rateLimitKey(RATE_LIMITS.transferOffers, transfer.destination_account_id);
        if (attempt === 1 && !(await counter.spend(key, size, windowSeconds)).allowed) {
          log.info({ transfer: transfer_id }, 'mail about a site transfer dropped: hourly limit reached');
          return;
        }
        return (transaction) =>
          tellOwners(transaction, platform, transfer, { news: 'offered', to: 'destination' });
      },
    }),
    defineJob({
      ...sendTransferMail,
      async run({ to, ...news }) {
        await mailer.send({ to, ...transferMail(news, config.publicUrl) });
      },
    }),
  ];
}
