import { displayName } from '../../../api/display-name.ts';
import { EXAMPLE_ID } from '../../../api/example-ids.ts';
import { component, nullable, nullableTimestamp, Type, timestamp, uuid } from '../../../api/schema.ts';

const named = component(
  'NamedReference',
  Type.Object({ id: uuid(), name: Type.String() }, { description: 'An account or an install' }),
  { id: EXAMPLE_ID.account, name: 'Example' },
);

const example = {
  id: EXAMPLE_ID.credential,
  name: 'Deployment',
  read_only: false,
  account: { id: EXAMPLE_ID.account, name: 'Example' },
  installs: [{ id: EXAMPLE_ID.install, name: 'shop' }],
  expires_at: null,
  revoked_at: null,
  last_used_at: null,
  created_at: '2026-01-31T09:30:00.000Z',
};

const shape = {
  id: uuid('the API username'),
  name: Type.String(),
  read_only: Type.Boolean(),
  account: nullable(named),
  installs: Type.Unsafe<{ id: string; name: string }[] | null>({
    type: ['array', 'null'],
    items: named,
    description: 'the only installs of `account` that it reaches; null: all that you see',
  }),
  expires_at: nullableTimestamp('ISO 8601, UTC; null: never'),
  revoked_at: nullableTimestamp(),
  last_used_at: nullableTimestamp('to the minute'),
  created_at: timestamp(),
};

export const credentialSchema = component(
  'Credential',
  Type.Object(shape, {
    description:
      'An API credential without its password. `account`: the only account that it reaches; null: all of yours',
  }),
  example,
);

export const issuedCredentialSchema = component(
  'IssuedCredential',
  Type.Object(
    { ...shape, password: Type.String({ description: 'the API password; shown only once' }) },
    { description: 'A new API credential with its password' },
  ),
  { ...example, password: 'HsW3vPXo1JcVbPqjDWuBzLk2yq0mJrT4N5a6sE7fGhI' },
);

export const createCredentialSchema = component(
  'CreateCredential',
  Type.Object({
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
  }),
  { name: 'Deployment', account_id: EXAMPLE_ID.account, install_ids: [EXAMPLE_ID.install] },
);
