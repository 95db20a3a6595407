/** The mail limits of an install. Hosts of earlier versions do not know them. */
export interface MailState {
  /** Recipients that the install may send to within an hour; 0 for none. */
  perHour: number;
}

/** The mail of an install, as its host counts it. */
export interface InstallMail {
  /** False if the host has no relay. It then refuses every message. */
  hasRelay: boolean;
  /** Recipients that the install may send to within an hour. */
  limitPerHour: number;
  /** Recipients of the messages that the host accepted in the last hour. */
  sentLastHour: number;
  /** Messages that wait for the relay. */
  queued: number;
  /** Envelope sender of every message. Bounces go there. */
  sender: string;
  /** The last messages that were not delivered, latest first: {@link LISTED_REFUSALS} at most. Hosts of earlier versions leave it out. */
  refusals?: MailRefusal[];
}

/** A message of a website that the host or the mail server refused. */
export interface MailRefusal {
  /** ISO 8601 in UTC. */
  time: string;
  /** In one sentence, for the website's owner. */
  reason: string;
  /** The first {@link NAMED_RECIPIENTS}. Empty if the message was refused before they were known. */
  recipients: string[];
}

export const LISTED_REFUSALS = 20;
export const NAMED_RECIPIENTS = 3;
/** Refusals of so many days are listed. */
export const REFUSALS_DAYS = 7;
/** A reason is not repeated within this time: a website in a loop must not fill the list. */
export const REFUSAL_PAUSE_MS = 60_000;
/** The characters of a reason. */
export const LONGEST_REASON = 500;

export interface MailRefused {
  /** The website cannot send mail. */
  refused: 'website';
  /** In one sentence, for the website's owner. */
  reason: string;
}

/** A message that waits for the relay. */
export interface QueuedMessage {
  /** UUID. */
  id: string;
  install: { id: string; name: string };
  /** Recipients that have not got it yet. */
  recipients: number;
  bytes: number;
  /** ISO 8601 in UTC. */
  queuedAt: string;
  attempts: number;
  /** Time of the next attempt, ISO 8601 in UTC. */
  nextAt: string;
  /** Why the last attempt failed; null before the first. */
  reason: string | null;
}

/** The queue of a host. */
export interface MailQueueReport {
  /** `host:port`; null without a relay. */
  relay: string | null;
  /** Why the relay cannot be used now; null if it can. The queue pauses meanwhile. */
  fault: string | null;
  messages: number;
  bytes: number;
  /** Time of the oldest message, ISO 8601 in UTC; null if the queue is empty. */
  oldest: string | null;
  /** The first {@link LISTED_MESSAGES}, oldest first. */
  listed: QueuedMessage[];
}

/** The most messages that a report lists, and that a selection names. */
export const LISTED_MESSAGES = 200;

/** Messages of an install, messages with these ids, or with null for both, all messages. */
export interface MailSelection {
  installId: string | null;
  ids: readonly string[] | null;
}

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
