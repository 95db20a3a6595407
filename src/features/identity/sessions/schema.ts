import { SESSION_STAGES } from '../../../access/session.ts';
import { nullableString, stringEnum, Type, timestamp, uuid } from '../../../api/schema.ts';
import { CAPABILITIES } from '../../../hosting/contract/capabilities.ts';
import { ROLES } from '../../../lib/roles.ts';

const REACHES = ['all', 'own', 'none'] as const;

export const stageSchema = Type.Object({
  stage: stringEnum(SESSION_STAGES, 'the stage of the sign-in; `full`: signed in'),
});

export const signInSchema = Type.Object({
  email: Type.String({ minLength: 1, maxLength: 254 }),
  password: Type.String({ minLength: 1, maxLength: 1024 }),
});

export const signedInUserSchema = Type.Object({
  id: uuid(),
  email: Type.String(),
  first_name: Type.String(),
  last_name: Type.String(),
  phone: nullableString(),
  mfa_enabled: Type.Boolean(),
});

/** A user's permissions in an account, from the permission table. */
const reachSchema = Type.Object({
  'account.read': stringEnum(REACHES),
  'account.change': stringEnum(REACHES),
  'member.read': stringEnum(REACHES),
  'member.change': stringEnum(REACHES),
  'site.read': stringEnum(REACHES),
  'site.change': stringEnum(REACHES),
  'site.transfer': stringEnum(REACHES),
  'transfer.read': stringEnum(REACHES),
  'install.read': stringEnum(REACHES),
  'install.change': stringEnum(REACHES),
  'install.work': stringEnum(REACHES),
  'certificate.key': stringEnum(REACHES),
  'event.read': stringEnum(REACHES),
  'webhook.manage': stringEnum(REACHES),
  'activity.read': stringEnum(REACHES),
});

export const presentSessionSchema = Type.Object({
  stage: stringEnum(SESSION_STAGES, '`second_factor`: names and telephone are left empty'),
  second_factors: Type.Array(stringEnum(['one_time_code', 'passkey']), {
    description: 'what the user can finish signing in with, besides recovery codes; empty at other stages',
  }),
  user: signedInUserSchema,
  accounts: Type.Array(
    Type.Object({
      id: uuid(),
      name: Type.String(),
      nickname: nullableString(),
      role: stringEnum(ROLES),
      billing: Type.Boolean(),
      requires_second_factor: Type.Boolean(),
      may: reachSchema,
    }),
    { description: 'the accounts of the user, by name; empty until the session is full' },
  ),
  newer_release: Type.Union(
    [
      Type.Object({
        version: Type.String(),
        notes: Type.String({ description: 'the address of its notes' }),
        security: Type.Boolean({ description: 'it fixes a vulnerability' }),
      }),
      Type.Null(),
    ],
    { description: 'a newer Homeport, for those who operate the platform' },
  ),
  wordpress_features: Type.Array(stringEnum(CAPABILITIES), {
    description: 'what the hosts of the platform do for installs with WordPress',
  }),
});

export const sessionSchema = Type.Object({
  id: uuid(),
  current: Type.Boolean({ description: 'the session of this request' }),
  address: Type.String(),
  user_agent: nullableString(),
  created_at: timestamp(),
  last_seen_at: timestamp('to the minute'),
  expires_at: timestamp(),
});
