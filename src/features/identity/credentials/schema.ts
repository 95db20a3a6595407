import { displayName } from '../../../api/display-name.ts';
import { nullableString, Type, timestamp, uuid } from '../../../api/schema.ts';

const named = { id: { type: 'string', format: 'uuid' }, name: { type: 'string' } };

export const credentialSchema = Type.Object({
  id: uuid('the API username'),
  name: Type.String(),
  read_only: Type.Boolean(),
  account: Type.Unsafe<{ id: string; name: string } | null>({
    type: ['object', 'null'],
    properties: named,
    required: ['id', 'name'],
    description: 'the only account that it reaches; null: all of yours',
  }),
  installs: Type.Unsafe<{ id: string; name: string }[] | null>({
    type: ['array', 'null'],
    items: { type: 'object', properties: named, required: ['id', 'name'] },
    description: 'the only installs of that account that it reaches; null: all that you see',
  }),
  expires_at: nullableString('ISO 8601, UTC; null: never'),
  revoked_at: nullableString(),
  last_used_at: nullableString('to the minute'),
  created_at: timestamp(),
});

export const issuedCredentialSchema = Type.Object({
  ...credentialSchema.properties,
  password: Type.String({ description: 'the API password; shown only once' }),
});

export const createCredentialSchema = Type.Object({
  name: displayName(),
  expires_at: Type.Optional(Type.Unsafe<string | null>({ type: ['string', 'null'], format: 'date-time' })),
  read_only: Type.Optional(Type.Boolean()),
  account_id: Type.Optional(Type.Unsafe<string | null>({ type: ['string', 'null'], format: 'uuid' })),
  install_ids: Type.Optional(
    Type.Unsafe<string[] | null>({
      type: ['array', 'null'],
      items: { type: 'string', format: 'uuid' },
      minItems: 1,
      maxItems: 1000,
      description: 'installs of `account_id`, which is then required',
    }),
  ),
});
