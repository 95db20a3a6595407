import Type, { type Static } from 'typebox';
import type { JobType } from '../../jobs/job.ts';
import { DAY_MS, MINUTE_MS } from '../../lib/durations.ts';

const transferPayload = Type.Object({ transfer_id: Type.String() });

/** How long an owner of the destination can accept. */
export const OFFER_DAYS = 14;
/** How far ahead a transfer can be scheduled. */
export const MOST_DAYS_AHEAD = 30;

/** Transfers a site to another account. Until the transfer is accepted, the job waits for the end of the offer. */
export const transferSite: JobType<typeof transferPayload> = {
  name: 'transfer_site',
  operation: 'site.transfer',
  payload: transferPayload,
  maxAttempts: 5,
  timeoutMs: 5 * MINUTE_MS,
  // It waits for copies between installs that the transfer separates, a day at most.
  patienceMs: (OFFER_DAYS + MOST_DAYS_AHEAD + 1) * DAY_MS,
};

/** The lane of a transfer. */
export const transferLane = (transferId: string) => `transfer:${transferId}`;

/** Queues the mails about an offered site to the owners of the destination. */
export const offerSite: JobType<typeof transferPayload> = {
  name: 'offer_site',
  payload: transferPayload,
  maxAttempts: 10,
  timeoutMs: MINUTE_MS,
};

const newsPayload = Type.Object({
  to: Type.String(),
  first_name: Type.String(),
  news: Type.Union([
    Type.Literal('offered'),
    Type.Literal('declined'),
    Type.Literal('expired'),
    Type.Literal('received'),
    Type.Literal('given'),
    Type.Literal('failed'),
  ]),
  site: Type.String(),
  /** Names of the installs. */
  installs: Type.Array(Type.String()),
  /** The account of the recipient, and its name. */
  account_id: Type.String(),
  account: Type.String(),
  /** The name of the other account; empty if the recipient must not learn it. */
  other_account: Type.String(),
  /** Why it failed; otherwise empty. */
  reason: Type.String(),
});
export type TransferNews = Static<typeof newsPayload>;

/** Emails an owner about a transfer. */
export const sendTransferMail: JobType<typeof newsPayload> = {
  name: 'send_transfer_mail',
  payload: newsPayload,
  maxAttempts: 10,
  timeoutMs: MINUTE_MS,
};
