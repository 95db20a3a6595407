import { EXAMPLE_ID } from '../../../api/example-ids.ts';
import {
  component,
  nullableString,
  type Static,
  stringEnum,
  Type,
  timestamp,
  uuid,
} from '../../../api/schema.ts';
import { ACTIONS } from '../../../platform/activity-log.ts';

/** Details of a change, by name. */
export const detailsSchema = Type.Unsafe<Record<string, string | number | boolean | null> | null>({
  type: ['object', 'null'],
  additionalProperties: { type: ['string', 'number', 'boolean', 'null'] },
});

export const activitySchema = component(
  'ActivityEntry',
  Type.Object(
    {
      id: uuid(),
      at: timestamp(),
      action: Type.Unsafe<string>({ type: 'string', enum: [...ACTIONS] }),
      subject_id: nullableString(),
      subject_name: Type.String(),
      install_id: nullableString('the install that the subject is or belongs to; it may be deleted'),
      install_name: nullableString('name of the install at the time; null without an install'),
      details: detailsSchema,
      user_id: nullableString('null: no signed-in user'),
      user_name: Type.String(),
      means: stringEnum(['api', 'portal', 'command_line', 'platform']),
      credential_id: nullableString('the API username'),
      credential_name: nullableString(),
      address: nullableString(),
      request_id: nullableString(),
    },
    { description: 'A recorded change' },
  ),
  {
    id: EXAMPLE_ID.activity,
    at: '2026-01-31T09:30:00.000Z',
    action: 'site.create',
    subject_id: EXAMPLE_ID.site,
    subject_name: 'Shop',
    install_id: null,
    install_name: null,
    details: null,
    user_id: EXAMPLE_ID.user,
    user_name: 'Ada Example (ada@example.com)',
    means: 'api',
    credential_id: EXAMPLE_ID.credential,
    credential_name: 'Deployment',
    address: '203.0.113.7',
    request_id: '1f0c9b6e-3a57-4d28-8e91-c4b2d7a6f035',
  },
);

export type ActivityView = Static<typeof activitySchema>;

export const personInActivitySchema = Type.Object({ user_id: uuid(), user_name: Type.String() });

export type PersonInActivity = Static<typeof personInActivitySchema>;
