import type { Generated } from 'kysely';
import type { Json } from './json.ts';

/** What one user must know of an event. Unread rows about the same problem and subject are one (features/accounts/notifications). */
export interface NotificationRow {
  seq: Generated<number>;
  id: string;
  user_id: string;
  account_id: string;
  category: string;
  /** The rule that made it, and the key under which repetitions are counted. */
  problem: string;
  /** What has the problem, such as an install; empty for many things together. */
  subject: string;
  install_id: string | null;
  install_name: string | null;
  /** Texts and numbers of the latest event. */
  facts: Json;
  /** Events that it stands for. */
  count: Generated<number>;
  first_at: string;
  last_at: string;
  read_at: string | null;
  /** When an email about it may go out; null: none is due. */
  mail_due_at: string | null;
  mailed_at: string | null;
}

/** The choice of a user that differs from the default of a category. */
export interface NotificationPreferenceRow {
  user_id: string;
  category: string;
  email: 'immediately' | 'daily' | 'never';
  updated_at: string;
}
