import Type, { type Static } from 'typebox';
import { LISTED_MESSAGES } from './choices.ts';
import type { Immutable } from './immutable.ts';
import { closed, count, install, orNull, sentences, text, time, uuid } from './message-values.ts';

/** The mail limits of an install. Hosts of earlier versions do not know them. */
export interface MailState {
  /** Recipients that the install may send to within an hour; 0 for none. */
  perHour: number;
}

export const LISTED_REFUSALS = 20;
export const NAMED_RECIPIENTS = 3;
/** Refusals of so many days are listed. */
export const REFUSALS_DAYS = 7;
/** A reason is not repeated within this time: a website in a loop must not fill the list. */
export const REFUSAL_PAUSE_MS = 60_000;
/** The characters of a reason. */
export const LONGEST_REASON = 500;

/** A message of a website that the host or the mail server refused. */
const MailRefusalSchema = Type.Object({
  time,
  /** In one sentence, for the website's owner. */
  reason: sentences,
  /** The first {@link NAMED_RECIPIENTS}. Empty if the message was refused before they were known. */
  recipients: Type.Array(text(320), { maxItems: NAMED_RECIPIENTS }),
});
export type MailRefusal = Static<typeof MailRefusalSchema>;

/** The mail of an install, as its host counts it. */
export const InstallMailSchema = Type.Object({
  /** False if the host has no relay. It then refuses every message. */
  hasRelay: Type.Boolean(),
  /** Recipients that the install may send to within an hour. */
  limitPerHour: count,
  /** Recipients of the messages that the host accepted in the last hour. */
  sentLastHour: count,
  /** Messages that wait for the relay. */
  queued: count,
  /** Envelope sender of every message. Bounces go there. */
  sender: text(320),
  /** The last messages that were not delivered, latest first. Hosts of earlier versions leave it out. */
  refusals: Type.Optional(Type.Array(MailRefusalSchema, { maxItems: LISTED_REFUSALS })),
});
export type InstallMail = Static<typeof InstallMailSchema>;

export const MailRefusedSchema = Type.Object({
  /** The website cannot send mail. */
  refused: Type.Literal('website'),
  /** In one sentence, for the website's owner. */
  reason: sentences,
});
export type MailRefused = Static<typeof MailRefusedSchema>;

/** A message that waits for the relay. */
const QueuedMessageSchema = Type.Object({
  id: uuid,
  install,
  /** Recipients that have not got it yet. */
  recipients: count,
  bytes: count,
  queuedAt: time,
  attempts: count,
  /** Time of the next attempt. */
  nextAt: time,
  /** Why the last attempt failed; null before the first. */
  reason: orNull(sentences),
});
export type QueuedMessage = Static<typeof QueuedMessageSchema>;

/** The queue of a host. */
export const MailQueueReportSchema = Type.Object({
  /** `host:port`; null without a relay. */
  relay: orNull(text(300)),
  /** Why the relay cannot be used now; null if it can. The queue pauses meanwhile. */
  fault: orNull(sentences),
  messages: count,
  bytes: count,
  /** Time of the oldest message; null if the queue is empty. */
  oldest: orNull(time),
  /** The first ones, oldest first. */
  listed: Type.Array(QueuedMessageSchema, { maxItems: LISTED_MESSAGES }),
});
export type MailQueueReport = Static<typeof MailQueueReportSchema>;

/** Messages of an install, messages with these ids, or with null for both, all messages. */
export const MailSelectionSchema = Type.Object(
  { installId: orNull(uuid), ids: orNull(Type.Array(uuid, { maxItems: LISTED_MESSAGES })) },
  closed,
);
export type MailSelection = Immutable<Static<typeof MailSelectionSchema>>;

/** Mail of single installs. */
export interface MailHost {
  readMail(install: { id: string; name: string }): Promise<InstallMail | MailRefused>;
}

/** The mail queue of a machine, for its operator. */
export interface MailQueueControl {
  mailQueue(selection: MailSelection): Promise<MailQueueReport>;
  /** Makes messages due now. Returns their number. */
  retryMail(selection: MailSelection): Promise<number>;
  /** Deletes messages undelivered. Returns their number. A message that is being delivered stays. */
  deleteMail(selection: MailSelection): Promise<number>;
}
