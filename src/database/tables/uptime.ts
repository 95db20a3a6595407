import type { Generated } from 'kysely';

/** A time in which every check of a website had the same result, at most a few minutes apart. */
export interface UptimeSpanRow {
  install_id: string;
  first_at: string;
  /** The latest check of the span. */
  last_at: string;
  is_up: boolean;
}

/** A time in which a website did not answer as it should. At most one of an install has not ended. */
export interface UptimeIncidentRow {
  seq: Generated<number>;
  id: string;
  install_id: string;
  /** Of its install. Triggers keep it for lists. */
  account_id: Generated<string | null>;
  /** One of `INCIDENT_CAUSES` (features/uptime/judgement.ts). */
  cause: string;
  /** One sentence for the owner of the website. */
  message: string;
  /** The errors that PHP wrote to its log at that time, with file and line. */
  php_error: string | null;
  /** Time of the first failed check. */
  started_at: string;
  /** Null while the next check has to decide whether it is an incident. */
  confirmed_at: string | null;
  ended_at: string | null;
  /** `unwatched`: the website is not asked any more, for example because it became a staging website. */
  end_kind: 'recovered' | 'unwatched' | null;
}
