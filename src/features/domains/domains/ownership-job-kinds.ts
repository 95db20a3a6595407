import { PLATFORM } from '../../../access/caller.ts';
import { defineJob, type JobKind } from '../../../jobs/job.ts';
import { hasUnfinishedJobs } from '../../../jobs/lanes.ts';
import type { Schedule } from '../../../jobs/schedule.ts';
import { timestamp } from '../../../lib/clock.ts';
import { mapConcurrent } from '../../../lib/concurrency.ts';
import type { Mailer } from '../../../mail/mailer.ts';
import type { Platform } from '../../../platform/platform.ts';
import { lostNameMail } from './lost-name-mail.ts';
import { challengeOf } from './ownership.ts';
import { checkVerifications, notifyNameLost } from './ownership-jobs.ts';
import { LOOK_UP_MS, type LookUpTxtRecords } from './ownership-service.ts';
import { concludeCheck } from './verifications.ts';
import { dueVerifications, type Verification } from './verifications-store.ts';

const LANE = checkVerifications.name;
const MOST_A_MINUTE = 60;
const AT_ONCE = 4;

/** Has due proofs looked for each minute, except while an earlier minute's are not done. */
export function verificationSchedule({ queue }: Pick<Platform, 'queue'>): Schedule {
  return {
    name: checkVerifications.name,
    cron: '* * * * *',
    async enqueue(transaction) {
      if (await hasUnfinishedJobs(transaction.queries, LANE)) return;
      await queue.enqueue(transaction, checkVerifications, { payload: {}, lane: LANE });
    },
  };
}

/** Looks for the TXT records of domains that are not proved yet, so that owners need not ask; and emails the owners who lose names. */
export function ownershipJobKinds(
  platform: Platform,
  mailer: Mailer,
  lookUpTexts: LookUpTxtRecords,
): JobKind[] {
  const { config, database, clock } = platform;

  return [
    defineJob({
      ...checkVerifications,
      async run(_payload, { signal }) {
        const due = await dueVerifications(database.reader, timestamp(clock), MOST_A_MINUTE);
        await mapConcurrent(due, AT_ONCE, (verification) => look(verification, signal));
      },
    }),
    defineJob({
      ...notifyNameLost,
      async run({ to, ...lost }) {
        await mailer.send({ to, ...lostNameMail(lost, config.publicUrl) });
      },
    }),
  ];

  /** Each in its own transaction, so a failure leaves the other results. */
  async function look(verification: Verification, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    const { key } = challengeOf(verification.registrable, verification.token);
    const limit = AbortSignal.any([signal, AbortSignal.timeout(LOOK_UP_MS)]);
    const texts = await lookUpTexts(key, limit);
    signal.throwIfAborted();
    await database.write((transaction) =>
      concludeCheck(transaction, platform, verification, texts, PLATFORM),
    );
  }
}
