import Type, { type Static } from 'typebox';
import { LOG_KINDS, LOG_PAGE, LONGEST_SEARCH } from './choices.ts';
import { closed, orNull, sentences, text, time } from './message-values.ts';

/** The most bytes of entries that one call returns. */
export const LOG_PAGE_BYTES = 1024 * 1024;
/** The most bytes of one entry. */
export const LONGEST_ENTRY = 16 * 1024;

/** A position between two entries of one log: day, part of the day and byte. */
export const LOG_CURSOR = '^\\d{4}-\\d{2}-\\d{2}\\.\\d{1,6}\\.\\d{1,12}$';
/** A status, such as `404`, or a class of them, such as `5xx`. */
export const LOG_STATUS = '^[1-5](\\d\\d|xx)$';

/** A request to the website. */
export interface AccessEntry {
  /** When the answer ended: ISO 8601 in UTC. */
  time: string;
  /** Shortened once it is old enough. */
  address: string;
  method: string;
  scheme: string;
  host: string;
  /** Without the query, which may hold keys and tokens. */
  path: string;
  /** 0 if the visitor left before an answer. */
  status: number;
  bytes: number;
  /** As nginx names it: `HIT`, `MISS`; null without the page cache. */
  cache: string | null;
  seconds: number;
  /** Time of PHP, or of the bucket for offloaded files; null if neither was needed. */
  php_seconds: number | null;
  user_agent: string;
  /** Without the query. */
  referrer: string;
}

export const PHP_LEVELS = ['error', 'warning', 'notice', 'deprecated', 'message'] as const;
export type PhpLevel = (typeof PHP_LEVELS)[number];

/** A message in PHP's error log. */
export interface PhpEntry {
  time: string;
  level: PhpLevel;
  /** One text, however many lines it has. */
  message: string;
}

/** A run of the website's scheduled tasks. */
export interface CronEntry {
  /** When the run started. */
  time: string;
  seconds: number;
  /** Null if the run was ended, because it took too long. */
  exit: number | null;
  /** The end of what it printed. */
  output: string;
}

export const MAIL_EVENTS = ['queued', 'sent', 'deferred', 'failed', 'refused'] as const;
export type MailEvent = (typeof MAIL_EVENTS)[number];

/** An event of a message that the website sent. */
export interface MailEntry {
  time: string;
  /** The message's id in the queue; null if it was refused. */
  id: string | null;
  event: MailEvent;
  sender: string;
  /** The first 20. */
  recipients: string[];
  recipient_count: number;
  bytes: number | null;
  /** The relay's answer, or why the message was refused. */
  reason: string | null;
}

export interface LogEntries {
  access: AccessEntry;
  php: PhpEntry;
  cron: CronEntry;
  mail: MailEntry;
}

const cursor = Type.String({ pattern: LOG_CURSOR });

export const LogQuerySchema = Type.Object(
  {
    kind: Type.Enum([...LOG_KINDS]),
    /** Entries at or after this time. */
    from: orNull(time),
    /** Entries before this time. */
    to: orNull(time),
    /** A text that a value of the entry contains, in upper or lower case. */
    search: orNull(text(LONGEST_SEARCH)),
    /** See {@link LOG_STATUS}. For `access` only. */
    status: orNull(Type.String({ pattern: LOG_STATUS })),
    /** Where to continue; null: at the end of the log. */
    cursor: orNull(cursor),
    /** `older`: newest first. `newer`: oldest first, what came after the cursor. */
    direction: Type.Enum(['older', 'newer']),
    limit: Type.Integer({ minimum: 1, maximum: LOG_PAGE }),
  },
  closed,
);
export type LogQuery = Static<typeof LogQuerySchema>;

export const LogPageSchema = Type.Object({
  /** Entries as JSON, one text each. */
  lines: Type.Array(Type.String({ maxLength: LONGEST_ENTRY }), { maxItems: LOG_PAGE }),
  /** Where to continue; null if no older entries are left. A long search ends early, with few lines or none. */
  cursor: orNull(cursor),
  /** The end of the log when it was read. */
  end: cursor,
});
export type LogPage = Static<typeof LogPageSchema>;

/** Why a host has no logs of an install. */
export const LogRefusedSchema = Type.Object({
  refused: Type.Literal('unsupported'),
  /** In one sentence, for the website's owner. */
  reason: sentences,
});
export type LogRefused = Static<typeof LogRefusedSchema>;

/** The install of a log. */
export interface LoggedInstall {
  id: string;
  name: string;
}

/** A host's logs of its installs. */
export interface LogSource {
  /** Reads a page of a log of an install. */
  readLog(install: LoggedInstall, query: LogQuery, signal?: AbortSignal): Promise<LogPage | LogRefused>;
}
