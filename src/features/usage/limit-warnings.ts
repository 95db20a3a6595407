import Type, { type Static } from 'typebox';
import { findOwners } from '../../access/owners.ts';
import type { Transaction } from '../../database/database.ts';
import { defineJob, type JobKind, type JobType } from '../../jobs/job.ts';
import { hasUnfinishedJobs } from '../../jobs/lanes.ts';
import type { Schedule } from '../../jobs/schedule.ts';
import { timestamp } from '../../lib/clock.ts';
import { MINUTE_MS } from '../../lib/durations.ts';
import type { Mailer, MailText } from '../../mail/mailer.ts';
import { createTurns } from '../../platform/long-reads.ts';
import type { Platform } from '../../platform/platform.ts';
import { createSubscribedMail } from '../accounts/notifications/subscribed-mail.ts';
import { accountRollup } from './account-usage.ts';
import { dayOf } from './days.ts';
import { accountsWithLimits, type LimitedAccount, recordWarning } from './limit-warnings-store.ts';
import type { AccountLimits } from './limits-store.ts';
import type { UsageScope } from './store.ts';

const nothing = Type.Object({});

/** Compares this month's usage of each account with its limits. */
export const checkLimits: JobType<typeof nothing> = {
  name: 'check_limits',
  payload: nothing,
  maxAttempts: 3,
  timeoutMs: 10 * MINUTE_MS,
};

const warningPayload = Type.Object({
  /** Jobs of earlier versions have none. */
  user_id: Type.Optional(Type.String()),
  to: Type.String(),
  first_name: Type.String(),
  account_id: Type.String(),
  account_name: Type.String(),
  limited: Type.Union([Type.Literal('visitors'), Type.Literal('bandwidth'), Type.Literal('storage')]),
  threshold: Type.Union([Type.Literal(80), Type.Literal(100)]),
  used: Type.Number(),
  limit: Type.Number(),
});
type LimitWarning = Static<typeof warningPayload>;

/** Mails an owner that their account has reached a part of a limit. */
export const sendLimitWarning: JobType<typeof warningPayload> = {
  name: 'send_limit_warning',
  payload: warningPayload,
  maxAttempts: 10,
  timeoutMs: MINUTE_MS,
};

type Threshold = LimitWarning['threshold'];

/** The highest threshold in percent that the usage has reached; null below all. */
export function reachedThreshold(used: number, limit: number): Threshold | null {
  if (used >= limit && used > 0) return 100;
  return limit > 0 && used >= 0.8 * limit ? 80 : null;
}

interface Reached {
  account: LimitedAccount;
  limited: keyof AccountLimits;
  threshold: Threshold;
  used: number;
  limit: number;
}

export function limitWarningJobKinds(
  platform: Pick<Platform, 'config' | 'database' | 'queue' | 'clock' | 'sealer'>,
  mailer: Mailer,
): JobKind[] {
  const { config, database, queue, clock } = platform;
  const subscribed = createSubscribedMail(platform);
  const inTurn = createTurns();

  async function reachedOf(account: LimitedAccount, today: string): Promise<Reached[]> {
    // The whole account, as its owners see it.
    const everyone = { userId: '', whole: [], partial: [], installIds: null };
    const of: UsageScope = { accountId: account.id, scope: everyone, isWhole: true };
    const range = { first: `${today.slice(0, 7)}-01`, last: today };
    const used = await accountRollup(database.reader, of, range, inTurn);
    const figures: Record<keyof AccountLimits, number> = {
      visitors: Number(used.billable_visits.sum ?? 0),
      bandwidth: Number(used.network_total_bytes.sum ?? 0),
      storage:
        Number(used.storage_file_bytes.latest.value ?? 0) +
        Number(used.storage_database_bytes.latest.value ?? 0),
    };
    return (['visitors', 'bandwidth', 'storage'] as const).flatMap((limited) => {
      const limit = account[limited];
      const threshold = limit === null ? null : reachedThreshold(figures[limited], limit);
      return limit === null || threshold === null
        ? []
        : [{ account, limited, threshold, used: figures[limited], limit }];
    });
  }

  /** Recorded in the transaction that queues the mails, so that no restart repeats or loses one. */
  async function warn(transaction: Transaction, reached: Reached, month: string): Promise<void> {
    const { account, limited, threshold, used, limit } = reached;
    const now = timestamp(clock);
    const key = { account_id: account.id, limited, month };
    const isNew = await recordWarning(transaction.queries, { ...key, threshold }, now);
    // A warning of 80 % would come too late.
    if (threshold === 100) await recordWarning(transaction.queries, { ...key, threshold: 80 }, now);
    if (!isNew) return;
    for (const { user_id, email, first_name } of await findOwners(transaction.queries, account.id, 'usage')) {
      await queue.enqueue(transaction, sendLimitWarning, {
        payload: {
          ...{ user_id, to: email, first_name, account_id: account.id, account_name: account.name },
          ...{ limited, threshold, used, limit },
        },
        lane: null,
        account: account.id,
      });
    }
  }

  return [
    defineJob({
      ...checkLimits,
      async run(_payload, { signal }) {
        const today = dayOf(clock.now());
        const reached: Reached[] = [];
        for (const account of await accountsWithLimits(database.reader)) {
          signal.throwIfAborted();
          reached.push(...(await reachedOf(account, today)));
        }
        return async (transaction) => {
          for (const one of reached) await warn(transaction, one, today.slice(0, 7));
        };
      },
    }),
    defineJob({
      ...sendLimitWarning,
      async run(warning) {
        const mail = { to: warning.to, ...warningMail(warning, config.publicUrl) };
        await mailer.send(subscribed(mail, { userId: warning.user_id, categories: ['usage'] }));
      },
    }),
  ];
}

/** Compares usage with limits after each second collection of traffic. */
export function limitSchedule({ queue }: Pick<Platform, 'queue'>): Schedule {
  return {
    name: checkLimits.name,
    cron: '7-59/10 * * * *',
    async enqueue(transaction) {
      if (await hasUnfinishedJobs(transaction.queries, checkLimits.name)) return;
      await queue.enqueue(transaction, checkLimits, { payload: {}, lane: checkLimits.name });
    },
  };
}

const NAMES: Record<keyof AccountLimits, string> = {
  visitors: 'visits',
  bandwidth: 'bandwidth',
  storage: 'storage',
};

function shown(limited: keyof AccountLimits, amount: number): string {
  return limited === 'visitors'
    ? new Intl.NumberFormat('en').format(amount)
    : `${(amount / 1e9).toFixed(2)} GB`;
}

export function warningMail(warning: LimitWarning, publicUrl: string): MailText {
  const { first_name, account_id, account_name, limited, threshold, used, limit } = warning;
  const name = NAMES[limited];
  const subject = `${account_name} has used ${threshold} % of its ${name}`;
  const period = limited === 'storage' ? '' : ' this month';
  return {
    subject,
    text: [
      `Hello ${first_name},`,
      '',
      `The account ${account_name} has used ${shown(limited, used)} of ${shown(limited, limit)} ${name}${period}.`,
      '',
      'Your websites go on as before. Ask your provider for a larger limit, or see which website uses most:',
      '',
      `  ${publicUrl}/accounts/${account_id}/usage`,
      '',
    ].join('\n'),
  };
}
