import { nullableString, type Static, stringEnum, Type, timestamp, uuid } from '../../../api/schema.ts';
import { ACTIONS } from '../../../platform/activity-log.ts';

/** Details of a change, by name. */
export const detailsSchema = Type.Unsafe<Record<string, string | number | boolean | null> | null>({
  type: ['object', 'null'],
  additionalProperties: { type: ['string', 'number', 'boolean', 'null'] },
});

export const activitySchema = Type.Object({
  id: uuid(),
  at: timestamp(),
  action: Type.Unsafe<string>({ type: 'string', enum: [...ACTIONS] }),
  subject_id: nullableString(),
  subject_name: Type.String(),
  install_id: nullableString('the install that the subject is or belongs to; it may be deleted'),
  details: detailsSchema,
  user_id: nullableString('null: no signed-in user'),
  user_name: Type.String(),
  means: stringEnum(['api', 'portal', 'command_line', 'platform']),
  credential_id: nullableString('the API username'),
  credential_name: nullableString(),
  address: nullableString(),
  request_id: nullableString(),
});

export type ActivityView = Static<typeof activitySchema>;

export const personInActivitySchema = Type.Object({ user_id: uuid(), user_name: Type.String() });

export type PersonInActivity = Static<typeof personInActivitySchema>;
