import type { Generated } from 'kysely';
import type { NullableJson } from './json.ts';

/** One activity entry of an account. Names stay as they were, even after the object is deleted. */
export interface ActivityRow {
  seq: Generated<number>;
  id: string;
  /** Null for the platform and for users without an account. */
  account_id: string | null;
  at: string;
  /** `install.create`; the closed set is in platform/activity-log.ts. */
  action: string;
  subject_id: string | null;
  subject_name: string;
  /** The install that the subject belongs to or is. */
  install_id: string | null;
  /** Null for entries without an install, and for installs that were deleted before. */
  install_name: Generated<string | null>;
  /** Object of texts, numbers, booleans, null. Never a secret. */
  details: NullableJson;
  /** The acting user; null for the operator and the platform itself. */
  user_id: string | null;
  user_name: string;
  means: 'api' | 'portal' | 'command_line' | 'platform';
  credential_id: string | null;
  credential_name: string | null;
  address: string | null;
  request_id: string | null;
}
