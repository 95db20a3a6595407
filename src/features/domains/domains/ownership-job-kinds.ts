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

/** Queues the due checks each minute, unless those of an earlier minute are unfinished. */
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

/** The jobs that check unverified domains in the background and notify owners who lose a name. */
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

  /** Uses one transaction for each verification, so a failure keeps the other results. */
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
